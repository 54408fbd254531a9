/** Values of the `{name: Type}` placeholders of a query. */
export type QueryParameters = Record<string, string | number | boolean | readonly string[] | null>

/** The engine's own limit is 262,144, in bytes. */
const STATEMENT_BYTES_MAX = 200_000

/** Servers and proxies refuse long URLs, some of them beyond 8 KB. */
const URL_LIST_LENGTH_MAX = 2_000
const SERVER_STATEMENT_BYTES_MAX = 100_000_000

/**
 * Values in a statement's text are often personal data. A server keeps the texts of statements in `system.query_log` and,
 * shortened, in its own log, where no erasure would find them. In a SETTINGS clause, these settings would come too late
 * for a statement that cannot be parsed.
 */
const UNLOGGED = { log_queries: 0, log_queries_cut_to_length: '100' } as const

/** A statement in the client's format. */
export interface Statement {
  query: string
  query_params?: QueryParameters
  clickhouse_settings?: { max_query_size: string } & typeof UNLOGGED
}

/**
 * A statement for a server, which reads parameters from the URL. It would also read them from a form, but none longer than
 * 128 KiB. So long lists and texts become literals in the statement, whose length a request may choose itself.
 */
export function serverStatement(query: string, parameters: QueryParameters): Statement {
  const inUrl: QueryParameters = {}
  const inQuery = new Map<string, string>()
  for (const [name, value] of Object.entries(parameters)) {
    const list = typeof value === 'object' && value !== null ? encoded(value) : ''
    if (list.length > URL_LIST_LENGTH_MAX) inQuery.set(name, quoted(list))
    else if (typeof value === 'string' && value.length > URL_LIST_LENGTH_MAX) inQuery.set(name, quoted(value))
    else inUrl[name] = value
  }
  if (inQuery.size === 0) return { query, query_params: parameters }
  const whole = query.replace(/\{(\w+) *: *([^{}]+)\}/g, (placeholder, name: string, type: string) => {
    const list = inQuery.get(name)
    if (list === undefined) return placeholder
    // A text is a literal itself: a table function accepts no cast.
    return type.trim() === 'String' ? list : `CAST(${list}, ${quoted(type)})`
  })
  const clickhouse_settings = { max_query_size: `${SERVER_STATEMENT_BYTES_MAX}`, ...UNLOGGED }
  return { query: whole, query_params: inUrl, clickhouse_settings }
}

/**
 * A statement for the embedded engine. Its own parameter binding allows one query at a time in the whole process, so
 * the statement sets the parameters itself; the engine still parses them by the types of their placeholders. A
 * statement that would be too long uses the slow binding.
 */
export function embeddedStatement(query: string, parameters: QueryParameters): Statement {
  const names = Object.keys(parameters)
  // A parameter of an earlier statement on the connection must never replace a missing one.
  for (const [, name = ''] of query.matchAll(/\{(\w+) *:/g)) {
    if (!(name in parameters)) throw new Error(`The query has no value for its placeholder ${name}.`)
  }
  if (names.length === 0) return { query }
  const values = names.map((name) => `param_${name} = ${quoted(encoded(parameters[name] ?? null))}`)
  const whole = `SET ${values.join(', ')}; ${query}`
  return Buffer.byteLength(whole) > STATEMENT_BYTES_MAX
    ? { query, query_params: bindable(parameters) }
    : { query: whole }
}

/** The engine's own way refuses whole numbers beyond 2^53, which may be meant for a Float64. It reads them as texts. */
function bindable(parameters: QueryParameters): QueryParameters {
  const isLarge = (value: unknown) => Number.isInteger(value) && !Number.isSafeInteger(value)
  return Object.fromEntries(
    Object.entries(parameters).map(([name, value]) => [name, isLarge(value) ? String(value) : value]),
  )
}

const ESCAPES: Readonly<Record<string, string>> = {
  '\\': '\\\\',
  '\0': '\\0',
  '\b': '\\b',
  '\f': '\\f',
  '\n': '\\n',
  '\r': '\\r',
  '\t': '\\t',
}

/** A value in ClickHouse's parameter format, which is that of a tab-separated field. */
function encoded(value: QueryParameters[string]): string {
  if (value === null) return '\\N'
  if (typeof value === 'object') return `[${value.map(quoted).join(',')}]`
  return String(value).replace(/[\\\0\b\f\n\r\t]/g, (character) => ESCAPES[character] ?? character)
}

/** An SQL literal. */
function quoted(text: string): string {
  return `'${text.replace(/[\\']/g, '\\$&')}'`
}
