import { setTimeout as sleep } from 'node:timers/promises'
import { storableTree } from '../conversations/clean.ts'
import { OutboundError } from '../platform/outbound/client.ts'
import type { Download } from '../platform/outbound/download.ts'
import type { JsonAnswer, JsonApi, JsonCall } from '../platform/outbound/json-api.ts'
import { type Clock, DAY_MS, MINUTE_MS } from '../platform/time.ts'
import type { Connector, Credentials, Settings } from './connector.ts'

/** A longer wait ends the job, and a later job continues. */
const WAIT_MS_MAX = MINUTE_MS
const RETRY_MS_UNKNOWN = 10_000
/** No rate limit lasts longer than a day. A later time is an error of the system, and would stop the connection for good. */
const LIMIT_MS_MAX = DAY_MS
/** How many times a request waits for a rate limit. Then the connection pauses: some systems block clients that keep retrying. */
const WAITS_MAX = 10
const BLOCKED_MS = 10 * MINUTE_MS
const SERVER_RETRIES_MAX = 2
const SERVER_RETRY_MS = 1_000
const REPLY_LENGTH_MAX = 300
const PROBLEM_LENGTH_MAX = 500
/** Two concurrent pulls can use twice this on disk. */
const DOWNLOAD_BYTES_MAX = 4 * 1024 ** 3

/** An error response from a connected system. The message does not contain credentials. */
export class ApiRefused extends Error {
  readonly status: number
  readonly body: unknown

  constructor(status: number, message: string, body: unknown = undefined) {
    super(message)
    this.name = 'ApiRefused'
    this.status = status
    this.body = body
  }
}

/** Whether the system permanently refuses this request, for example because the sign-in may not read the records. */
export function isRefusal(error: unknown): error is ApiRefused {
  if (!(error instanceof ApiRefused) || error.status < 400 || error.status >= 500) return false
  return ![401, 408, 429].includes(error.status)
}

/** The connected system accepts no request before `until`. */
export class RateLimited extends Error {
  readonly until: Date

  constructor(label: string, until: Date) {
    super(`The rate limit of ${label} is exceeded.`)
    this.name = 'RateLimited'
    this.until = until
  }
}

/** The sign-in is no longer valid. Only a person can sign in again. */
export class SignedOut extends Error {}

/** The sign-in could not be renewed this time, such as while the provider is down. It may still be valid. */
export class RenewalFailed extends Error {}

export interface Request {
  method?: 'GET' | 'POST' | 'PATCH' | 'DELETE'
  /** Relative to the connector's base URL, or an absolute URL on its host. */
  path: string
  query?: Readonly<Record<string, string | number | undefined>>
  body?: unknown
  headers?: Record<string, string>
  /** One of the connector's `otherUrls` in place of the base URL. */
  host?: string
  /** A POST that only reads, so it is retried like a GET. */
  isRead?: boolean
  /** For slow APIs. Default: 30 seconds. */
  timeoutMs?: number
}

/** Calls the API of a connected system. */
export interface Client {
  /**
   * Calls the API. It spaces out requests, waits for rate limits, retries reads after server errors, and renews an expired
   * access token.
   * @returns the JSON of the response, without characters that PostgreSQL cannot store.
   * @throws ApiRefused, RateLimited, SignedOut, OutboundError.
   */
  call(request: Request): Promise<Json>
  /** The same for a response that is not JSON, such as CSV, of at most 32 MiB. */
  callText(request: Request): Promise<TextAnswer>
  /** Waits while the system works on a request. */
  pause(milliseconds: number): Promise<void>
  /**
   * Like `call`, but stores the response in a file, which the caller closes.
   * @throws ApiRefused, RateLimited, SignedOut, OutboundError.
   */
  download(request: Request): Promise<Download>
}

interface TextAnswer {
  /** By name in lower case. */
  headers: Record<string, string>
  text: string
}

type Json = Record<string, unknown>

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
  signal: AbortSignal
  /** For tests: where the API is. */
  baseUrl?: string | undefined
}

