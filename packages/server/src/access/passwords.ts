import { AsyncLocalStorage } from 'node:async_hooks'
import { randomBytes, scrypt, timingSafeEqual } from 'node:crypto'
import { promisify } from 'node:util'
import { hasFewerCharacters, hasMoreCharacters } from '../platform/characters.ts'
import { ServiceError } from '../platform/errors.ts'

const derive = promisify<string, Buffer, number, { N: number; r: number; p: number; maxmem: number }, Buffer>(scrypt)
/** scrypt's cost for a new password. Each hash says its own `N`, so it stays valid when this one changes. Tests lower it. */
export const COST = { N: 16_384, r: 16, p: 1 }
const KEY_BYTES = 64
const MEMORY_BYTES_MAX = 64 * 1024 * 1024
export const PASSWORD_LENGTH_MIN = 10
export const PASSWORD_LENGTH_MAX = 256

/** @throws ServiceError 400 for a password that is too short or too long. */
export function requireGoodPassword(password: string): void {
  if (!hasFewerCharacters(password, PASSWORD_LENGTH_MIN) && !hasMoreCharacters(password, PASSWORD_LENGTH_MAX)) return
  const message = `A password must have ${PASSWORD_LENGTH_MIN} to ${PASSWORD_LENGTH_MAX} characters.`
  throw new ServiceError(400, 'invalid_password', message, { details: [{ path: 'password', message }] })
}

/** The salt for the password that the sign-in library hashes next: the library does not tell `hashPassword` whose it is. */
const expectedSalt = new AsyncLocalStorage<string>()

/** Runs `work`, hashing every new password in it with this salt. */
export function withSalt<T>(salt: string, work: () => Promise<T>): Promise<T> {
  return expectedSalt.run(salt, work)
}

/** The cost of the hash, and a random text: `N.hex`. */
export function newSalt(): string {
  return `${COST.N}.${randomBytes(16).toString('hex')}`
}

/** The salt in a password's hash, with its cost. */
export function saltOf(hash: string): string {
  return hash.split(':')[0] ?? ''
}

/** scrypt as `salt:key`, the key in hex. */
export async function hashPassword(password: string, salt = expectedSalt.getStore() ?? newSalt()): Promise<string> {
  return `${salt}:${(await keyOf(password, salt)).toString('hex')}`
}

/** Whether the password matches the hash, compared in constant time. */
export async function isPassword(password: string, hash: string): Promise<boolean> {
  return isSameHash(await hashPassword(password, saltOf(hash)), hash)
}

/** Compares two hashes in constant time. */
export function isSameHash(one: string, other: string): boolean {
  const [bytes, others] = [Buffer.from(one), Buffer.from(other)]
  return bytes.length === others.length && timingSafeEqual(bytes, others)
}

function keyOf(password: string, salt: string): Promise<Buffer> {
  const cost = { ...COST, N: Number(salt.split('.')[0]), maxmem: MEMORY_BYTES_MAX }
  return derive(password.normalize('NFKC'), Buffer.from(salt), KEY_BYTES, cost)
}
