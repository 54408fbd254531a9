import { ApiRefused, type Client, objectsOf, textOf } from '../client.ts'
import type { Pair } from '../connector.ts'
import { DATA, type FieldTypes } from './query.ts'

/** A query is part of a URL, which has a maximum length. */
const CUSTOM_FIELDS_MAX = 150
const TEXT_LENGTH_MAX = 4_000
/** The types of fields that are read if they are custom, and that can be written. */
const VALUE_TYPES = [
  'string',
  'textarea',
  'picklist',
  'multipicklist',
  'combobox',
  'boolean',
  'int',
  'double',
  'currency',
  'percent',
  'date',
  'datetime',
  'email',
  'phone',
  'url',
]

export interface ObjectFields {
  types: FieldTypes
  /** Custom fields whose values become properties. */
  custom: readonly string[]
  /** The fields that the user may change, of the types that values have here. */
  writable: ReadonlySet<string>
}

/** What a page of records is mapped with: the fields of the object, and those that are written back. */
export interface PageFields extends ObjectFields {
  /** With the object's own names of the targets. Other objects than contacts and leads have none. */
  pairs: readonly Pair[]
}

/** Created once per pull or write-back, like the client. */
const known = new WeakMap<Client, Map<string, Promise<ObjectFields | null>>>()

/** The fields of an object; null if the user may not see the object. */
export function fieldsOf(client: Client, sobject: string): Promise<ObjectFields | null> {
  const ofClient = known.get(client) ?? new Map<string, Promise<ObjectFields | null>>()
  known.set(client, ofClient)
  const fields = ofClient.get(sobject) ?? describe(client, sobject)
  ofClient.set(sobject, fields)
  return fields
}

async function describe(client: Client, sobject: string): Promise<ObjectFields | null> {
  try {
    const response = await client.call({ path: `${DATA}/sobjects/${sobject}/describe` })
    const fields = objectsOf(response.fields)
    const types = new Map(fields.map(({ name, type }) => [String(name), String(type)]))
    // The owner's name is a field of another object.
    if (types.has('OwnerId')) types.set('Owner.Name', 'string')
    const custom = fields.filter(({ custom: isCustom, type, length }) => {
      const isShort = typeof length !== 'number' || length <= TEXT_LENGTH_MAX
      return isCustom === true && isShort && VALUE_TYPES.includes(String(type))
    })
    const writable = fields.filter(({ updateable, type }) => updateable === true && VALUE_TYPES.includes(String(type)))
    return {
      types,
      custom: custom.flatMap(({ name }) => textOf(name) ?? []).slice(0, CUSTOM_FIELDS_MAX),
      writable: new Set(writable.map(({ name }) => String(name))),
    }
  } catch (error) {
    if (error instanceof ApiRefused && error.status === 404) return null
    throw error
  }
}
