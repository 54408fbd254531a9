import type { Measure } from './dimension.ts'

/**
 * The number under a top-level key of a JSON text, or null: the text of a number is none. `{field}` is the key;
 * `{field_in_json}` the same as it stands in the JSON that this service writes: looking for those bytes first spares
 * most events the parser.
 */
export function numberIn(json: string): string {
  const value = `JSONExtractRaw(${json}, {field: String})`
  return `if(position(${json}, {field_in_json: String}) = 0, NULL, toFloat64OrNull(${value}))`
}

/** The placeholders of `numberIn`. */
export function fieldParameters({ metric, field }: Measure): Record<string, string> {
  return metric === 'count' ? {} : { field, field_in_json: JSON.stringify(field) }
}
