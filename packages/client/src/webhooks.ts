import type { Event } from './generated/types.gen.ts'

/** What a webhook sends. */
export interface WebhookPayload {
  event: string
  subscription_id: string
  /** The same in every attempt: store it to ignore repetitions. */
  event_id: string
  tenant_id: string
  timestamp: string
  data: Event & { visitorId: string | null; title: string | null; path: string | null }
}

type Headers = globalThis.Headers | Record<string, string | string[] | undefined>

const TOLERANCE_SECONDS = 300
const PREFIX = 'whsec_'

/**
 * Verifies a webhook by its Standard Webhooks headers and returns what it sends.
 * @param body the request's body exactly as received, not parsed
 * @param secret the subscription's signing secret: `whsec_…`
 * @throws WebhookError if the request is not from the service, or older than five minutes
 */
export async function verifyWebhook({
  body,
  headers,
  secret,
  now = new Date(),
}: {
  body: string | Uint8Array
  headers: Headers
  secret: string
  now?: Date
}): Promise<WebhookPayload> {
  const [id, timestamp, signatures] = ['webhook-id', 'webhook-timestamp', 'webhook-signature'].map((name) =>
    headerOf(headers, name),
  )
  if (!id || !timestamp || !signatures) {
    throw new WebhookError('missing_headers', 'The request has no webhook-id, webhook-timestamp and webhook-signature.')
  }
  const ageSeconds = now.getTime() / 1_000 - Number(timestamp)
  if (!/^\d+$/.test(timestamp) || Math.abs(ageSeconds) > TOLERANCE_SECONDS) {
    const message = 'The request is older than five minutes, or the clock of this machine is wrong.'
    throw new WebhookError('timestamp_too_far', message)
  }
  const bytesOfBody = typeof body === 'string' ? new TextEncoder().encode(body) : body
  const key = await keyOf(secret)
  const signed = joined(new TextEncoder().encode(`${id}.${timestamp}.`), bytesOfBody)
  for (const signature of signatures.split(' ')) {
    const [version, encoded = ''] = signature.split(',')
    const bytes = version === 'v1' ? bytesOf(encoded) : null
    if (bytes && (await crypto.subtle.verify('HMAC', key, bytes, signed))) {
      return JSON.parse(new TextDecoder().decode(bytesOfBody))
    }
  }
  const message =
    'No signature matches. Check the signing secret, and that the body is passed exactly as received, before it is parsed.'
  throw new WebhookError('wrong_signature', message)
}

/** A request that is not a webhook of the service. Return 400. */
export class WebhookError extends Error {
  override readonly name = 'WebhookError'
  readonly code: 'missing_headers' | 'timestamp_too_far' | 'wrong_signature'

  constructor(code: WebhookError['code'], message: string) {
    super(message)
    this.code = code
  }
}

async function keyOf(secret: string): Promise<CryptoKey> {
  const bytes = secret?.startsWith(PREFIX) ? bytesOf(secret.slice(PREFIX.length)) : null
  if (!bytes || bytes.length === 0) throw new TypeError('`secret` must be a signing secret: whsec_…')
  return crypto.subtle.importKey('raw', bytes, { name: 'HMAC', hash: 'SHA-256' }, false, ['verify'])
}

function joined(one: Uint8Array, other: Uint8Array): Uint8Array<ArrayBuffer> {
  const all = new Uint8Array(one.length + other.length)
  all.set(one)
  all.set(other, one.length)
  return all
}

/** The bytes of a text in base64, or null if it is none. */
function bytesOf(base64: string): Uint8Array<ArrayBuffer> | null {
  try {
    return Uint8Array.from(atob(base64), (character) => character.charCodeAt(0))
  } catch {
    return null
  }
}

function headerOf(headers: Headers, name: string): string | undefined {
  if (headers instanceof globalThis.Headers) return headers.get(name) ?? undefined
  const value = headers[name] ?? Object.entries(headers).find(([each]) => each.toLowerCase() === name)?.[1]
  return Array.isArray(value) ? value[0] : value
}
