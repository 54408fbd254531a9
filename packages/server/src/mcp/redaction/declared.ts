import type { Mark, Marked } from '../../platform/personal.ts'

/** A JSON schema, as far as it says what a value is. */
export interface Schema extends Partial<Marked> {
  type?: unknown
  format?: string
  enum?: readonly unknown[]
  const?: unknown
  properties?: Record<string, Schema>
  patternProperties?: Record<string, Schema>
  additionalProperties?: boolean | Schema
  items?: Schema
  anyOf?: Schema[]
  oneOf?: Schema[]
  allOf?: Schema[]
  'x-record'?: Schema
  'x-id-of'?: string
}

/** The schemas that a value may have. Empty: nothing is said about it. */
export type Stated = readonly Schema[]

const known = new WeakMap<Schema, Stated>()

/** A schema and its alternatives, without null. */
export function statedBy(schema: Schema | undefined): Stated {
  if (schema === undefined || schema.type === 'null') return []
  const found = known.get(schema)
  if (found) return found
  const inner = [schema['x-record'] ?? [], schema.anyOf ?? [], schema.oneOf ?? [], schema.allOf ?? []].flat()
  const stated = [schema, ...inner.flatMap(statedBy)]
  known.set(schema, stated)
  return stated
}

/** What is said about a field of an object. */
export function fieldOf(stated: Stated, name: string): Stated {
  return stated.flatMap(({ properties, patternProperties, additionalProperties }) => {
    if (properties && Object.hasOwn(properties, name)) return statedBy(properties[name])
    const [other] = Object.values(patternProperties ?? {})
    if (other) return statedBy(other)
    return typeof additionalProperties === 'object' ? statedBy(additionalProperties) : []
  })
}

/** What is said about the items of a list. */
export function itemsOf(stated: Stated): Stated {
  return stated.flatMap(({ items }) => statedBy(items))
}

/** The mark of a value. Of several, one that hides more counts. */
export function markOf(stated: Stated): Mark | undefined {
  const marks = stated.flatMap((schema) => ownMark(schema) ?? [])
  return marks.find((mark) => !('mentions' in mark)) ?? marks[0]
}

function ownMark(schema: Schema): Mark | undefined {
  return schema['x-personal'] ?? (schema['x-id-of'] === 'contact' ? { is: 'contact' } : undefined)
}

/** Whether nothing is said about a value, so that it may be anything. */
export function isFree(stated: Stated): boolean {
  return stated.every((schema) => !SAYING.some((keyword) => keyword in schema))
}

const SAYING = ['type', 'enum', 'const', 'properties', 'x-personal', 'x-id-of'] as const

/** Whether an object's schema names a field, and does not only say what all fields of a record are. */
export function isNamed(stated: Stated, name: string): boolean {
  return stated.some(({ properties }) => properties !== undefined && Object.hasOwn(properties, name))
}

/** Whether a text is one of the service's own words: the schema has a list of them. */
export function isOwnWord(stated: Stated, text: string): boolean {
  return stated.some((schema) => schema.const === text || (schema.enum?.includes(text) ?? false))
}

/** Whether texts with this schema are ids, times or days. */
export function hasFormOfService(stated: Stated): boolean {
  return stated.some(({ format }) => format === 'uuid' || format === 'date-time' || format === 'date')
}
