import { hash } from 'node:crypto'

/** The version of a record for `ETag` and `If-Match`: a hash of the parts that its writers change, in a fixed order. */
export function etagOf(...parts: unknown[]): string {
  return hash('sha256', JSON.stringify(parts), 'base64url')
}
