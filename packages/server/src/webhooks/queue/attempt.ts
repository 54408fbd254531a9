import type { SecretBox } from '../../platform/crypto/secret-box.ts'
import type { Logger } from '../../platform/log.ts'
import { type Outbound, OutboundError } from '../../platform/outbound/client.ts'
import type { Clock } from '../../platform/time.ts'
import type { CustomHeader } from '../custom-headers.ts'
import { type SigningSecrets, signatureHeaders } from '../signature.ts'
import { headersPlace, secretPlace } from '../subscriptions.ts'
import type { Claimed } from './claim.ts'
import type { Outcome } from './record.ts'

const ERROR_LENGTH_MAX = 500
const REMEMBERED_MAX = 1_000

interface Dependencies {
  outbound: Outbound
  secrets: SecretBox
  clock: Clock
  log: Logger
}

/**
 * Sends a delivery once. Answers what came of it, or null when `stopping` ended it before the receiver did.
 */
export type Sender = (delivery: Claimed, stopping: AbortSignal) => Promise<Outcome | null>

export function createSender({ outbound, secrets, clock, log }: Dependencies): Sender {
  const opened = rememberOpened(secrets)
  return async (delivery, stopping) => {
    const at = clock()
    const startedAt = performance.now()
    // The duration is measured by a clock that nobody sets.
    const ended = () => ({ at, endedAt: new Date(at.getTime() + Math.ceil(performance.now() - startedAt)) })
    try {
      const body = Buffer.from(delivery.payload)
      const answer = await outbound.post(delivery.url, headersOf(opened, delivery, at, body), body, stopping)
      const text = answer.body.toString('utf8')
      const succeeded = isSuccess(answer.status) || text.trim().toLowerCase() === 'ignore'
      return {
        ...ended(),
        statusCode: answer.status,
        body: storable(text),
        error: succeeded ? null : `The receiver answered ${answer.status}.`,
        address: answer.address,
        succeeded,
      }
    } catch (error) {
      if (stopping.aborted) return null
      return { ...ended(), statusCode: null, body: null, ...explain(error, delivery, log), succeeded: false }
    }
  }
}

/** Decrypting the same secrets for every delivery costs more than signing does. */
function rememberOpened(secrets: SecretBox): Pick<SecretBox, 'open'> {
  const opened = new Map<string, string>()
  return {
    open: (sealed, place) => {
      // The ciphertext alone would open what was moved to another place.
      const key = `${place} ${sealed}`
      const known = opened.get(key)
      if (known !== undefined) return known
      const text = secrets.open(sealed, place)
      if (opened.size >= REMEMBERED_MAX) opened.clear()
      opened.set(key, text)
      return text
    },
  }
}

function explain(error: unknown, delivery: Claimed, log: Logger): Pick<Outcome, 'error' | 'address'> {
  if (error instanceof OutboundError) {
    const text = storable(`${error.code}: ${error.message}`)
    return { error: text.slice(0, ERROR_LENGTH_MAX), address: error.address }
  }
  log.error({ err: error, subscription_id: delivery.subscriptionId }, 'a webhook could not be sent')
  return { error: 'internal: the request could not be made; see the log of the service', address: null }
}

/** PostgreSQL cannot store a NUL in a text. */
function storable(text: string): string {
  return text.replaceAll('\0', '\ufffd').toWellFormed()
}

function isSuccess(status: number): boolean {
  return status >= 200 && status < 300
}

function headersOf(
  secrets: Pick<SecretBox, 'open'>,
  delivery: Claimed,
  at: Date,
  body: Buffer,
): Record<string, string> {
  const { tenantId, subscriptionId, headersSealed } = delivery
  const custom =
    headersSealed === null
      ? []
      : (JSON.parse(secrets.open(headersSealed, headersPlace(tenantId, subscriptionId))) as CustomHeader[])
  return {
    'user-agent': 'Customer-Data-Service-Webhooks/1',
    ...Object.fromEntries(custom.map(({ name, value }) => [name.toLowerCase(), value])),
    'content-type': 'application/json',
    'x-service-event': headerSafe(delivery.event),
    'x-service-subscription': subscriptionId,
    ...signatureHeaders(secretsOf(secrets, delivery, at), { messageId: delivery.eventId, at, body }),
  }
}

/** An event's name may hold any character; a header may not: what it cannot carry is percent-encoded. */
function headerSafe(event: string): string {
  return /^[\x20-\x7e]+$/.test(event) ? event : encodeURIComponent(event)
}

function secretsOf(secrets: Pick<SecretBox, 'open'>, delivery: Claimed, at: Date): SigningSecrets {
  const place = secretPlace(delivery.tenantId, delivery.subscriptionId)
  const current = secrets.open(delivery.secretSealed, place)
  const { previousSecretSealed, previousUntil, switchAt } = delivery
  if (previousSecretSealed === null || previousUntil === null || previousUntil <= at) {
    return { primary: current, valid: [current] }
  }
  const previous = secrets.open(previousSecretSealed, place)
  return { primary: switchAt !== null && switchAt > at ? previous : current, valid: [current, previous] }
}
