import { storable } from '../clean.ts'

const DEPTH_MAX = 32

/** A JSON value as the database can keep it: texts without NUL and lone surrogates, nothing nested beyond 32 levels. */
export function storableTree(value: unknown, depth = 0): unknown {
  if (typeof value === 'string') return storable(value)
  if (value === null || typeof value !== 'object') return value
  if (depth >= DEPTH_MAX) return null
  if (Array.isArray(value)) return value.map((each) => storableTree(each, depth + 1))
  const entries = Object.entries(value).filter(([key]) => key !== '__proto__')
  return Object.fromEntries(entries.map(([key, each]) => [storable(key), storableTree(each, depth + 1)]))
}
