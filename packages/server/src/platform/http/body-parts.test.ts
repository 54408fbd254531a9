import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { flawsOf, parseJsonBody, storableValue } from './body-parts.ts'

const FREE = {}
const LEFT_OUT = { 'x-unstorable': 'left-out' }
const RECORDS = { type: 'object', properties: { records: { items: { 'x-unstorable': 'fails' } } } }

/** A body as parsed, and the warnings. */
function parse(text: string, schema: object = FREE): { body: unknown; warnings: string[] } {
  const warnings: string[] = []
  const body = parseJsonBody(text, schema, (warning) => void warnings.push(warning))
  return { body, warnings }
}

/** A number's value: `digits` times ten to the `exponent`, without zeros at the end. */
function decimal(text: string): { digits: bigint; exponent: number } {
  const [mantissa = '', power = '0'] = text.toLowerCase().split('e')
  const [whole = '', fraction = ''] = mantissa.split('.')
  let digits = BigInt(whole + fraction)
  let exponent = Number(power) - fraction.length
  if (digits === 0n) return { digits, exponent: 0 }
  for (; digits % 10n === 0n; digits /= 10n) exponent++
  return { digits, exponent }
}

const nested = (levels: number) => `${'['.repeat(levels)}${']'.repeat(levels)}`

describe('a value that cannot be stored', () => {
  test.each([
    ['{"a":"x\\u0000"}', 'a'],
    ['{"a":["\\ud83d"]}', 'a[0]'],
    ['{"a":{"b\\u0000":1}}', 'a'],
    ['{"a":{"__proto__":1}}', 'a.__proto__'],
    ['{"a":{"\\u005f_proto__":1}}', 'a.__proto__'],
    [`{"a":${nested(32)}}`, `a${'[0]'.repeat(31)}`],
    ['"\\udc00\\ud800"', ''],
    ['[12345678901234567890,{"a":"\\u0000"}]', '[1].a'],
  ])('rejects the body by default, and its place is named: %#', (text, path) => {
    expect(() => parse(text)).toThrow(
      expect.objectContaining({ status: 400, code: 'validation_error', details: [expect.objectContaining({ path })] }),
    )
  })

  test('makes its part fail alone, if the schema says so', () => {
    const records = '{"id":1},{"id":"\\u0000","x":{"y":"\\ud800"}},"\\u0000",{"id":2},{"__proto__":1}'
    const { body, warnings } = parse(`{"records":[${records}]}`, RECORDS)
    const found = (body as { records: unknown[] }).records
    expect(found).toEqual([{ id: 1 }, { x: {} }, {}, { id: 2 }, {}])
    expect(found.map((record) => flawsOf(record).map(({ path }) => path))).toEqual([
      [],
      ['id', 'x.y'],
      [''],
      [],
      ['__proto__'],
    ])
    expect(warnings).toEqual([])
  })

  test('beside the parts rejects the body all the same', () => {
    expect(() => parse('{"records":[{"id":1}],"kind":"\\u0000"}', RECORDS)).toThrow(/^kind: /)
  })

  test('is left out with a warning, if the schema says so', () => {
    const text =
      '{"a":"\\u0000","list":["x","\\ud800","y"],"deep":{"a\\u0000":1,"b":2},"__proto__":{"c":3},"kept":"\\u00e9"}'
    const { body, warnings } = parse(text, LEFT_OUT)
    expect(body).toEqual({ list: ['x', 'y'], deep: { b: 2 }, kept: 'é' })
    const text1 = 'it contains a NUL character, a lone surrogate or bytes that are not UTF-8, which cannot be stored.'
    expect(warnings).toEqual([
      `a was left out: ${text1}`,
      `list[1] was left out: ${text1}`,
      `deep has a key that was left out: ${text1}`,
      '__proto__ was left out: it is a reserved name.',
    ])
  })

  test('that is too deep is left out as a whole, not only its depths', () => {
    const { body, warnings } = parse(`{"deep":{"a":${nested(100_000)}},"kept":${nested(31)}}`, LEFT_OUT)
    expect(body).toEqual({ kept: JSON.parse(nested(31)) })
    expect(warnings).toEqual(['deep was left out: it is nested deeper than 32 levels.'])
  })

  test('names nothing, if it is an id of many', () => {
    const schema = { properties: { ids: { items: { type: 'string', 'x-unstorable': 'replaced' } } } }
    expect(parse('{"ids":["a","b\\u0000","c\\ud800"]}', schema).body).toEqual({ ids: ['a', 'b�', 'c�'] })
  })

  test('a hundred thousand times causes 20 warnings and a count', () => {
    const { body, warnings } = parse(`{"list":[${'"\\u0000",'.repeat(100_000)}1]}`, LEFT_OUT)
    expect(body).toEqual({ list: [1] })
    expect([warnings.length, warnings.at(-1)]).toEqual([21, '99980 more values were left out or kept as text.'])
  })

  test('is found in values that are not from JSON too', () => {
    const warnings: string[] = []
    const value = { a: ['x', 'y\0'], b: 1 }
    expect(storableValue(value, LEFT_OUT, (text) => void warnings.push(text))).toEqual({ a: ['x'], b: 1 })
    expect(warnings).toHaveLength(1)
  })
})

