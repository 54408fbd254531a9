import { createHmac, timingSafeEqual } from 'node:crypto'
import type { IdentificationKeys } from '../access/identification-settings.ts'

const HASH = /^[0-9a-f]{64}$/i

/** Whether a hash is the hexadecimal HMAC-SHA256 of a text with a currently valid secret of the tenant. */
export function isSigned({ keys }: IdentificationKeys, text: string, hash: unknown, now: Date): boolean {
  if (typeof hash !== 'string' || !HASH.test(hash)) return false
  const sent = Buffer.from(hash, 'hex')
  return keys.some(
    ({ key, until }) =>
      (until === null || now < until) && timingSafeEqual(createHmac('sha256', key).update(text).digest(), sent),
  )
}
