import type { TSchema } from 'typebox'
import { hasFormOfService, isFree, type Schema } from '../src/mcp/redaction/declared.ts'

/** What to write where `unmarked` finds a field. */
export const ADVICE = `These fields do not say what they are. Give each a mark of platform/personal.ts:
- personal('email') and the like for a value of a person, personal('free-text') for what a person wrote;
- TEXT for a text that may name anybody, such as a URL, an error or a title;
- LABEL for a name that stays legible, such as that of an event, a company or a source;
- WORD for a word of the service or of another system, such as a code, a host or the name of a property;
- WITHHELD for a secret; bag('any') for an object with fields that others chose.
An id, a time, a day or one of a list of words needs none: use Id, ContactId, Timestamp, format: 'date' or Type.Enum.`

/** The paths of the fields below a schema that do not say what they are. */
export function unmarked(schema: Schema, path: string, isMarked = false): string[] {
  const isSaid = isMarked || schema['x-personal'] !== undefined
  const { properties = {}, patternProperties = {}, additionalProperties, items, anyOf, oneOf, allOf } = schema
  const parts = [schema['x-record'] ?? [], anyOf ?? [], oneOf ?? [], allOf ?? []].flat()
  const isWord = schema.enum !== undefined || schema.const !== undefined || hasFormOfService([schema])
  const isAny = parts.length === 0 && (isFree([schema]) || additionalProperties === true)
  return [
    ...(!isSaid && ((schema.type === 'string' && !isWord) || isAny) ? [path] : []),
    ...parts.flatMap((part) => unmarked(part, path, isSaid)),
    ...(items ? unmarked(items, `${path}[]`, isSaid) : []),
    ...Object.values(patternProperties).flatMap((part) => unmarked(part, `${path}.*`, isSaid)),
    // A mark of an object says nothing about its declared fields.
    ...Object.entries(properties).flatMap(([name, part]) => unmarked(part, `${path}.${name}`)),
  ]
}

const known = new WeakMap<object, string[]>()

/** The routes that are no operations have marks too. @throws Error naming the fields of a response without one */
export function requireMarks(schema: TSchema, route: string): void {
  const fields = known.get(schema) ?? unmarked(schema as Schema, route)
  known.set(schema, fields)
  if (fields.length > 0) throw new Error(`${ADVICE}\n${fields.join('\n')}`)
}
