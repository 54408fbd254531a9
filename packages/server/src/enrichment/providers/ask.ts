import { RETRY_MS_UNKNOWN, retryAfter } from '../../connectors/client.ts'
import { storableTree } from '../../conversations/clean.ts'
import { OutboundError } from '../../platform/outbound/client.ts'
import type { JsonApi, JsonResponse } from '../../platform/outbound/json-api.ts'
import { RefusedAddress } from '../../platform/outbound/urls.ts'
import { HOUR_MS } from '../../platform/time.ts'
import type { ProviderKind } from './kinds.ts'
import type { Question } from './question.ts'
import { type Secrets, withoutSecrets } from './secrets.ts'

/** A person waits for it. */
const TIMEOUT_MS = 10_000
/** An answer is stored with its contact, of at most 256 KiB. */
const ANSWER_MEBIBYTES_MAX = 0.25

/** A request without an answer. The message has neither a secret nor a text of the provider, which could repeat one. */
export interface Failure {
  code: string
  message: string
  /** Whether it says something of the provider, so that others would fail too, and this one may succeed later. */
  isOfProvider: boolean
  /** Until when the provider wants no request. */
  pauseUntil: Date | null
}

/** What a provider answered: JSON, or null if it knows nothing. */
export type Reply = { answer: unknown } | { failure: Failure }

/** Sends a question. It never throws for what the provider does. */
export async function ask(
  api: JsonApi,
  kind: ProviderKind,
  { url, headers }: Question,
  secrets: Secrets,
  now: Date,
): Promise<Reply> {
  try {
    const limits = { timeoutMs: TIMEOUT_MS, mebibytesMax: ANSWER_MEBIBYTES_MAX }
    const response = await api.call({ method: 'GET', url, headers, ...limits })
    return replyOf(kind, response, secrets, now)
  } catch (error) {
    if (error instanceof RefusedAddress) return failed('url_not_allowed', error.message)
    if (!(error instanceof OutboundError)) throw error
    if (error.code === 'too_long') return failed('provider_response_too_long', 'The response is longer than 256 KiB.')
    if (error.code === 'timeout') {
      return failed('provider_timeout', `There was no complete response within ${TIMEOUT_MS / 1_000} seconds.`, true)
    }
    return failed('provider_unreachable', `The connection failed (${error.code}).`, true)
  }
}

function replyOf(kind: ProviderKind, response: JsonResponse, secrets: Secrets, now: Date): Reply {
  const { status, body } = response
  if (kind.notFound.includes(status)) return { answer: null }
  if (kind.rateLimited.includes(status)) {
    const until = retryAfter({ ...response, status: 429 }, now, RETRY_MS_UNKNOWN)
    return failed('provider_rate_limited', `The provider wants fewer requests (status ${status}).`, true, until)
  }
  if (kind.overQuota.includes(status)) {
    const message = `The quota of your plan with the provider is used up (status ${status}).`
    return failed('provider_over_quota', message, true, new Date(now.getTime() + HOUR_MS))
  }
  if (kind.keyRefused.includes(status)) {
    const message = `The provider refused the key (status ${status}). Enter another one.`
    return failed('provider_key_refused', message, true, new Date(now.getTime() + HOUR_MS))
  }
  if (status >= 500) return failed('provider_unavailable', `The provider has a problem (status ${status}).`, true)
  if (status >= 300 && status < 400) {
    return failed('provider_redirected', `The provider redirected the request (status ${status}). Enter the final URL.`)
  }
  if (status >= 400) return failed('provider_refused', `The provider refused the request (status ${status}).`)
  if (typeof body !== 'object' || body === null) {
    return failed('provider_response_not_json', 'The response is not a JSON object or list.')
  }
  return { answer: withoutSecrets(storableTree(body), secrets) }
}

function failed(code: string, message: string, isOfProvider = false, pauseUntil: Date | null = null): Reply {
  return { failure: { code, message, isOfProvider, pauseUntil } }
}
