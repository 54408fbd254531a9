import { isDeepStrictEqual } from 'node:util'
import type { SecretBox } from '../../platform/crypto/secret-box.ts'
import type { Logger } from '../../platform/log.ts'
import { type Outbound, OutboundError } from '../../platform/outbound/client.ts'
import type { Clock } from '../../platform/time.ts'
import type { CustomHeader } from '../custom-headers.ts'
import { headersPlace, openUrl, secretPlace } from '../sealed-columns.ts'
import { deliveryHeaders, type SigningSecrets, USER_AGENT } from '../signature.ts'
import type { Batch, Claimed, Target } from './claim.ts'
import type { Outcome } from './finish.ts'

const ERROR_LENGTH_MAX = 500
const SUBSCRIPTIONS_REMEMBERED_MAX = 1_000

/** Attempts a delivery once. @returns the outcome, or null if `stopping` aborted the request. */
export type Sender = (delivery: Claimed, stopping: AbortSignal) => Promise<Outcome | null>

export function createSender({
  outbound,
  secrets,
  clock,
  log,
}: {
  outbound: Outbound
  secrets: SecretBox
  clock: Clock
  log: Logger
}): Sender {
  const unsealed = unsealOnce(secrets)
  return async (delivery, stopping) => {
    const at = clock()
    const startedAt = performance.now()
    // Unlike `clock`, the performance timer never jumps.
    const ended = () => ({ at, endedAt: new Date(at.getTime() + Math.ceil(performance.now() - startedAt)) })
    try {
      const body = Buffer.from(delivery.payload)
      const opened = unsealed(delivery.batch, at)
      const response = await outbound.post(opened.url, headersOf(delivery, opened, at, body), body, stopping)
      const text = response.body.toString('utf8')
      const succeeded = isSuccess(response.status) || text.trim().toLowerCase() === 'ignore'
      return {
        ...ended(),
        statusCode: response.status,
        body: storable(text),
        error: succeeded ? null : `The receiver responded with status ${response.status}.`,
        address: response.address,
        succeeded,
      }
    } catch (error) {
      if (stopping.aborted) return null
      return { ...ended(), statusCode: null, body: null, ...explain(error, delivery, log), succeeded: false }
    }
  }
}

/** The parts of a subscription that are stored encrypted. */
interface Unsealed {
  url: string
  /** Its own headers, which are on all its requests. */
  headers: Record<string, string>
  secret: string
  /** null unless a rotation overlaps. */
  previousSecret: string | null
}

/** Decrypts again only if the stored values have changed, because decryption takes longer than signing a delivery. */
function unsealOnce(secrets: SecretBox): (batch: Batch, at: Date) => Unsealed {
  const known = new Map<string, { target: Target; unsealed: Unsealed }>()
  return ({ tenantId, subscriptionId, target }, at) => {
    const opened = known.get(subscriptionId)
    // Deliveries that were claimed together share the object.
    if (opened?.target === target) return opened.unsealed
    if (opened && isDeepStrictEqual(opened.target, target)) {
      opened.target = target
      return opened.unsealed
    }
    const { url, urlSealed, headersSealed, secretSealed, previousSecretSealed, previousUntil } = target
    const isOverlapping = previousUntil !== null && previousUntil > at
    const place = secretPlace(tenantId, subscriptionId)
    const custom =
      headersSealed === null
        ? []
        : (JSON.parse(secrets.open(headersSealed, headersPlace(tenantId, subscriptionId))) as CustomHeader[])
    const unsealed = {
      url: openUrl(secrets, { tenantId, subscriptionId, url, urlSealed }),
      headers: {
        'user-agent': USER_AGENT,
        ...Object.fromEntries(custom.map(({ name, value }) => [name.toLowerCase(), value])),
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
    // Messages of the system repeat the code: "connect ECONNREFUSED 192.0.2.1:443".
    const text = storable(`${error.code}: ${error.message.replace(`${error.code} `, '')}`)
    return { error: text.slice(0, ERROR_LENGTH_MAX), address: error.address }
  }
  log.error({ err: error, subscription_id: delivery.batch.subscriptionId }, 'a webhook delivery could not be sent')
  return { error: 'internal: the request could not be made; see the log of the service', address: null }
}

/** PostgreSQL cannot store NUL or unpaired surrogates in a text. */
function storable(text: string): string {
  return text.replaceAll('\0', '\ufffd').toWellFormed()
}

function isSuccess(status: number): boolean {
  return status >= 200 && status < 300
}

function headersOf(delivery: Claimed, unsealed: Unsealed, at: Date, body: Buffer): Record<string, string> {
  return {
    ...unsealed.headers,
    ...deliveryHeaders(
      { event: delivery.event, subscriptionId: delivery.batch.subscriptionId },
      secretsOf(delivery, unsealed, at),
      { messageId: delivery.eventId, at, body },
    ),
  }
}

function secretsOf({ batch: { target } }: Claimed, { secret, previousSecret }: Unsealed, at: Date): SigningSecrets {
  const { previousUntil, switchAt } = target
  if (previousSecret === null || previousUntil === null || previousUntil <= at) {
    return { primary: secret, valid: [secret] }
  }
  return { primary: switchAt !== null && switchAt > at ? previousSecret : secret, valid: [secret, previousSecret] }
}
