import type { TSchema } from 'typebox'
import Type from 'typebox'
import type { ErrorDetail } from '../errors.ts'
import { parseTimestampIn } from '../time-zone.ts'
import { TIMESTAMP_FORM } from './query-parameters.ts'

type Fields = Readonly<Record<string, TSchema>>
type Bound = { 'x-bound'?: string; description?: string; examples?: unknown[] }

/** Query parameters as fields of a body. Time bounds arrive as sent; `parseBounds` parses them. */
export function asBodyFields<const Schemas extends Fields>(schemas: Schemas): Schemas {
  const fields = Object.entries(schemas).map(([name, schema]) => {
    const { 'x-bound': bound, description, examples } = schema as Bound
    if (bound === undefined) return [name, schema]
    const text = Type.String({ description, examples, 'x-bound': bound, 'x-expected': TIMESTAMP_FORM })
    return [name, Type.IsOptional(schema) ? Type.Optional(text) : text]
  })
  // The handler gets a bound from parseBounds: a Date, as in a query.
  return Object.fromEntries(fields) as Schemas
}

/**
 * The values of such fields, with a Date for each bound.
 * @param path the prefix of the fields in error details: `filters.` or empty.
 * @param timeZone of dates without a time.
 */
export function parseBounds<Values extends object>(
  fields: Fields,
  values: Values,
  path: string,
  timeZone = 'UTC',
): { values: Values; details: ErrorDetail[] } {
  const details: ErrorDetail[] = []
  const parsed = Object.entries(values).map(([name, value]) => {
    const bound = (fields[name] as { 'x-bound'?: string } | undefined)?.['x-bound']
    if (bound === undefined) return [name, value]
    const moment = parseTimestampIn(timeZone, String(value), bound === 'upper' ? 'end' : 'start')
    if (moment === null) details.push({ path: `${path}${name}`, message: `must be ${TIMESTAMP_FORM}` })
    return [name, moment]
  })
  return { values: Object.fromEntries(parsed) as Values, details }
}
