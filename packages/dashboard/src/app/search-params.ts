/** Reads one search parameter; undefined for a value that makes no sense, so that a bad link still opens. */
type Reader<Value> = (text: string) => Value | undefined

type Values<Readers extends Record<string, Reader<unknown>>> = {
  [Name in keyof Readers]?: Exclude<ReturnType<Readers[Name]>, undefined>
}

/**
 * A `validateSearch` for a route: keeps the parameters that it knows and whose values make sense.
 * URLs hold plain words (`?page=2&search=ada`), so every value arrives as text.
 */
export function searchParams<const Readers extends Record<string, Reader<unknown>>>(readers: Readers) {
  return (search: Record<string, unknown>): Values<Readers> => {
    // The router lays this answer over what the address held: only what is named here as undefined goes away.
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

export const wholeNumber: Reader<number> = (value) => (/^\d{1,12}$/.test(value) ? Number(value) : undefined)

/** A day as `2026-01-31`. The 31st of February is none, though a Date makes the 3rd of March of it. */
export const day: Reader<string> = (value) => {
  const date = new Date(/^\d{4}-\d{2}-\d{2}$/.test(value) ? value : Number.NaN)
  return !Number.isNaN(date.getTime()) && date.toISOString().startsWith(value) ? value : undefined
}

/** Words between commas. */
export const words: Reader<string[]> = (value) => value.split(',').filter((word) => word !== '')

/** One of the given words. */
export function oneOf<const Word extends string>(...allowed: Word[]): Reader<Word> {
  return (value) => allowed.find((word) => word === value)
}

/** The router's reading of a query string: texts only. */
export function parseSearch(query: string): Record<string, string> {
  return Object.fromEntries(new URLSearchParams(query))
}

/** The router's writing of one: lists of words between commas, deeper values as JSON, nothing for undefined. */
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
