import { createHmac, createSecretKey, type KeyObject, randomBytes } from 'node:crypto'

const PREFIX = 'whsec_'
const SECRET_BYTES = 32
const KEYS_REMEMBERED_MAX = 1_000

export const USER_AGENT = 'Customer-Data-Service-Webhooks/1'

/** A new signing secret: `whsec_` and 32 random bytes in base64. */
export function newSigningSecret(): string {
  return PREFIX + randomBytes(SECRET_BYTES).toString('base64')
}

/** The secrets that sign an attempt. */
export interface SigningSecrets {
  /** Signs X-Service-Signature, which contains one signature. */
  primary: string
  /** All valid secrets; two during a rotation. */
  valid: readonly string[]
}

/**
 * The headers that prove the origin of a request: X-Service-Signature, whose key is the text of the secret, and the
 * Standard Webhooks headers, whose key is the bytes that the secret encodes.
 */
export function signatureHeaders(
  { primary, valid }: SigningSecrets,
  { messageId, at, body }: { messageId: string; at: Date; body: Buffer },
): Record<string, string> {
  const seconds = String(Math.floor(at.getTime() / 1000))
  const standard = valid.map((secret) => {
    const { decoded } = keysOf(secret)
    return `v1,${createHmac('sha256', decoded).update(`${messageId}.${seconds}.`).update(body).digest('base64')}`
  })
  return {
    'x-service-signature': `sha256=${createHmac('sha256', keysOf(primary).text).update(body).digest('hex')}`,
    'webhook-id': messageId,
    'webhook-timestamp': seconds,
    'webhook-signature': standard.join(' '),
  }
}

/** The headers of a delivery, but for the subscription's own. */
export function deliveryHeaders(
  { event, subscriptionId }: { event: string; subscriptionId: string },
  secrets: SigningSecrets,
  message: { messageId: string; at: Date; body: Buffer },
): Record<string, string> {
  return {
    'content-type': 'application/json',
    'x-service-event': headerSafe(event),
    'x-service-subscription': subscriptionId,
    ...signatureHeaders(secrets, message),
  }
}

/** Percent-encodes an event's name if it has characters that a header cannot have. */
function headerSafe(event: string): string {
  return /^[\x20-\x7e]+$/.test(event) ? event : encodeURIComponent(event)
}

interface Keys {
  /** The secret's text. */
  text: KeyObject
  /** The bytes that it encodes in base64. */
  decoded: KeyObject
}

const known = new Map<string, Keys>()

/** Keys are remembered because creating one takes longer than signing with it. */
function keysOf(secret: string): Keys {
  const remembered = known.get(secret)
  if (remembered) return remembered
  const keys = {
    text: createSecretKey(secret, 'utf8'),
    decoded: createSecretKey(secret.slice(PREFIX.length), 'base64'),
  }
  if (known.size >= KEYS_REMEMBERED_MAX) known.clear()
  known.set(secret, keys)
  return keys
}
