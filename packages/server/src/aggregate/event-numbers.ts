/**
 * A JSON text that counts as a number, as PostgreSQL's numeric_property of the migrations has it; the number is the
 * group. JSON writes white space inside a text as an escape.
 */
const SPACE = String.raw`(?:\\s|\\\\[tnrf]|\\\\u000[bB])*`
const NUMERIC_TEXT = String.raw`^"${SPACE}([+-]?(?:[0-9]{1,30}(?:\\.[0-9]{0,30})?|\\.[0-9]{1,30}))${SPACE}"$`

/**
 * The number under a top-level key of a JSON text, or null. `{field}` is the key; `{field_in_json}` the same as it
 * stands in the JSON that this service writes: looking for those bytes first spares most events the parser, and the
 * others are parsed once.
 */
export function numberIn(json: string): string {
  const value = `JSONExtractRaw(${json}, {field: String})`
  return `multiIf(
    position(${json}, {field_in_json: String}) = 0, NULL,
    startsWith(${value}, '"'), toFloat64OrNull(extract(${value}, '${NUMERIC_TEXT}')),
    toFloat64OrNull(${value}))`
}
