import { isObject } from '../../platform/is-object.ts'
import { type Client, objectsOf, textOf } from '../client.ts'
import { type Item, readAll } from './read.ts'

const KEY_LENGTH_MAX = 100
/** Fields whose values are ids of other records. */
const IDS = ['user', 'org', 'people', 'deal', 'deals', 'lead', 'project', 'activity', 'stage', 'picture', 'json']

export interface Field {
  /** The name that people see in Pipedrive. */
  name: string
  /** The name of the field's property. */
  property: string
  type: string
  /** The labels of the field's options, by id. */
  labels: ReadonlyMap<string, string>
}

/** The custom fields of an account, by key. The keys are hashes. */
export type Fields = ReadonlyMap<string, Field>

export type Value = string | number | boolean | (string | number)[] | null

/** Created once per pull or write-back, like the client. */
const known = new WeakMap<Client, Map<string, Promise<Record<string, unknown>[]>>>()

function definitions(client: Client, kind: 'person' | 'organization'): Promise<Record<string, unknown>[]> {
  const ofClient = known.get(client) ?? new Map<string, Promise<Record<string, unknown>[]>>()
  known.set(client, ofClient)
  const fields = ofClient.get(kind) ?? readAll(client, `/api/v2/${kind}Fields`)
  ofClient.set(kind, fields)
  return fields
}

/**
 * Whether the account has Campaigns. Without it, asking for `marketing_status` is an error, and nobody has one.
 * https://pipedrive.readme.io/docs/campaigns-in-pipedrive-api
 */
export async function hasMarketing(client: Client): Promise<boolean> {
  const fields = await definitions(client, 'person')
  return fields.some((field) => (field.field_code ?? field.key) === 'marketing_status')
}

/** The custom fields, if any item has some. */
export async function fieldsOf(
  client: Client,
  kind: 'person' | 'organization',
  items: readonly Item[],
): Promise<Fields> {
  const isNeeded = items.some(({ custom_fields }) => isObject(custom_fields) && Object.keys(custom_fields).length > 0)
  return isNeeded ? customFields(await definitions(client, kind)) : new Map()
}

export async function personFields(client: Client): Promise<Fields> {
  return customFields(await definitions(client, 'person'))
}

function customFields(definitions: readonly Record<string, unknown>[]): Fields {
  const fields = new Map<string, Field>()
  const names = new Set<string>()
  for (const field of definitions) {
    const [key, name, type] = [textOf(field.field_code), textOf(field.field_name), textOf(field.field_type)]
    if (field.is_custom_field !== true || key === null || name === null || type === null) continue
    const plain = propertyOf(name)
    // Two fields may have the same name.
    const property = names.has(plain) ? `${plain}_${key.slice(0, 8)}` : plain
    names.add(property)
    const options = objectsOf(field.options).map(({ id, label }) => [String(id), String(label)] as const)
    fields.set(key, { name, property, type, labels: new Map(options) })
  }
  return fields
}

/** `Lead score (%)` becomes `pipedrive_lead_score`. The prefix prevents conflicts with properties of other sources. */
function propertyOf(name: string): string {
  const plain = name
    .toLowerCase()
    .replace(/[^\p{L}\p{N}]+/gu, '_')
    .replace(/^_+|_+$/g, '')
  return `pipedrive_${plain === '' ? 'field' : plain}`.slice(0, KEY_LENGTH_MAX).toWellFormed()
}

/** The properties from an item's custom fields. */
export function customProperties(item: Item, fields: Fields): Record<string, Value> {
  if (!isObject(item.custom_fields)) return {}
  const entries = Object.entries(item.custom_fields).flatMap(([key, value]) => {
    const field = fields.get(key)
    return field && !IDS.includes(field.type) ? valuesOf(field, value) : []
  })
  return Object.fromEntries(entries)
}

/** The value of one custom field. */
export function customValue({ custom_fields }: Item, fields: Fields, key: string): Value {
  const field = fields.get(key)
  const [first] = field && isObject(custom_fields) ? valuesOf(field, custom_fields[key]) : []
  return first?.[1] ?? null
}

function valuesOf({ property, labels }: Field, value: unknown): [string, Value][] {
  if (isObject(value)) {
    const { value: main, currency, until } = value
    return [
      [property, scalarOf(main)],
      ...(currency === undefined ? [] : [[`${property}_currency`, scalarOf(currency)] as [string, Value]]),
      ...(until === undefined ? [] : [[`${property}_until`, scalarOf(until)] as [string, Value]]),
    ]
  }
  const label = (id: unknown) => labels.get(String(id)) ?? scalarOf(id)
  if (!Array.isArray(value)) return [[property, label(value)]]
  const all = value.map(label).filter((each) => typeof each === 'string' || typeof each === 'number')
  return [[property, all]]
}

function scalarOf(value: unknown): string | number | boolean | null {
  return typeof value === 'string' || typeof value === 'number' || typeof value === 'boolean' ? value : null
}
