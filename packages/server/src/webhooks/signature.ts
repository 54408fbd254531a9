import { createHmac, createSecretKey, type KeyObject, randomBytes } from 'node:crypto'

const PREFIX = 'whsec_'
const SECRET_BYTES = 32
const KEYS_REMEMBERED_MAX = 1_000

/** A new signing secret: `whsec_` and 32 random bytes in base64. */
export function newSigningSecret(): string {
  return PREFIX + randomBytes(SECRET_BYTES).toString('base64')
}

/** The secrets that sign an attempt. */
export interface SigningSecrets {
  /** Makes X-Service-Signature, which has room for one. */
  primary: string
  /** All that are valid: during a rotation two. */
  valid: readonly string[]
}

/**
 * The headers that prove where a request comes from: X-Service-Signature, keyed with the shown secret's bytes, and the
 * Standard Webhooks headers, keyed with the bytes that the secret stands for.
 */
export function signatureHeaders(
  { primary, valid }: SigningSecrets,
  { messageId, at, body }: { messageId: string; at: Date; body: Buffer },
): Record<string, string> {
  const seconds = String(Math.floor(at.getTime() / 1000))
  const standard = valid.map((secret) => {
    const { standing } = keysOf(secret)
    return `v1,${createHmac('sha256', standing).update(`${messageId}.${seconds}.`).update(body).digest('base64')}`
  })
  return {
    'x-service-signature': `sha256=${createHmac('sha256', keysOf(primary).shown).update(body).digest('hex')}`,
    'webhook-id': messageId,
    'webhook-timestamp': seconds,
    'webhook-signature': standard.join(' '),
  }
}

interface Keys {
  /** Of the secret's text as it was shown. */
  shown: KeyObject
  /** Of the bytes that it stands for. */
  standing: KeyObject
}

const known = new Map<string, Keys>()

/** Making a key of a secret costs more than signing with it does. */
function keysOf(secret: string): Keys {
  const made = known.get(secret)
  if (made) return made
  const keys = {
    shown: createSecretKey(secret, 'utf8'),
    standing: createSecretKey(secret.slice(PREFIX.length), 'base64'),
  }
  if (known.size >= KEYS_REMEMBERED_MAX) known.clear()
  known.set(secret, keys)
  return keys
}
