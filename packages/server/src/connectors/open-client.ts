import { storableTree } from '../conversations/clean.ts'
import { isObject } from '../platform/is-object.ts'
import type { JsonApi, JsonCall, JsonResponse } from '../platform/outbound/json-api.ts'
import { type Clock, DAY_MS, MINUTE_MS } from '../platform/time.ts'
import type { Timer } from '../platform/timer.ts'
import {
  ApiRefused,
  type Client,
  RateLimited,
  RETRY_MS_UNKNOWN,
  type Request,
  retryAfter,
  SignedOut,
} from './client.ts'
import type { Connector, Credentials, Settings } from './connector.ts'

/** A longer wait ends the job, and a later job continues. */
const WAIT_MS_MAX = MINUTE_MS
/** No rate limit lasts longer than a day. A later time is an error of the system, and would stop the connection for good. */
const LIMIT_MS_MAX = DAY_MS
/** How many times a request waits for a rate limit. Then the connection pauses: some systems block clients that keep retrying. */
const WAITS_MAX = 10
const BLOCKED_MS = 10 * MINUTE_MS
const SERVER_RETRIES_MAX = 2
const SERVER_RETRY_MS = 1_000
const REPLY_LENGTH_MAX = 300
/** Two concurrent pulls can use twice this on disk. */
const DOWNLOAD_BYTES_MAX = 4 * 1024 ** 3

/** Provides the credentials, and renews them. */
export interface SignIn {
  current(): Promise<Credentials>
  /** Renews refused credentials. @returns null if they cannot be renewed. @throws SignedOut, RenewalFailed */
  renew(refused: Credentials): Promise<Credentials | null>
}

export interface ClientOptions {
  connector: Connector
  settings: Settings
  signIn: SignIn
  api: JsonApi
  clock: Clock
  /** For the pauses between requests. */
  timer: Timer
  signal: AbortSignal
  /** For tests: where the API is. */
  baseUrl?: string | undefined
}

