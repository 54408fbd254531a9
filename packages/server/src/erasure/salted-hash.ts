import { createHash, randomBytes } from 'node:crypto'

/** With the salt, a known address can be checked against the hash later; the hash does not reveal the address. */
export function saltedHash(email: string): { salt: string; hash: string } {
  const salt = randomBytes(16).toString('hex')
  return { salt, hash: hashOf(salt, email) }
}

export function hashOf(salt: string, email: string): string {
  return createHash('sha256').update(`${salt}:${email}`).digest('hex')
}
