import Type, { type TProperties } from 'typebox'
import { describe, expect, test } from 'vitest'
import { ADVICE, unmarked } from '../../../test/unmarked-fields.ts'
import { OPERATIONS } from '../../assembly/all-operations.ts'
import { personalNames } from '../../personal/personal-names.ts'
import {
  ABOUT_CONTACT,
  bag,
  personal,
  TEXT,
  VALUE_OF_KEY,
  valueNamedBy,
  WITHHELD,
  WORD,
  when,
} from '../../platform/personal.ts'
import { type Schema, statedBy } from './declared.ts'
import { withheld } from './pseudonyms.ts'
import { redactJson } from './walk.ts'

/** The paths of ids of contacts that do not say so. */
function unknownContacts(schema: Schema, path: string, name: string): string[] {
  const { properties = {}, patternProperties = {}, items, anyOf = [], allOf = [] } = schema
  const isId = schema.format === 'uuid' && /contact_id$/.test(name) && schema['x-personal'] === undefined
  return [
    ...(isId ? [path] : []),
    ...[...anyOf, ...allOf].flatMap((part) => unknownContacts(part, path, name)),
    ...(items ? unknownContacts(items, `${path}[]`, name) : []),
    ...Object.values(patternProperties).flatMap((part) => unknownContacts(part, `${path}.*`, '')),
    ...Object.entries(properties).flatMap(([field, part]) => unknownContacts(part, `${path}.${field}`, field)),
  ]
}

describe('outputs of operations', () => {
  test('every text and every free field says what it is, whether a tool shows it or not', () => {
    const fields = OPERATIONS.flatMap(({ name, output }) => unmarked(Type.Object(output), name))
    expect(fields, ADVICE).toEqual([])
  })

  test('so does what only the audit log gets', () => {
    const fields = OPERATIONS.flatMap(({ name, forAudit = {} }) => unmarked(Type.Object(forAudit), name))
    expect(fields, ADVICE).toEqual([])
  })

  test('the check finds a field that says nothing', () => {
    const output: TProperties = {
      a: Type.String(),
      b: Type.Array(Type.Object({ c: Type.Union([Type.String(), Type.Null()]), d: Type.String(TEXT) })),
      e: Type.Unknown(),
      f: Type.Record(Type.String(), Type.Unknown()),
      g: Type.Object({}, { additionalProperties: true }),
      h: Type.Enum(['x']),
      i: Type.String({ format: 'date-time' }),
      j: Type.Unsafe({ 'x-record': Type.Object({ k: Type.String() }) }),
    }
    expect(unmarked(Type.Object(output), 'o')).toEqual(['o.a', 'o.b[].c', 'o.e', 'o.f.*', 'o.g', 'o.j.k'])
  })

  test('every id of a contact says so, in all operations', () => {
    expect(OPERATIONS.flatMap(({ name, output }) => unknownContacts(Type.Object(output), name, ''))).toEqual([])
  })

  test('openapi.json has no marks', async () => {
    const { withRecordSchemas } = await import('../../platform/http/records.ts')
    expect(withRecordSchemas(Type.Object({ a: Type.String(personal('email')) }))).toEqual({
      type: 'object',
      properties: { a: { type: 'string' } },
      required: ['a'],
    })
  })
})