export function openClient({ connector, settings, signIn, api, clock, timer, signal, baseUrl }: ClientOptions): Client {
  const baseOf = (host: string | undefined) =>
    baseUrl ?? (host === undefined ? connector.baseUrl(settings) : (connector.otherUrls?.(settings)[host] ?? ''))
  let nextAt = 0
  let limitedUntil = new Date(0)

  function waitUntil(until: Date): void {
    limitedUntil = until
    // The clock is read before the timer: whatever passes between the two makes the wait longer, never shorter.
    const wait = until.getTime() - clock().getTime()
    nextAt = Math.max(nextAt, timer.now() + wait)
  }

  async function waitForTurn(): Promise<void> {
    signal.throwIfAborted()
    const wait = nextAt - timer.now()
    if (wait > WAIT_MS_MAX) throw new RateLimited(connector.label, limitedUntil)
    nextAt = Math.max(nextAt, timer.now()) + connector.pauseMs
    if (wait > 0) await timer.sleep(wait, signal)
  }

  async function send<Received extends JsonResponse>(
    request: Request,
    credentials: Credentials,
    exchange: (call: JsonCall) => Promise<Received>,
  ): Promise<Received> {
    const { method = request.body === undefined ? 'GET' : 'POST', body, timeoutMs } = request
    const headers = { ...connector.headers(credentials, settings), ...request.headers }
    const url = urlOf(baseOf(request.host), request)
    const isRead = method === 'GET' || request.isRead === true
    const more = { ...(body === undefined ? {} : { body }), ...(timeoutMs === undefined ? {} : { timeoutMs }) }
    for (let waits = 0, retries = 0; ; ) {
      await waitForTurn()
      const response = await exchange({ method, url, headers, signal, ...more })
      const until = bounded((connector.retryAt ?? retryAfter)(response, clock()), clock())
      if (until !== null) {
        waitUntil(until)
        const blockedUntil = new Date(clock().getTime() + BLOCKED_MS)
        if (waits++ === WAITS_MAX) throw new RateLimited(connector.label, until > blockedUntil ? until : blockedUntil)
        continue
      }
      const next = bounded(connector.nextAt?.(response, clock()) ?? null, clock())
      if (next !== null) waitUntil(next)
      // A write may have succeeded even if the response is an error, so only reads are retried here.
      if (response.status < 500 || !isRead || retries === SERVER_RETRIES_MAX) return response
      await timer.sleep(SERVER_RETRY_MS * 2 ** retries++, signal)
    }
  }

  /** @returns the response to a request that succeeded. */
  async function responseTo<Received extends JsonResponse>(
    request: Request,
    exchange: (call: JsonCall) => Promise<Received>,
  ): Promise<{ response: Received; refused: () => ApiRefused }> {
    let credentials = await signIn.current()
    let response = await send(request, credentials, exchange)
    if (response.status === 401) {
      const renewed = await signIn.renew(credentials)
      if (renewed === null) throw new SignedOut(explain(connector, response, credentials))
      credentials = renewed
      response = await send(request, credentials, exchange)
      if (response.status === 401) throw new SignedOut(explain(connector, response, credentials))
    }
    const refused = () => new ApiRefused(response.status, explain(connector, response, credentials), response.body)
    if (response.status < 200 || response.status >= 300) throw refused()
    return { response, refused }
  }

  return {
    call: async (request) => {
      const { response, refused } = await responseTo(request, api.call)
      if (response.status === 204) return {}
      if (isObject(response.body)) return storableTree(response.body) as Record<string, unknown>
      throw refused()
    },
    callList: async (request) => {
      const { response, refused } = await responseTo(request, api.call)
      if (Array.isArray(response.body)) return storableTree(response.body) as unknown[]
      throw refused()
    },
    callText: async (request) => {
      const { response, refused } = await responseTo(request, (call) => api.call({ ...call, isText: true }))
      if (typeof response.body !== 'string') throw refused()
      return { headers: response.headers, text: storableTree(response.body) as string }
    },
    pause: (milliseconds) => timer.sleep(milliseconds, signal),
    download: async (request) => {
      const { response, refused } = await responseTo(request, (call) => api.download(call, DOWNLOAD_BYTES_MAX))
      if (response.file === null) throw refused()
      return response.file
    },
  }
}

/** Limits the time at which a system says that it accepts requests again. An invalid time becomes a short wait. */
function bounded(until: Date | null, now: Date): Date | null {
  if (until === null) return null
  const waitMs = until.getTime() - now.getTime()
  return new Date(now.getTime() + (Number.isNaN(waitMs) ? RETRY_MS_UNKNOWN : Math.min(waitMs, LIMIT_MS_MAX)))
}

/** Absolute URLs, such as the URL of a next page, must stay on the host, because the credentials are sent to them. */
function urlOf(base: string, { path, query = {} }: Request): string {
  const url = /^https?:/.test(path) ? new URL(path) : new URL(`${base.replace(/\/$/, '')}${path}`)
  if (url.origin !== new URL(base).origin)
    throw new ApiRefused(0, `The API returned a next page on another host, ${url.host}.`)
  for (const [name, value] of Object.entries(query)) {
    if (value !== undefined) url.searchParams.set(name, String(value))
  }
  return url.href
}

function explain(connector: Connector, response: JsonResponse, credentials: Credentials): string {
  const { status, body } = response
  const reply = connector.explain?.(response) ?? replyOf(body)
  const cleaned = Object.values(credentials)
    .filter((secret) => secret !== '')
    .reduce((text, secret) => text.replaceAll(secret, '[secret]'), reply)
    .replace(/[\p{Cc}\s]+/gu, ' ')
    .trim()
    .toWellFormed()
    .slice(0, REPLY_LENGTH_MAX)
  return `${connector.label} responded with status ${status}${cleaned === '' ? '.' : `: ${cleaned}`}`
}

function replyOf(body: unknown): string {
  const [first] = Array.isArray(body) ? (body as unknown[]) : [body]
  if (!isObject(first)) return ''
  return (
    ([first.message, first.error_description, first.error].find((text) => typeof text === 'string') as string) ?? ''
  )
}
