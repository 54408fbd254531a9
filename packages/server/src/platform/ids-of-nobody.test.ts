import { expect, test } from 'vitest'
import { ignoredId, NONE_IGNORED, namesNobody, toIgnoredIds, unlessNobody } from './ids-of-nobody.ts'

test.each([
  'undefined', 'null', 'nil', 'none', 'nan', 'true', 'false', '0', '-1', 'anonymous', 'guest', 'unknown', 'n/a',
  '(not set)', 'not set', '[object Object]', '[object Promise]', '[object HTMLInputElement]', '{{user.id}}', '{{ }}',
  '\x24{userId}', '%USER_ID%', '%%user_id%%', '00000000-0000-0000-0000-000000000000', '',
])('%j names nobody, in any case and with spaces around', (id) => {
  for (const spelling of [id, id.toUpperCase(), id.toLowerCase(), `  ${id}\t\n`, `\u00a0${id}\u200b\ufeff`]) {
    expect(namesNobody(spelling, NONE_IGNORED), JSON.stringify(spelling)).toBe(true)
  }
}) // biome-ignore format: a list

test.each([
  '"undefined"', "'null'", '`nil`', '“undefined”', '\\"undefined\\"', '"\'null\'"', '<nil>', '(null)', '[null]', '(none)',
  'NaN', 'None', 'NULL', '#N/A', '0.0', '-0', '""', '{}', '[]', 'not_set', '{00000000-0000-0000-0000-000000000000}',
  '00000000000000000000000000000000', 'user-\x24{id}', 'user-{{ id }}', '[object Object],[object Object]', '<%= user.id %>',
  '#{user.id}', '*|UNIQID|*', ' '.repeat(100_000), '{{id}}{{tenant}}',
  // Characters that cannot be seen, other forms of letters, and space inside.
  'unde\u200bfined', 'nu\u00adll', 'not\u200b set', 'ｕｎｄｅｆｉｎｅｄ', '（ｎｏｔ　ｓｅｔ）', '𝗻𝘂𝗹𝗹', 'not  set', 'not\tset', 'not\u00a0set', 'n / a', 'N /A',
  // As in a cookie or a URL.
  '%22undefined%22', 'undefined%20', '%20null', 'not%20set', 'not+set', '%7B%7Bid%7D%7D', '%5Bobject%20Object%5D', '%2522undefined%2522', '%EF%BB%BFnull',
  '%%', '%00', '%E2%80%8B',
  '%s', '%d', '%1$s', '%(user_id)s', '[[id]]', '[[ user.id ]]', '{user_id}', '{ userId }', '{user.id}', '<% id %>',
  // What a template becomes without its value.
  'user-undefined', 'user_null', 'User:NaN', 'visitor/undefined', 'id.null', 'customer#undefined', 'undefined-undefined', 'null|null',
  'undefined undefined', 'user-null-undefined', 'contact_{{id}}',
  'user=undefined', 'uid=null', 'userId-undefined', 'user_id:null', 'user-id-undefined', 'null,null', 'user%20undefined', 'user NaN', 'NaN NaN', 'null-nan', 'nan-undefined', 'user-null-nan',
  '0.00', '-0.00', '\x24USER_ID', '\x24user_id', '{\x24id}', '{\x24user.id}', '<user_id>', '<USER_ID>',
])('%j is another spelling of the same', (id) => {
  expect(namesNobody(id, NONE_IGNORED)).toBe(true)
}) // biome-ignore format: a list

test.each([
  '1', '-2', '00', '007', '10', 'user-0', 'undefined-user', 'guesthouse', 'anonymous-7', 'nullable', 'na', 'N', 'admin',
  'test', 'truely', 'nonesuch', 'ada@example.com', 'a%20b', '100%', '%', 'urn:user:1', '{6f9619ff-8b86-d011-b42d-00c04fc964ff}',
  'user{1}', '$100', '#42', 'auth0|507f1f77bcf86cd799439011', '00000000-0000-0000-0000-000000000001', 'org:null:7',
  // Not templates, or a login all the same.
  '__USER_ID__', 'Infinity', 'undefined@undefined.com', 'user{a}', '{abc1}', '[1]', '[[1],2]', 'a[[b]]', '%sa', 'a%s', '%zz', 'a%20b', '100%25', 'a+b', 'n/b',
  // Names of people, and ids of other things.
  'john-null', 'jane_undefined', 'user-nullable', 'user-undefined-7', 'null-7', 'anonymous-null-island', 'usernull', 'user-none', 'contact-Nan', 'member_nan', 'person nan', 'Customer Nan',
  'user=7', '\x245', '\x24abc', '<user>', '<ada>', 'user=null-7', 'userids-null', '00.1', '0.01', 'ａｄａ', 'ada\u200b', 'Ⅷ',
  'x'.repeat(100_000), `${' '.repeat(50_000)}x`, '山田', 'DOMAIN\\user', '<ada@example.com>',
])('%j is an id', (id) => {
  expect(namesNobody(id, NONE_IGNORED)).toBe(false)
}) // biome-ignore format: a list

test("a tenant's own words are compared like the others", () => {
  const words = toIgnoredIds(['Demo', ' "Kiosk 1" '])
  for (const id of [
    'demo',
    ' DEMO ',
    '"demo"',
    'kiosk 1',
    'ｄｅｍｏ',
    'de\u200bmo',
    'kiosk  1',
    'kiosk%201',
    '%22demo%22',
  ])
    expect(namesNobody(id, words), id).toBe(true)
  for (const id of ['demo-1', 'kiosk', 'kiosk 12']) expect(namesNobody(id, words), id).toBe(false)
  const wide = toIgnoredIds(['ｔｅｓｔ'])
  for (const id of ['test', 'TEST', 'ｔｅｓｔ']) expect(namesNobody(id, wide), id).toBe(true)
})

test('an ignored id is null and leaves a warning that names the field and the id', () => {
  const warnings: string[] = []
  expect(unlessNobody('user_id', 'undefined', NONE_IGNORED, warnings)).toBeNull()
  expect(unlessNobody('user_id', 'user-42', NONE_IGNORED, warnings)).toBe('user-42')
  expect(unlessNobody('user_id', undefined, NONE_IGNORED, warnings)).toBeUndefined()
  expect(warnings).toEqual([ignoredId('user_id', 'undefined')])
  expect(warnings[0]).toMatch(/^ignored_id: user_id "undefined" /)
})
