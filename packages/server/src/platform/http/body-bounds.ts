import type { TSchema } from 'typebox'
import Type from 'typebox'
import type { ErrorDetail } from '../errors.ts'
import { parseTimestamp } from '../time.ts'
import { TIMESTAMP_FORM } from './query-parameters.ts'

type Fields = Readonly<Record<string, TSchema>>
type Bound = { 'x-bound'?: string; description?: string; examples?: unknown[] }

/**
 * Parameters of a query string as the fields of a body. A bound in time arrives there as it was sent; `parseBounds`
 * makes a moment of it.
 */
export function asBodyFields<const Schemas extends Fields>(schemas: Schemas): Schemas {
  const fields = Object.entries(schemas).map(([name, schema]) => {
    const { 'x-bound': bound, description, examples } = schema as Bound
    if (bound === undefined) return [name, schema]
    const text = Type.String({ description, examples, 'x-bound': bound, 'x-expected': TIMESTAMP_FORM })
    return [name, Type.IsOptional(schema) ? Type.Optional(text) : text]
  })
  // What the handler sees of a bound is what parseBounds makes: a Date, as in a query.
  return Object.fromEntries(fields) as Schemas
}

/**
 * Values of such fields with a Date for each bound.
 * @param path where the values stand in the body, for the details: `filters.` or nothing.
 */
export function parseBounds<Values extends object>(
  fields: Fields,
  values: Values,
  path: string,
): { values: Values; details: ErrorDetail[] } {
  const details: ErrorDetail[] = []
  const parsed = Object.entries(values).map(([name, value]) => {
    const bound = (fields[name] as { 'x-bound'?: string } | undefined)?.['x-bound']
    if (bound === undefined) return [name, value]
    const moment = parseTimestamp(String(value), bound === 'upper' ? 'end' : 'start')
    if (moment === null) details.push({ path: `${path}${name}`, message: `must be ${TIMESTAMP_FORM}` })
    return [name, moment]
  })
  return { values: Object.fromEntries(parsed) as Values, details }
}
