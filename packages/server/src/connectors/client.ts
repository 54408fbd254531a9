import { isObject } from '../platform/is-object.ts'
import { OutboundError } from '../platform/outbound/client.ts'
import type { Download } from '../platform/outbound/download.ts'
import type { JsonResponse } from '../platform/outbound/json-api.ts'

/** The wait if a system does not state one. */
export const RETRY_MS_UNKNOWN = 10_000
const PROBLEM_LENGTH_MAX = 500

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
  /** The same for a response that is a list. */
  callList(request: Request): Promise<unknown[]>
  /** The same for a response that is not JSON, such as CSV, of at most 32 MiB. */
  callText(request: Request): Promise<TextResponse>
  /** Waits while the system works on a request. */
  pause(milliseconds: number): Promise<void>
  /**
   * Like `call`, but stores the response in a file, which the caller closes.
   * @throws ApiRefused, RateLimited, SignedOut, OutboundError.
   */
  download(request: Request): Promise<Download>
}

interface TextResponse {
  /** By name in lower case. */
  headers: Record<string, string>
  text: string
}

type Json = Record<string, unknown>

/** When a rate-limited request may be retried: Retry-After in seconds or as a date, or else after `unknownMs`. */
export function retryAfter({ status, headers }: JsonResponse, now: Date, unknownMs = RETRY_MS_UNKNOWN): Date | null {
  if (status !== 429) return null
  const sent = headers['retry-after'] ?? ''
  const seconds = Number(sent)
  if (sent !== '' && Number.isFinite(seconds)) return new Date(now.getTime() + Math.max(0, seconds) * 1_000)
  const date = Date.parse(sent)
  return new Date(Number.isNaN(date) ? now.getTime() + unknownMs : date)
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
