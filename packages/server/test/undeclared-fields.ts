import type { TSchema } from 'typebox'
import { Compile } from 'typebox/compile'

interface JsonSchema {
  properties?: Record<string, TSchema>
  items?: TSchema
  anyOf?: TSchema[]
  allOf?: TSchema[]
  patternProperties?: Record<string, TSchema>
  additionalProperties?: unknown
}

type Validator = ReturnType<typeof Compile>
const validators = new WeakMap<object, Validator>()

/** Compiles a schema once: responses of all tests are checked with it. */
export function validatorOf(schema: TSchema): Validator {
  const validator = validators.get(schema) ?? Compile(schema)
  validators.set(schema, validator)
  return validator
}

/** The paths of a response's fields that its schema does not have. */
export function undeclaredFields(schema: TSchema, value: unknown, path = ''): string[] {
  const { items, anyOf, allOf } = schema as JsonSchema
  if (anyOf) {
    // Of the matching schemas, the one with the fewest undeclared fields.
    const found = anyOf
      .filter((each) => validatorOf(each).Check(value))
      .map((each) => undeclaredFields(each, value, path))
    return found.toSorted((a, b) => a.length - b.length)[0] ?? []
  }
  if (Array.isArray(value)) {
    return items ? value.flatMap((item, index) => undeclaredFields(items, item, `${path}[${index}]`)) : []
  }
  if (value === null || typeof value !== 'object') return []
  const parts = [schema, ...(allOf ?? [])] as JsonSchema[]
  const properties = Object.assign({}, ...parts.map((part) => part.properties)) as Record<string, TSchema>
  // Fields of any name, such as the properties of a contact.
  const isOpen = parts.some((part) => part.patternProperties ?? part.additionalProperties)
  if (isOpen || Object.keys(properties).length === 0) return []
  return Object.entries(value).flatMap(([name, field]) => {
    // JSON has no such field.
    if (field === undefined) return []
    const at = path === '' ? name : `${path}.${name}`
    const known = properties[name]
    return known ? undeclaredFields(known, field, at) : [at]
  })
}
