import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { parseEmail } from './email.ts'
import { redact } from './log.ts'
import { loggedError } from './logged-error.ts'
import { parseTimestamp, sinceEpoch } from './time.ts'

test.each([
  ['2026-01-31T08:00:00Z', '2026-01-31T08:00:00.000Z'],
  ['2026-01-31T08:00:00.123456+02:30', '2026-01-31T05:30:00.123Z'],
  ['2026-01-31 08:00-0100', '2026-01-31T09:00:00.000Z'],
  ['2024-02-29', '2024-02-29T00:00:00.000Z'],
  ['0099-01-01', null],
  ['2026-02-29', null],
  ['2026-13-01', null],
  ['2026-01-31T24:00:00Z', null],
  ['2026-01-31T08:00:60Z', null],
  ['2026-01-31T08:00:00', null],
  ['2026-01-31T08:00:00+24:00', null],
  ['1738310400', null],
  ['', null],
  ['2026-01-31T08:00:00Z\n', null],
])('the timestamp %j is parsed as %s', (text, expected) => {
  expect(parseTimestamp(text)?.toISOString() ?? null).toBe(expected)
})

test('a date as an upper bound is its last millisecond, and every ISO text is parsed back', () => {
  expect(parseTimestamp('2026-01-31', 'end')?.toISOString()).toBe('2026-01-31T23:59:59.999Z')
  const dates = fc.date({ min: new Date('0100-01-01'), max: new Date('9999-12-31'), noInvalidDate: true })
  fc.assert(fc.property(dates, (date) => parseTimestamp(date.toISOString())?.getTime() === date.getTime()))
})

test.each([
  [1_577_836_800, '2020-01-01T00:00:00.000Z'],
  [1_577_836_800.123, '2020-01-01T00:00:00.123Z'],
  [1_577_836_800_123.9, '2020-01-01T00:00:00.123Z'],
  [99_999_999_999, '5138-11-16T09:46:39.000Z'],
  [100_000_000_000, '1973-03-03T09:46:40.000Z'],
  [-1, '1969-12-31T23:59:59.000Z'],
  [1e16, null],
  [Number.NaN, null],
])('the number %j since 1970 is %s', (number, expected) => {
  expect(sinceEpoch(number)?.toISOString() ?? null).toBe(expected)
})

test.each([
  [' Ada.Lovelace+x@Example.CO.uk ', 'ada.lovelace+x@example.co.uk'],
  ["o'brien@example.com", "o'brien@example.com"],
  ['jörg@müller.de', 'jörg@xn--mller-kva.de'],
  ['a@', null],
  ['@b.com', null],
  ['a b@c.com', null],
  ['a@b', null],
  ['a@b..com', null],
  ['a@-b.com', null],
  ['.a@b.com', null],
  ['a..b@c.com', null],
  ['a@b.com, c@d.com', null],
  ['a@b.com\nBcc: x@y.z', null],
  [`${'a'.repeat(65)}@b.com`, null],
  [`a@${'b.'.repeat(130)}com`, null],
])('the address %j becomes %s', (text, expected) => {
  expect(parseEmail(text)).toBe(expected)
})

test('no text makes an address slow to parse', () => {
  fc.assert(fc.property(fc.string({ maxLength: 5_000 }), (text) => parseEmail(text) === null || text.includes('@')))
})

test('log lines are redacted: keys, passwords and addresses, and nothing else', () => {
  const line =
    'Key (email)=(ada@example.com) cds_0123456789abcdef postgres://cds:s3cret@db.example:5432/x kept at node_modules/@scope/name/index.js:1:2 /inbox/ada@example.com'
  expect(redact(line)).toBe(
    'Key (email)=([email]) cds_[secret] postgres://cds:[secret]@db.example:5432/x kept at node_modules/@scope/name/index.js:1:2 /inbox/[email]',
  )
})

describe('an error in the log', () => {
  test.each([
    [new Error('Cannot parse "Ada O\'Neil": it is not a number'), 'Cannot parse "…": it is not a number'],
    [new SyntaxError('Unexpected token \'A\', "Ada Lovel"... is not valid JSON'), 'Unexpected token \'…\', "…"... is not valid JSON'],
    [new Error("the provider's answer was 'Ada O'Neil"), "the provider's answer was '…'"],
    [new TypeError("Cannot read properties of undefined (reading 'plan')"), "Cannot read properties of undefined (reading 'plan')"],
    [Object.assign(new Error('column "plan" does not exist'), { code: '42703', severity: 'ERROR' }), 'column "plan" does not exist'],
    [new Error("Code: 457. DB::Exception: Value Ada Lovelace cannot be parsed as Int64 for query parameter 'at'. (BAD_QUERY_PARAMETER)"), 'ClickHouse refused: BAD_QUERY_PARAMETER'],
    [Object.assign(new Error('Value Ada Lovelace cannot be parsed'), { code: '457', type: 'BAD_QUERY_PARAMETER' }), 'ClickHouse refused: BAD_QUERY_PARAMETER'],
    [Object.assign(new Error('invalid input syntax: "Ada"'), { code: '22P02', severity: 'ERROR' }), 'invalid input syntax: "…"'],
  ])('%s', (error, message) => {
    expect(loggedError(error).message).toBe(message)
  }) // biome-ignore format: a list

  test('has its code, its place and its causes, and no other fields', () => {
    const cause = Object.assign(new Error('cause'), {
      detail: 'Key (email)=(ada@example.com)',
      constraint: 'one_email',
    })
    const error = Object.assign(new Error("it was 'Ada'", { cause }), { requestBody: 'Ada', code: 'x' })
    const logged = loggedError(error)
    expect(logged).toEqual({
      type: 'Error',
      message: "it was '…'",
      code: 'x',
      stack: expect.stringMatching(/^ {4}at .*units\.test\.ts/),
      cause: { type: 'Error', message: 'cause', constraint: 'one_email', stack: expect.any(String) },
    })
    expect(JSON.stringify(logged)).not.toContain('Ada')
  })

  test('never throws, however long its message is and whatever its fields are', () => {
    const long = loggedError(new Error(`it was "${'x'.repeat(9_000_000)}`))
    expect(long.message).toBe('it was "…"')
    expect(loggedError(new Error('x'.repeat(9_000_000))).message.length).toBeLessThanOrEqual(10_000)
    const strange = (fields: object) => loggedError(Object.assign(new Error('x'), fields)).message
    expect(strange({ message: 42 })).toBe('42')
    expect(strange({ message: undefined, code: 'x' })).toBe('undefined')
    expect(strange({ stack: 42 })).toBe('x')
    expect(strange({ message: Object.create(null) })).toBe('unreadable')
    expect(loggedError(Object.create(null)).message).toBe('unreadable')
  })
})
