/** The texts that count as numbers: the same as PostgreSQL's numeric_property of the migrations. */
const NUMERIC_TEXT = String.raw`^\\s*[+-]?([0-9]{1,30}(\\.[0-9]{0,30})?|\\.[0-9]{1,30})\\s*$`

/**
 * The number under a top-level key of a JSON text, or null. `{field}` is the key; `{field_in_json}` the same as it
 * stands in the JSON that this service writes: looking for those bytes first spares most events the parser.
 */
export function numberIn(json: string): string {
  const key = '{field: String}'
  const text = `JSONExtractString(${json}, ${key})`
  return `multiIf(
    position(${json}, {field_in_json: String}) = 0, NULL,
    JSONType(${json}, ${key}) IN ('Int64', 'UInt64', 'Double'), JSONExtract(${json}, ${key}, 'Nullable(Float64)'),
    JSONType(${json}, ${key}) = 'String' AND match(${text}, '${NUMERIC_TEXT}'), toFloat64OrNull(trim(BOTH ' \\t\\n\\r\\f\\v' FROM ${text})),
    NULL)`
}
