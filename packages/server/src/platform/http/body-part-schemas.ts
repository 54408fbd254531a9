import type { TSchema } from 'typebox'
import { Check } from 'typebox/value'

/**
 * What happens if a part of a body contains a value that cannot be stored: a NUL character (PostgreSQL cannot store
 * it), a lone surrogate (invalid UTF-8), the key `__proto__`, or more than 32 levels.
 * - `fails`: the part fails alone. Whoever handles it asks `flawsOf`.
 * - `left-out`: the value is left out of the part, with a warning.
 * - `replaced`: its characters are replaced, so that an id of many names nothing.
 * - `rejects`: the whole request is rejected, although it is inside a part of another kind.
 *
 * A schema declares it as `x-unstorable`. Without a declaration, the whole request is rejected.
 */
export type Fate = 'fails' | 'left-out' | 'replaced' | 'rejects'

/** A schema of a body, as far as its parts follow from it. */
export interface Schema {
  type?: string
  properties?: Record<string, Schema>
  patternProperties?: Record<string, Schema>
  additionalProperties?: boolean | Schema
  items?: Schema
  maxItems?: number
  anyOf?: Schema[]
  'x-record'?: Schema
  /** The schema to use here for the parts of a value that may be anything. */
  'x-parts'?: Schema
  'x-unstorable'?: Fate
  /** Whether a number is an id here: its digits count, which needs no warning. */
  'x-digits'?: boolean
}

/** The keywords that openapi.json leaves out. */
export const PART_KEYWORDS: ReadonlySet<string> = new Set(['x-parts', 'x-unstorable', 'x-digits', 'x-personal'])

/** The schema of a field or an item; undefined if it may be anything. */
export function schemaWithin(schema: Schema | undefined, key: string | number): Schema | undefined {
  const { properties, patternProperties, additionalProperties, items } = statedBy(schema)
  if (typeof key === 'number') return items
  if (properties !== undefined && Object.hasOwn(properties, key)) return properties[key]
  const [others] = Object.values(patternProperties ?? {})
  return others ?? (typeof additionalProperties === 'object' ? additionalProperties : undefined)
}

/** What a schema says about the parts of a value. */
export function statedBy(schema: Schema = {}): Schema {
  const own = schema['x-parts'] ?? schema['x-record'] ?? schema
  const [branch, ...others] = own.anyOf?.filter(({ type }) => type !== 'null') ?? []
  return branch !== undefined && others.length === 0 ? statedBy(branch) : own
}

const acceptances = new WeakMap<Schema, boolean>()

/** Whether a value may be a text or a number. */
export function acceptsTextAndNumber(schema: Schema | undefined): boolean {
  if (schema === undefined) return true
  let accepts = acceptances.get(schema)
  if (accepts === undefined) {
    accepts = [String(Number.MAX_SAFE_INTEGER), Number.MAX_SAFE_INTEGER].every((each) => Check(schema as TSchema, each))
    acceptances.set(schema, accepts)
  }
  return accepts
}