describe('a number', () => {
  const digits = '1'.repeat(400)
  test.each([
    ['0.1', 0.1],
    ['49.90', 49.9],
    ['299060.17', 299060.17],
    // As programs write that print all 17 digits of a double.
    ['49.899999999999999', 49.9],
    ['0.10000000000000001', 0.1],
    ['0.30000000000000004', 0.30000000000000004],
    ['5000000000000000000e-19', 0.5],
    ['1.0000000000000000000000', 1],
    ['9007199254740992', 9007199254740992],
    ['100000000000000000000', 100000000000000000000],
    ['1000000000000000000000', 1e21],
    ['-1e20', -1e20],
    ['1.5E300', 1.5e300],
    ['5e-324', 5e-324],
    ['0e-400', 0],
    ['0.00000000000000000000000', 0],
  ])('that a double holds without a loss stays one: %s', (text, expected) => {
    expect(parse(`{"a":{"b":[${text}]}}`)).toEqual({ body: { a: { b: [expected] } }, warnings: [] })
  })

  test.each([
    '9007199254740993', '-9007199254740993', '1234567890123456781', '1152921504606846976', '9007199254740993.0',
    '9007199254740991.5', '12345678901234567.5', '12345678901234567890.5', '0.1234567890123456789',
    '0.1000000000000000055511151231257827', '1.00000000000000000001', '-5.00000000000000000000000002',
    '123456789012345678e3', '1.234567890123456781e18', '2.234567890123456789E18', '1e-400', '-1E-0400', '1.23456789e-320',
    `0.${'0'.repeat(400)}1`, digits,
  ])('that would lose digits is kept as text, with a warning: %s', (text) => {
    const { body, warnings } = parse(`{"pad":"${'x'.repeat(text.length % 16)}","a":{"b":[${text} ],"c":${text}}}`)
    expect(body).toMatchObject({ a: { b: [text], c: text } })
    expect(warnings).toEqual(['a.b[0]', 'a.c'].map((at) => `${at} was kept as text: as a number, it would lose digits.`))
    // Wherever it is.
    for (const before of ['', 'x', '1,'.repeat(17), '"e-400",', '"9999999999999999",']) {
      for (let spaces = 0; spaces < 16; spaces++) {
        const sent = before === 'x' ? `"x",${text}` : `${before}${text}`
        const list = parse(`[${sent}${' '.repeat(spaces)},0]`).body as unknown[]
        expect(list.at(-2)).toBe(text)
      }
    }
  }) // biome-ignore format: a list

  test('any number sent has the value that is kept', () => {
    fc.assert(
      fc.property(
        fc.tuple(
          fc.bigInt({ min: -(10n ** 30n), max: 10n ** 30n }),
          fc.option(fc.stringMatching(/^\d{1,25}$/)),
          fc.option(fc.integer({ min: -400, max: 270 })),
        ),
        ([whole, fraction, exponent]) => {
          const text = `${whole}${fraction === null ? '' : `.${fraction}`}${exponent === null ? '' : `e${exponent}`}`
          const [kept] = parse(`[${text}]`).body as unknown[]
          if (typeof kept === 'string') expect(kept).toBe(text)
          else expect(decimal(String(kept))).toEqual(decimal(text))
        },
      ),
    )
  })

  test.each(['1e400', '1E400', '-1e400', '1e999999999', '123456789e9999'])('%s is left out with a warning', (text) => {
    const { body, warnings } = parse(`{"a":${text},"list":[1,${text},2]}`)
    expect(body).toEqual({ list: [1, 2] })
    expect(warnings).toEqual([
      'a was left out: it is a number that is too large to be stored.',
      'list[1] was left out: it is a number that is too large to be stored.',
    ])
  })

  test.each([
    '12345678901234567890', '1.234567890123456781e18', '12345678901234567.1', '1e-400', '0.1234567890123456789',
  ])('%s is a text with a warning, but an id without one', (text) => {
    const { body, warnings } = parse(`{"id":${text},"x":${text}}`, { properties: { id: { 'x-digits': true } } })
    expect(body).toEqual({ id: text, x: text })
    expect(warnings).toEqual(['x was kept as text: as a number, it would lose digits.'])
  }) // biome-ignore format: a list

  test('that would be written with an exponent is all its digits as an id', () => {
    const digits = '1000000000000000000000'
    const { body, warnings } = parse(`{"id":${digits},"x":${digits}}`, { properties: { id: { 'x-digits': true } } })
    expect(body).toEqual({ id: digits, x: 1e21 })
    expect(warnings).toEqual([])
  })

  test('stays a number where a text or a number is required, so that types are still strict', () => {
    const schema = {
      properties: {
        text: { type: 'string' },
        maybe: { anyOf: [{ type: 'string' }, { type: 'null' }] },
        number: { type: 'integer' },
        either: { anyOf: [{ type: 'string' }, { type: 'number' }] },
      },
    }
    const long = '12345678901234567890'
    const { body } = parse(`{"text":${long},"maybe":${long},"number":1e400,"either":${long}}`, schema)
    expect(body).toEqual({ text: Number(long), maybe: Number(long), number: Infinity, either: long })
  })

  test('of negative zero stays one', () => {
    expect(parse('[-0, 12345678901234567890]').body).toEqual([-0, '12345678901234567890'])
  })

  test('in a text, or beside any text, is found where it is', () => {
    const texts = ['\\"', '\\\\', '\\\\\\"', ',12345678901234567890,', '[-12345678901234567890]', '']
    const list = texts.map((text) => `"${text}",12345678901234567890`).join(',')
    const expected = texts.flatMap((text) => [JSON.parse(`"${text}"`), '12345678901234567890'])
    expect(parse(`[${list}]`).body).toEqual(expected)
  })
})
