import type { Fields } from './fields.ts'

/** Deeper levels stay part of the name: `properties.a.b` is the property `a.b`. */
const NESTED = new Set(['properties', 'traits', 'context'])
const PARENTS = new Set(['page', 'traits', 'campaign', 'screen'])

/** A transparent image of one pixel. */
export const PIXEL = Buffer.from('R0lGODlhAQABAIAAAP///wAAACH5BAEAAAAALAAAAAABAAEAAAICRAEAOw==', 'base64')

/** The call in the query of an image's URL: `properties.plan=pro&context.page.url=…`. */
export function callOfQuery(query: Fields): Fields {
  const call: Record<string, unknown> = {}
  for (const [name, sent] of Object.entries(query)) {
    // A repeated parameter arrives as a list.
    const value = Array.isArray(sent) ? sent[0] : sent
    // Some tag managers quote the id.
    set(call, pathOf(name), name === 'anonymousId' ? String(value).replace(/^"(.*)"$/, '$1') : value)
  }
  return call
}

function pathOf(name: string): string[] {
  const [first = '', ...rest] = name.split('.')
  if (rest.length === 0 || !NESTED.has(first)) return [name]
  const [second = '', ...deeper] = rest
  return first === 'context' && deeper.length > 0 && PARENTS.has(second)
    ? [first, second, deeper.join('.')]
    : [first, rest.join('.')]
}

function set(target: Record<string, unknown>, [name = '', ...rest]: string[], value: unknown): void {
  if (name === '__proto__') return
  if (rest.length === 0) {
    target[name] = value
    return
  }
  const inner = target[name]
  const nested = inner !== null && typeof inner === 'object' ? (inner as Record<string, unknown>) : {}
  target[name] = nested
  set(nested, rest, value)
}