describe('a value is redacted by its mark, whatever its name', () => {
  /** Shows what each value was taken for. */
  function seen(schema: TProperties, values: Record<string, unknown>, personal: string[] = []) {
    const ids: string[] = []
    const shown = redactJson(values, Type.Object(schema), {
      kindOfName: personalNames({ personal, visible: [] }),
      personal: (kind, value, { owner, isOwn }) => `<${kind} ${value}${isOwn ? ` of ${owner}` : ''}>`,
      text: (value, { words }) => `(${words} ${value})`,
      freeText: withheld,
      key: (name) => name,
      id: (id) => ids.push(id),
    })
    return { shown, ids }
  }
  const ID = '019a2b3c-4d5e-7f60-8a1b-2c3d4e5f6071'

  test.each([
    ['a name under any name', { alias: Type.String(personal('name')) }, { alias: 'Ada' }, { alias: '<name Ada>' }],
    ['a word under a personal name', { email: Type.String(WORD) }, { email: 'daily' }, { email: '(none daily)' }],
    ['free text', { q: Type.String(personal('free-text')) }, { q: 'Hi' }, { q: '[text withheld: 2 characters]' }],
    ['a text that says nothing', { status: Type.String() }, { status: 'Ada' }, { status: '(all Ada)' }],
    ['a word of the schema', { kind: Type.Enum(['a', 'b']) }, { kind: 'b' }, { kind: 'b' }],
    ['a text that is none of the words', { kind: Type.Enum(['a', 'b']) }, { kind: 'Ada' }, { kind: '(all Ada)' }],
    ['a field that the schema lacks', {}, { phone: '1', note: 'x' }, { phone: '<phone 1>', note: '[text withheld: 1 characters]' }],
    ['a number and an object that are personal', { a: Type.Number(personal('phone')), b: Type.Unknown(personal('address')) }, { a: 1715550123, b: { line: 'Wibble 17', country: 'France' } }, { a: '<phone 1715550123>', b: { line: '<address Wibble 17>', country: '(none France)' } }],
    ['what is withheld', { raw: Type.Unknown(WITHHELD), a: Type.Integer() }, { raw: { x: 1 }, a: 1 }, { a: 1 }],
    ['properties', { p: Type.Record(Type.String(), Type.Unknown(), bag('contact')) }, { p: { email: 'e', plan: 'x', zip: 80331 } }, { p: { email: '<email e of null>', plan: '(all x)', zip: '<address 80331 of null>' } }],
    ['a company', { p: Type.Record(Type.String(), Type.Unknown(), bag('company')) }, { p: { name: 'Acme', city: 'Rome' } }, { p: { name: '(full-names Acme)', city: '(all Rome)' } }],
    ['a value beside its property', { property: Type.String(WORD), v: Type.String(valueNamedBy('property')) }, { property: 'city', v: 'Rome' }, { property: '(none city)', v: '<address Rome>' }],
    ['a value in a list below the name of its property', { by: Type.String(WORD), list: Type.Array(Type.Object({ key: Type.String(valueNamedBy('by')) })) }, { by: 'country', list: [{ key: 'France' }] }, { by: '(none country)', list: [{ key: '(none France)' }] }],
    ['a list of values beside the list of their names', { by: Type.Array(Type.String(WORD)), rows: Type.Array(Type.Object({ keys: Type.Array(Type.String(when('by', ['email'], TEXT, valueNamedBy('by')))) })) }, { by: ['country', 'city', 'email'], rows: [{ keys: [] }, { keys: ['France', 'Rome', 'x'] }] }, { by: ['(none country)', '(none city)', '(none email)'], rows: [{ keys: [] }, { keys: ['(none France)', '<address Rome>', '(all x)'] }] }],
    ['a profile', { p: Type.Record(Type.String(), Type.Object({ v: Type.Unknown(VALUE_OF_KEY) })) }, { p: { email: { v: 'e' }, seats: { v: 3 } } }, { p: { email: { v: '<email e of null>' }, seats: { v: 3 } } }],
    ['a name that depends on a kind', { kind: Type.Enum(['user', 'agent']), label: Type.String(when('kind', ['user'], personal('name'), TEXT)) }, { kind: 'user', label: 'Ada' }, { kind: 'user', label: '<name Ada>' }],
    ['the other kind', { kind: Type.Enum(['user', 'agent']), label: Type.String(when('kind', ['user'], personal('name'), TEXT)) }, { kind: 'agent', label: 'Ada' }, { kind: 'agent', label: '(all Ada)' }],
  ] as [string, TProperties, Record<string, unknown>, Record<string, unknown>][])('%s', (_, schema, values, expected) => {
    expect(seen(schema, values).shown).toEqual(expected)
  }) // biome-ignore format: a list

  test('an id that is marked names the contact, whose own values stand beside it', () => {
    const schema = {
      who: Type.String({ format: 'uuid', ...ABOUT_CONTACT }),
      event: Type.String({ format: 'uuid' }),
      mail: Type.String(personal('email')),
      sender: Type.Object({ mail: Type.String(personal('email')) }),
    }
    const { shown, ids } = seen(schema, {
      who: ID,
      event: ID.replace('019a', '019b'),
      mail: 'e',
      sender: { mail: 'f' },
    })
    expect(shown).toMatchObject({ who: ID, mail: `<email e of ${ID}>`, sender: { mail: '<email f>' } })
    expect(ids).toEqual([ID])
  })

  test('of alternatives, one that hides the value counts', () => {
    const either = Type.Union([
      Type.Object({ a: Type.String(TEXT) }),
      Type.Object({ a: Type.String(personal('name')) }),
    ])
    expect(seen({ either }, { either: { a: 'Ada' } }).shown).toEqual({ either: { a: '<name Ada>' } })
    expect(statedBy(either)).toHaveLength(3)
  })

  test('a property that the tenant marks is hidden beside its name too', () => {
    const schema = { property: Type.String(WORD), before: Type.Unknown(valueNamedBy('property')) }
    expect(seen(schema, { property: 'plan', before: 'gold' }, ['plan']).shown).toEqual({
      property: '(none plan)',
      before: '<value gold>',
    })
  })
})
