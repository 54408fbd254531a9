import { createHmac } from 'node:crypto'

const ALPHABET = 'ABCDEFGHIJKLMNOPQRSTUVWXYZ234567'
const STEP_MS = 30_000

/**
 * The code of an authenticator for the secret of an otpauth address (RFC 6238).
 * @param steps the number of 30-second steps from now: the service also accepts the previous and the next code.
 */
export function codeOf(address: string, steps = 0): string {
  const secret = new URL(address).searchParams.get('secret') ?? ''
  const bits = [...secret.replace(/=+$/, '')].map((letter) => ALPHABET.indexOf(letter).toString(2).padStart(5, '0'))
  const bytes = (bits.join('').match(/.{8}/g) ?? []).map((byte) => Number.parseInt(byte, 2))
  const counter = Buffer.alloc(8)
  counter.writeBigUInt64BE(BigInt(Math.floor(Date.now() / STEP_MS) + steps))
  const hash = createHmac('sha1', Buffer.from(bytes)).update(counter).digest()
  const offset = (hash.at(-1) ?? 0) & 15
  return String((hash.readUInt32BE(offset) & 0x7fffffff) % 1_000_000).padStart(6, '0')
}
