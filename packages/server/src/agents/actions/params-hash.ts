import { createHash } from 'node:crypto'

/** SHA-256 of params in one spelling, whatever the order of their keys: an approval holds for exactly these. */
export function hashOfParams(params: unknown): string {
  // As they are read from the database: JSON has no undefined.
  return createHash('sha256')
    .update(canonical(JSON.parse(JSON.stringify(params))))
    .digest('hex')
}

function canonical(value: unknown): string {
  if (Array.isArray(value)) return `[${value.map(canonical).join(',')}]`
  if (value === null || typeof value !== 'object') return JSON.stringify(value)
  const entries = Object.entries(value).sort(([a], [b]) => (a < b ? -1 : 1))
  return `{${entries.map(([key, each]) => `${JSON.stringify(key)}:${canonical(each)}`).join(',')}}`
}