export function openClient({ connector, settings, signIn, api, clock, signal, baseUrl }: ClientOptions): Client {
  const baseOf = (host: string | undefined) =>
    baseUrl ?? (host === undefined ? connector.baseUrl(settings) : (connector.otherUrls?.(settings)[host] ?? ''))
  let nextAt = 0
  let limitedUntil = new Date(0)

  function waitUntil(until: Date): void {
    limitedUntil = until
    nextAt = Math.max(nextAt, Date.now() + until.getTime() - clock().getTime())
  }

  async function waitForTurn(): Promise<void> {
    signal.throwIfAborted()
    const wait = nextAt - Date.now()
    if (wait > WAIT_MS_MAX) throw new RateLimited(connector.label, limitedUntil)
    nextAt = Math.max(nextAt, Date.now()) + connector.pauseMs
    if (wait > 0) await sleep(wait, undefined, { signal })
  }

  async function send<Answer extends JsonAnswer>(
    request: Request,
    credentials: Credentials,
    exchange: (call: JsonCall) => Promise<Answer>,
  ): Promise<Answer> {
    const { method = request.body === undefined ? 'GET' : 'POST', body, timeoutMs } = request
    const headers = { ...connector.headers(credentials, settings), ...request.headers }
    const url = urlOf(baseOf(request.host), request)
    const isRead = method === 'GET' || request.isRead === true
    const more = { ...(body === undefined ? {} : { body }), ...(timeoutMs === undefined ? {} : { timeoutMs }) }
    for (let waits = 0, retries = 0; ; ) {
      await waitForTurn()
      const answer = await exchange({ method, url, headers, signal, ...more })
      const until = bounded((connector.retryAt ?? retryAfter)(answer, clock()), clock())
      if (until !== null) {
        waitUntil(until)
        const blockedUntil = new Date(clock().getTime() + BLOCKED_MS)
        if (waits++ === WAITS_MAX) throw new RateLimited(connector.label, until > blockedUntil ? until : blockedUntil)
        continue
      }
      const next = bounded(connector.nextAt?.(answer, clock()) ?? null, clock())
      if (next !== null) waitUntil(next)
      // A write may have succeeded even if the response is an error, so only reads are retried here.
      if (answer.status < 500 || !isRead || retries === SERVER_RETRIES_MAX) return answer
      await sleep(SERVER_RETRY_MS * 2 ** retries++, undefined, { signal })
    }
  }

  /** @returns the response to a request that succeeded. */
  async function answerTo<Answer extends JsonAnswer>(
    request: Request,
    exchange: (call: JsonCall) => Promise<Answer>,
  ): Promise<{ answer: Answer; refused: () => ApiRefused }> {
    let credentials = await signIn.current()
    let answer = await send(request, credentials, exchange)
    if (answer.status === 401) {
      const renewed = await signIn.renew(credentials)
      if (renewed === null) throw new SignedOut(explain(connector, answer, credentials))
      credentials = renewed
      answer = await send(request, credentials, exchange)
      if (answer.status === 401) throw new SignedOut(explain(connector, answer, credentials))
    }
    const refused = () => new ApiRefused(answer.status, explain(connector, answer, credentials), answer.body)
    if (answer.status < 200 || answer.status >= 300) throw refused()
    return { answer, refused }
  }

  return {
    call: async (request) => {
      const { answer, refused } = await answerTo(request, api.call)
      if (answer.status === 204) return {}
      if (isObject(answer.body)) return storableTree(answer.body) as Json
      throw refused()
    },
    callText: async (request) => {
      const { answer, refused } = await answerTo(request, (call) => api.call({ ...call, isText: true }))
      if (typeof answer.body !== 'string') throw refused()
      return { headers: answer.headers, text: storableTree(answer.body) as string }
    },
    pause: (milliseconds) => sleep(milliseconds, undefined, { signal }),
    download: async (request) => {
      const { answer, refused } = await answerTo(request, (call) => api.download(call, DOWNLOAD_BYTES_MAX))
      if (answer.file === null) throw refused()
      return answer.file
    },
  }
}

/** Limits the time at which a system says that it accepts requests again. An invalid time becomes a short wait. */
function bounded(until: Date | null, now: Date): Date | null {
  if (until === null) return null
  const waitMs = until.getTime() - now.getTime()
  return new Date(now.getTime() + (Number.isNaN(waitMs) ? RETRY_MS_UNKNOWN : Math.min(waitMs, LIMIT_MS_MAX)))
}

/** When a rate-limited request may be retried: Retry-After in seconds or as a date, or else after `unknownMs`. */
export function retryAfter({ status, headers }: JsonAnswer, now: Date, unknownMs = RETRY_MS_UNKNOWN): Date | null {
  if (status !== 429) return null
  const sent = headers['retry-after'] ?? ''
  const seconds = Number(sent)
  if (sent !== '' && Number.isFinite(seconds)) return new Date(now.getTime() + Math.max(0, seconds) * 1_000)
  const date = Date.parse(sent)
  return new Date(Number.isNaN(date) ? now.getTime() + unknownMs : date)
}

export function isObject(value: unknown): value is Record<string, unknown> {
  return value !== null && typeof value === 'object' && !Array.isArray(value)
}

/** The objects of a list; [] for anything else. */
export function objectsOf(value: unknown): Record<string, unknown>[] {
  return Array.isArray(value) ? value.filter(isObject) : []
}

/** A text or a number as text; null for anything else, and for an empty text. */
export function textOf(value: unknown): string | null {
  if (typeof value === 'number') return String(value)
  return typeof value === 'string' && value !== '' ? value : null
}

/** An error message for people; null for an unexpected error. */
export function problemOf(label: string, error: unknown): string | null {
  const isExplained = [ApiRefused, RateLimited, SignedOut, RenewalFailed].some((known) => error instanceof known)
  if (isExplained) return (error as Error).message
  if (error instanceof OutboundError)
    return `${label} could not be reached: ${error.message}`.slice(0, PROBLEM_LENGTH_MAX)
  return null
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

function explain(connector: Connector, answer: JsonAnswer, credentials: Credentials): string {
  const { status, body } = answer
  const reply = connector.explain?.(answer) ?? replyOf(body)
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
