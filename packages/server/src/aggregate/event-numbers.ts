import type { Measure } from './dimension.ts'

/**
 * The number under a top-level key of a JSON object; null for any other value, including a number in quotes. `{field}`
 * is the key, `{field_in_json}` the key as this service serializes it: searching for those bytes first avoids parsing
 * most events.
 */
export function numberIn(json: string): string {
  const value = `JSONExtractRaw(${json}, {field: String})`
  return `if(position(${json}, {field_in_json: String}) = 0, NULL, toFloat64OrNull(${value}))`
}

/** The placeholders of `numberIn`. */
export function fieldParameters({ metric, field }: Measure): Record<string, string> {
  return metric === 'count' ? {} : { field, field_in_json: JSON.stringify(field) }
}
