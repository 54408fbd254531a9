import { createHash } from 'node:crypto'

/** The SHA-256 of a random key or token, which is stored in its place. Nobody can guess what it is the hash of. */
export function tokenHash(token: string): Buffer {
  return createHash('sha256').update(token).digest()
}
