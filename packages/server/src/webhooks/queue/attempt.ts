import { isDeepStrictEqual } from 'node:util'
import type { SecretBox } from '../../platform/crypto/secret-box.ts'
import type { Logger } from '../../platform/log.ts'
import { type Outbound, OutboundError } from '../../platform/outbound/client.ts'
import type { Clock } from '../../platform/time.ts'
import type { CustomHeader } from '../custom-headers.ts'
import { type SigningSecrets, signatureHeaders } from '../signature.ts'
import { headersPlace, secretPlace } from '../subscriptions.ts'
import type { Batch, Claimed, Target } from './claim.ts'
import type { Outcome } from './finish.ts'

const ERROR_LENGTH_MAX = 500
const SUBSCRIPTIONS_REMEMBERED_MAX = 1_000

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
  const unsealed = unsealOnce(secrets)
  return async (delivery, stopping) => {
    const at = clock()
    const startedAt = performance.now()
    // The duration is measured by a clock that nobody sets.
    const ended = () => ({ at, endedAt: new Date(at.getTime() + Math.ceil(performance.now() - startedAt)) })
    try {
      const body = Buffer.from(delivery.payload)
      const answer = await outbound.post(
        delivery.batch.target.url,
        headersOf(delivery, unsealed(delivery.batch, at), at, body),
        body,
        stopping,
      )
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

/** What of a subscription is stored as ciphertext. */
interface Unsealed {
  /** The headers that all its requests have. */
  headers: Record<string, string>
  secret: string
  /** While it overlaps. */
  previousSecret: string | null
}

/** Decrypts again only when what is stored has changed: for each delivery it would cost more than signing does. */
function unsealOnce(secrets: SecretBox): (batch: Batch, at: Date) => Unsealed {
  const known = new Map<string, { target: Target; unsealed: Unsealed }>()
  return ({ tenantId, subscriptionId, target }, at) => {
    const opened = known.get(subscriptionId)
    // Deliveries that were taken together share it.
    if (opened?.target === target) return opened.unsealed
    if (opened && isDeepStrictEqual(opened.target, target)) {
      opened.target = target
      return opened.unsealed
    }
    const { headersSealed, secretSealed, previousSecretSealed, previousUntil } = target
    const isOverlapping = previousUntil !== null && previousUntil > at
    const place = secretPlace(tenantId, subscriptionId)
    const custom =
      headersSealed === null
        ? []
        : (JSON.parse(secrets.open(headersSealed, headersPlace(tenantId, subscriptionId))) as CustomHeader[])
    const unsealed = {
      headers: {
        'user-agent': 'Customer-Data-Service-Webhooks/1',
        ...Object.fromEntries(custom.map(({ name, value }) => [name.toLowerCase(), value])),
        'content-type': 'application/json',
        'x-service-subscription': subscriptionId,
      },
      secret: secrets.open(secretSealed, place),
      previousSecret: previousSecretSealed && isOverlapping ? secrets.open(previousSecretSealed, place) : null,
    }
    if (known.size >= SUBSCRIPTIONS_REMEMBERED_MAX) known.clear()
    known.set(subscriptionId, { target, unsealed })
    return unsealed
  }
}

function explain(error: unknown, delivery: Claimed, log: Logger): Pick<Outcome, 'error' | 'address'> {
  if (error instanceof OutboundError) {
    const text = storable(`${error.code}: ${error.message}`)
    return { error: text.slice(0, ERROR_LENGTH_MAX), address: error.address }
  }
  log.error({ err: error, subscription_id: delivery.batch.subscriptionId }, 'a webhook could not be sent')
  return { error: 'internal: the request could not be made; see the log of the service', address: null }
}

/** PostgreSQL cannot store a NUL in a text. */
function storable(text: string): string {
  return text.replaceAll('\0', '\ufffd').toWellFormed()
}

function isSuccess(status: number): boolean {
  return status >= 200 && status < 300
}

function headersOf(delivery: Claimed, unsealed: Unsealed, at: Date, body: Buffer): Record<string, string> {
  return {
    ...unsealed.headers,
    'x-service-event': headerSafe(delivery.event),
    ...signatureHeaders(secretsOf(delivery, unsealed, at), { messageId: delivery.eventId, at, body }),
  }
}

/** An event's name may hold any character; a header may not: what it cannot carry is percent-encoded. */
function headerSafe(event: string): string {
  return /^[\x20-\x7e]+$/.test(event) ? event : encodeURIComponent(event)
}

function secretsOf({ batch: { target } }: Claimed, { secret, previousSecret }: Unsealed, at: Date): SigningSecrets {
  const { previousUntil, switchAt } = target
  if (previousSecret === null || previousUntil === null || previousUntil <= at) {
    return { primary: secret, valid: [secret] }
  }
  return { primary: switchAt !== null && switchAt > at ? previousSecret : secret, valid: [secret, previousSecret] }
}
