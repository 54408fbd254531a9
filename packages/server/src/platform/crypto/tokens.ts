import { createHash } from 'node:crypto'
import { DAY_MS } from '../time.ts'

/** How long a replaced key, token or secret keeps working, so that nothing is lost until everybody has the new one. */
export const REPLACED_FOR_MS = DAY_MS

/** The SHA-256 of a random key or token, which is stored in its place. Nobody can guess what it is the hash of. */
export function tokenHash(token: string): Buffer {
  return createHash('sha256').update(token).digest()
}
