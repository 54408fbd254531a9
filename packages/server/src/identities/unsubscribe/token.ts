import { randomBytes } from 'node:crypto'
import { tokenHash } from '../../platform/crypto/tokens.ts'
import { isUuid } from '../../platform/ids.ts'

const RANDOM_BYTES = 16
const TOKEN_LENGTH = 43

/**
 * A token for the unsubscribe links of a mail: its tenant and 128 random bits. The recipient is stored under its hash
 * rather than signed into the token, so that links outlive the service's keys and do not reveal the recipient.
 */
export function newUnsubscribeToken(tenantId: string): { token: string; hash: string } {
  const bytes = Buffer.concat([Buffer.from(tenantId.replaceAll('-', ''), 'hex'), randomBytes(RANDOM_BYTES)])
  const token = bytes.toString('base64url')
  return { token, hash: tokenHash(token).toString('base64url') }
}

/** The tenant and the hash of a token; null if the text is not a token. */
export function readUnsubscribeToken(token: string): { tenantId: string; hash: string } | null {
  if (token.length !== TOKEN_LENGTH) return null
  const hex = Buffer.from(token, 'base64url').toString('hex')
  const tenantId = hex.slice(0, 32).replace(/^(.{8})(.{4})(.{4})(.{4})(.{12})$/, '$1-$2-$3-$4-$5')
  return isUuid(tenantId) ? { tenantId, hash: tokenHash(token).toString('base64url') } : null
}
