import { createHash } from 'node:crypto'

/** SHA-256 of params in canonical form, independent of key order. An approval is valid for exactly these params. */
export function hashOfParams(params: unknown): string {
  // Normalized as if read from the database, because JSON has no undefined.
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
