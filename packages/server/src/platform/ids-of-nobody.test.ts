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
])('%j is another spelling of the same', (id) => {
  expect(namesNobody(id, NONE_IGNORED)).toBe(true)
}) // biome-ignore format: a list

test.each([
  '1', '-2', '00', '007', '10', 'user-0', 'undefined-user', 'guesthouse', 'anonymous-7', 'nullable', 'na', 'N', 'admin',
  'test', 'truely', 'nonesuch', 'ada@example.com', 'a%20b', '100%', '%', 'urn:user:1', '{6f9619ff-8b86-d011-b42d-00c04fc964ff}',
  'user{1}', '$100', '#42', 'auth0|507f1f77bcf86cd799439011', '00000000-0000-0000-0000-000000000001', 'org:null:7',
  'x'.repeat(100_000), `${' '.repeat(50_000)}x`, '山田', 'DOMAIN\\user', '<ada@example.com>',
])('%j is an id', (id) => {
  expect(namesNobody(id, NONE_IGNORED)).toBe(false)
}) // biome-ignore format: a list

test("a tenant's own words are compared like the others", () => {
  const words = toIgnoredIds(['Demo', ' "Kiosk 1" '])
  for (const id of ['demo', ' DEMO ', '"demo"', 'kiosk 1']) expect(namesNobody(id, words), id).toBe(true)
  for (const id of ['demo-1', 'kiosk', 'kiosk 12']) expect(namesNobody(id, words), id).toBe(false)
})

test('an ignored id is null and leaves a warning that names the field and the id', () => {
  const warnings: string[] = []
  expect(unlessNobody('user_id', 'undefined', NONE_IGNORED, warnings)).toBeNull()
  expect(unlessNobody('user_id', 'user-42', NONE_IGNORED, warnings)).toBe('user-42')
  expect(unlessNobody('user_id', undefined, NONE_IGNORED, warnings)).toBeUndefined()
  expect(warnings).toEqual([ignoredId('user_id', 'undefined')])
  expect(warnings[0]).toMatch(/^ignored_id: user_id "undefined" /)
})
