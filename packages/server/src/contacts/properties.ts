import Type from 'typebox'
import { hasMoreCharacters, shown } from '../platform/characters.ts'
import { type ErrorDetail, validationError } from '../platform/errors.ts'
import { Timestamp } from '../platform/http/responses.ts'
import { bag, WORD } from '../platform/personal.ts'
import { withoutConsent } from './consent.ts'
import { LIFECYCLE_STAGES } from './property-catalogue.ts'

/** Keys of one record, including a contact's email. */
export const PROPERTIES_MAX = 500
export const KEY_LENGTH_MAX = 128
/** Longer texts belong in a note; searching and sorting must stay cheap. */
export const TEXT_LENGTH_MAX = 65_536

const Scalar = Type.Union([Type.String({ maxLength: TEXT_LENGTH_MAX }), Type.Number(), Type.Boolean()])

export type PropertyValue = string | number | boolean | (string | number | boolean)[]
export type Properties = Record<string, PropertyValue>
/** Properties as sent: null removes a key. */
export type PropertyChanges = Record<string, PropertyValue | null>

/** Schema of `properties` in a request; `checkProperties` has the rules that JSON Schema cannot express. */
export const PropertiesInput = Type.Unsafe<PropertyChanges>({
  // With a record type, every key would be validated before their number.
  type: 'object',
  additionalProperties: true,
  description:
    'Key-value properties. Values are strings, numbers, booleans or lists of these; null removes a key. At most 500 keys of 1 to 128 characters, counting the email of a contact.',
  examples: [{ firstname: 'Ada', lastname: 'Lovelace', company: 'Analytical Engines', lifecyclestage: 'lead' }],
})

/** Who wrote a property. */
export const PropertyProvenance = Type.Object(
  { source: Type.String(WORD), updated_at: Timestamp },
  { title: 'Provenance' },
)

function propertiesOf(entity: 'contact' | 'company') {
  return Type.Unsafe<Properties>(
    Type.Record(Type.String(), Type.Union([Scalar, Type.Array(Scalar)]), {
      examples: [{ email: 'ada@example.com', firstname: 'Ada', lifecyclestage: 'lead' }],
      ...bag(entity),
    }),
  )
}

/** Schemas of `properties` in a response. */
export const ContactProperties = propertiesOf('contact')
export const CompanyProperties = propertiesOf('company')

/** All problems of sent properties; empty if they can be stored. */
export function checkProperties(properties: Record<string, unknown>): ErrorDetail[] {
  const keys = Object.keys(properties)
  const values = keys.filter((key) => properties[key] !== null).length
  if (values > PROPERTIES_MAX) {
    return [{ path: 'properties', message: `has ${values} keys; at most ${PROPERTIES_MAX} are allowed` }]
  }
  // As many as a full record has.
  if (keys.length - values > PROPERTIES_MAX) {
    const message = `removes ${keys.length - values} keys; a record has at most ${PROPERTIES_MAX}`
    return [{ path: 'properties', message }]
  }
  return keys.flatMap((key) => {
    const message = problemOf(key, properties[key])
    return message === null ? [] : [{ path: `properties.${shown(key)}`, message }]
  })
}

function problemOf(key: string, value: unknown): string | null {
  if (key === '' || hasMoreCharacters(key, KEY_LENGTH_MAX)) return `a key must have 1 to ${KEY_LENGTH_MAX} characters`
  if (key === 'lifecyclestage' && value !== null && !(LIFECYCLE_STAGES as readonly unknown[]).includes(value)) {
    return `must be one of ${LIFECYCLE_STAGES.join(', ')}`
  }
  if (value === null || isScalar(value)) return null
  if (Array.isArray(value) && value.every(isScalar)) return null
  return `must be a string of at most ${TEXT_LENGTH_MAX} characters, a number, true, false, or a list of these`
}

function isScalar(value: unknown): value is string | number | boolean {
  if (typeof value === 'string') return !hasMoreCharacters(value, TEXT_LENGTH_MAX)
  return typeof value === 'boolean' || (typeof value === 'number' && Number.isFinite(value))
}

export interface MergedProperties {
  properties: Properties
  /** Keys whose value changed, including removed ones. */
  changed: string[]
}

/** Applies changes to properties: null removes a key, an equal value changes nothing. */
export function mergeProperties(current: Properties, changes: PropertyChanges): MergedProperties {
  const properties = { ...current }
  const changed: string[] = []
  for (const [key, value] of Object.entries(changes)) {
    if (value === null) {
      if (!Object.hasOwn(properties, key)) continue
      delete properties[key]
    } else {
      if (Object.hasOwn(properties, key) && JSON.stringify(properties[key]) === JSON.stringify(value)) continue
      properties[key] = value
    }
    changed.push(key)
  }
  return { properties, changed }
}

/**
 * @param properties a contact's with its email.
 * @throws ServiceError 400 if a change would give a record too many keys.
 */
export function requireFewKeys(
  properties: Readonly<Record<string, unknown>>,
  record: 'contact' | 'company',
  max = PROPERTIES_MAX,
): void {
  if (Object.keys(properties).length <= max) return
  if (Object.keys(withoutConsent(properties, (value) => value)).length <= max) return
  const all = record === 'contact' ? 'keys, counting its email' : 'keys'
  const message = `would give the ${record} more than ${max} ${all}. Remove some with null, in the same request or an earlier one`
  throw validationError([{ path: 'properties', message }])
}
