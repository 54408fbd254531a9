import type { TSchema } from 'typebox'
import { Check } from 'typebox/value'
import { isObject } from '../is-object.ts'

interface BodySchema {
  properties?: Record<string, TSchema>
  required?: string[]
  items?: TSchema
  anyOf?: TSchema[]
  allOf?: TSchema[]
  /** `absent`: null means absent here, although the schema accepts any value. */
  'x-null'?: 'absent'
}

type Removal = (value: unknown) => void

/**
 * Compiles a schema to a function that removes optional fields that are null, in place: many clients send null for
 * absent fields. If a schema accepts null, it has a meaning (on PUT it clears the field) and stays. It also stays in
 * maps of the caller's own keys, such as `properties`.
 */
export function compileNullRemoval(schema: TSchema): Removal {
  return removalOf(schema) ?? (() => {})
}

function removalOf(schema: TSchema): Removal | null {
  const { properties = {}, required = [], items, anyOf = [], allOf = [] } = schema as BodySchema
  const removals = [...anyOf, ...allOf].flatMap((branch) => removalOf(branch) ?? [])
  const ofItem = items ? removalOf(items) : null
  if (ofItem) removals.push((value) => Array.isArray(value) && value.forEach(ofItem))
  const fields = Object.entries(properties).flatMap(([name, field]) => {
    const isNullAbsent = !required.includes(name) && !acceptsNull(field)
    const inside = removalOf(field)
    return isNullAbsent || inside ? [{ name, isNullAbsent, inside }] : []
  })
  if (fields.length > 0) {
    removals.push((value) => {
      if (!isObject(value)) return
      for (const { name, isNullAbsent, inside } of fields) {
        if (!Object.hasOwn(value, name)) continue
        if (value[name] !== null) inside?.(value[name])
        else if (isNullAbsent) delete value[name]
      }
    })
  }
  if (removals.length < 2) return removals[0] ?? null
  return (value) => {
    for (const remove of removals) remove(value)
  }
}

function acceptsNull(schema: TSchema): boolean {
  return (schema as BodySchema)['x-null'] !== 'absent' && Check(schema, null)
}
