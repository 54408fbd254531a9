/** Parses one search parameter; undefined for an invalid value, so that a bad link still opens. */
export type Reader<Value> = (text: string) => Value | undefined

type Values<Readers extends Record<string, Reader<unknown>>> = {
  [Name in keyof Readers]?: Exclude<ReturnType<Readers[Name]>, undefined>
}

/**
 * A `validateSearch` for a route: keeps known parameters with valid values. URLs contain plain text
 * (`?page=2&search=ada`), so every value arrives as text.
 */
export function searchParams<const Readers extends Record<string, Reader<unknown>>>(readers: Readers) {
  return (search: Record<string, unknown>): Values<Readers> => {
    // The router merges this result into the old parameters: only keys that are explicitly undefined are removed.
    const values: Record<string, unknown> = Object.fromEntries(Object.keys(search).map((name) => [name, undefined]))
    for (const [name, read] of Object.entries(readers)) {
      const given = search[name]
      if (given === undefined || given === null || given === '') continue
      values[name] = read(Array.isArray(given) ? given.join(',') : String(given))
    }
    return values as Values<Readers>
  }
}

/** The parameters that have a value. */
export function given<Search extends object>(search: Search): Search {
  return Object.fromEntries(Object.entries(search).filter(([, value]) => value !== undefined)) as Search
}

export const text: Reader<string> = (value) => value.slice(0, 1_000)

export const flag: Reader<boolean> = (value) => (value === 'true' ? true : value === 'false' ? false : undefined)

export const pageNumber: Reader<number> = (value) => (/^[1-9]\d{0,8}$/.test(value) ? Number(value) : undefined)

/** A day as `2026-01-31`. Rejects 31 February, which a Date would turn into 3 March. */
export const day: Reader<string> = (value) => {
  const date = new Date(/^\d{4}-\d{2}-\d{2}$/.test(value) ? value : Number.NaN)
  return !Number.isNaN(date.getTime()) && date.toISOString().startsWith(value) ? value : undefined
}

/** Comma-separated words. */
export const words: Reader<string[]> = (value) => value.split(',').filter((word) => word !== '')

/** One of the given words. */
export function oneOf<const Word extends string>(...allowed: Word[]): Reader<Word> {
  return (value) => allowed.find((word) => word === value)
}

/** Parses a query string for the router: texts only. */
export function parseSearch(query: string): Record<string, string> {
  return Object.fromEntries(new URLSearchParams(query))
}

/** Renders a query string for the router: lists as comma-separated words, deeper values as JSON, undefined omitted. */
export function stringifySearch(search: Record<string, unknown>): string {
  const parameters = new URLSearchParams()
  for (const [name, value] of Object.entries(search)) {
    if (value === undefined || value === null || value === '') continue
    if (Array.isArray(value) && value.every((item) => typeof item === 'string')) parameters.set(name, value.join(','))
    else parameters.set(name, typeof value === 'object' ? JSON.stringify(value) : String(value))
  }
  const query = parameters.toString().replaceAll('%2C', ',')
  return query === '' ? '' : `?${query}`
}
