import Type from 'typebox'
import { beforeAll, describe, expect, test } from 'vitest'
import { createPersonalData, EMAIL, expectNoToken, PERSON } from '../../../test/personal-data.ts'
import { createTestTenant, sharedService, type TestTenant } from '../../../test/service.ts'
import { OPERATIONS } from '../../assembly/all-operations.ts'
import type { Bag, FieldKind, Mark } from '../../platform/personal.ts'
import { fieldOf, markOf, type Schema, statedBy } from './declared.ts'
import { createRedactor, redactionKeyOf } from './redactor.ts'

/*
 * Fills the output of every operation, of those that change something too, with one person's values, wherever its schema
 * allows a text. Responses of the corpus show what an operation returns today; this shows what it may return.
 */

const NAME = `${PERSON.firstname} ${PERSON.lastname}`
const OF_KIND: Record<FieldKind, string> = {
  firstname: PERSON.firstname,
  lastname: PERSON.lastname,
  name: NAME,
  username: PERSON.username,
  email: EMAIL,
  phone: PERSON.phone,
  address: PERSON.street,
  birthday: PERSON.date_of_birth,
  url: PERSON.linkedin_url,
  ip: PERSON.last_ip,
  device: 'rawtoken-device',
  number: 'rawtoken-1234',
  value: 'rawtoken',
  'free-text': 'bodytoken for Zorblax',
}
const ANY_TEXT = `${NAME} of ${PERSON.street} (${EMAIL}, ${PERSON.phone}, ${PERSON.last_ip})`
const KEYS = Object.keys(PERSON) as (keyof typeof PERSON)[]
const ANYTHING = {
  ...PERSON,
  email: EMAIL,
  name: NAME,
  notes: 'notetoken',
  deep: { list: [{ phone: PERSON.phone, title: NAME }] },
}
/** What a company says about itself is public, and a text for all contacts is nobody's: only known people are hidden. */
const { bio: _, notes: __, ...WITHOUT_TEXTS } = ANYTHING
const OF_BAG: Record<Bag, object> = {
  any: ANYTHING,
  contact: ANYTHING,
  person: ANYTHING,
  query: ANYTHING,
  company: WITHOUT_TEXTS,
  template: WITHOUT_TEXTS,
}

/** What the words of a schema are: the name of a personal property, or a text that has an address. */
interface Filling {
  word: string
  contactId: string
  /** The key of the record that is filled. */
  key?: keyof typeof PERSON
  /** Which of several alternatives is filled. */
  take<Each>(alternatives: readonly Each[]): Each | undefined
}

function filled(schema: Schema, filling: Filling, mark = markOf(statedBy(schema))): unknown {
  const alternatives = [...(schema.anyOf ?? []), ...(schema.oneOf ?? [])].filter(({ type }) => type !== 'null')
  const alternative = filling.take(alternatives)
  if (alternative) return filled(alternative, filling, mark)
  if (schema['x-record']) return filled(schema['x-record'], filling, mark)
  if (schema.const !== undefined) return schema.const
  if (schema.enum) return filling.take(schema.enum)
  if (schema.items) return [filled(schema.items, filling, mark)]
  const bag = bagOf(mark)
  if (bag !== null) return OF_BAG[bag]
  if (schema.properties || schema.allOf) return filledObject(schema, filling)
  const [other] = Object.values(schema.patternProperties ?? {})
  if (other) return Object.fromEntries(KEYS.map((key) => [key, filled(other, { ...filling, key })]))
  if (schema.type === 'string' || schema.type === undefined) return textOf(schema, mark, filling)
  return { integer: 7, number: 7.5, boolean: true, null: null, object: ANYTHING }[String(schema.type)]
}

function filledObject(schema: Schema, filling: Filling): Record<string, unknown> {
  const parts = [schema, ...(schema.allOf ?? [])]
  const names = parts.flatMap(({ properties = {} }) => Object.keys(properties))
  return Object.fromEntries(
    names.flatMap((name) => {
      const [field] = fieldOf(statedBy(schema), name)
      return field ? [[name, filled(field, filling)]] : []
    }),
  )
}

function bagOf(mark: Mark | undefined): Bag | null {
  if (mark === undefined) return null
  return 'when' in mark ? bagOf(mark.mark) : 'bag' in mark ? mark.bag : null
}

function textOf({ format }: Schema, mark: Mark | undefined, { word, contactId, key }: Filling): string {
  if (format === 'date-time') return '2026-01-31T08:00:00.000Z'
  if (format === 'date') return '2026-01-31'
  if (format === 'uuid' || (mark && 'is' in mark && mark.is === 'contact')) return contactId
  if (mark === undefined) return ANY_TEXT
  if ('kind' in mark) return OF_KIND[mark.kind]
  if ('when' in mark) return NAME
  if ('is' in mark) return mark.is === 'value-of-key' && key ? String(PERSON[key]) : 'rawtoken'
  if ('namedBy' in mark) return word === 'city' ? PERSON.city : ANY_TEXT
  if ('mentions' in mark && mark.mentions === 'none') return word
  return 'mentions' in mark && mark.mentions === 'full-names' ? `${NAME} ${EMAIL}` : ANY_TEXT
}

let tenant: TestTenant
let contactId: string

beforeAll(async () => {
  const service = await sharedService()
  tenant = await createTestTenant(service)
  contactId = (await createPersonalData(service, tenant)).contact_id ?? ''
})

const FILLINGS: [string, Omit<Filling, 'contactId'>][] = [
  ['first alternatives, words that name a personal property', { word: 'city', take: (all) => all[0] }],
  ['last alternatives, words with an address', { word: `to ${EMAIL}`, take: (all) => all.at(-1) }],
]

describe.each(FILLINGS)('%s', (_, filling) => {
  test.each(OPERATIONS.map((operation) => [operation.name, operation] as const))(
    '%s can show no personal value',
    async (name, { output }) => {
      const values = filledObject(Type.Object(output), { ...filling, contactId })
      const redactor = createRedactor(tenant.handle, redactionKeyOf('secret', tenant.id))
      expectNoToken(await redactor.redact(values, { properties: output }), name)
    },
  )
})

test('the filling shows the values before they are redacted', () => {
  const [, filling] = FILLINGS[0] ?? []
  const operation = OPERATIONS.find(({ name }) => name === 'getContact')
  if (!filling || !operation) throw new Error('There is none.')
  const text = JSON.stringify(filledObject(Type.Object(operation.output), { ...filling, contactId }))
  for (const value of [EMAIL, PERSON.street, 'notetoken', NAME]) expect(text).toContain(value)
})
