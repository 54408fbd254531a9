import type { JsonAnswer, JsonApi } from '../../platform/outbound/json-api.ts'
import { storableTree } from '../clean.ts'

/** The API version that this code uses. Intercom supports old versions. */
const VERSION = '2.14'
const PAGE_SIZE = 150
const WAIT_MS_MAX = 60_000
const WAIT_MS_UNKNOWN = 10_000
const RETRIES_MAX = 10

/** The API's base URL in each hosting region. */
export const REGIONS = {
  us: 'https://api.intercom.io',
  eu: 'https://api.eu.intercom.io',
  au: 'https://api.au.intercom.io',
} as const

export type Region = keyof typeof REGIONS

/** An error response of Intercom. The message does not contain the token. */
export class IntercomError extends Error {
  readonly status: number

  constructor(status: number, message: string) {
    super(message)
    this.name = 'IntercomError'
    this.status = status
  }
}

/** Intercom's rate limit is exceeded until the given time. */
export class RateLimited extends Error {
  readonly until: Date

  constructor(until: Date) {
    super("Intercom's rate limit is exceeded.")
    this.name = 'RateLimited'
    this.until = until
  }
}

export interface SearchPage {
  items: Record<string, unknown>[]
  /** null on the last page. */
  cursor: string | null
}

export interface Intercom {
  /** The owner of the token. @throws IntercomError */
  me(): Promise<Record<string, unknown>>
  /** Contacts or conversations changed after a time, in the order of their changes. */
  changedAfter(what: 'contacts' | 'conversations', afterSeconds: number, cursor: string | null): Promise<SearchPage>
  /** A conversation with its parts; null if it no longer exists. */
  conversation(id: string): Promise<Record<string, unknown> | null>
}

interface Options {
  api: JsonApi
  baseUrl: string
  token: string
  signal: AbortSignal
}

/**
 * Intercom's REST API. Every response says how many calls are left and when the limit is reset. Calls wait if none are
 * left, and retry if they are rate-limited (429).
 */
export function openIntercom({ api, baseUrl, token, signal }: Options): Intercom {
  let availableAt = 0

  async function call(method: 'GET' | 'POST', path: string, body?: unknown): Promise<JsonAnswer> {
    for (let retry = 0; ; retry++) {
      await waitUntil(availableAt, signal)
      const headers = { authorization: `Bearer ${token}`, 'intercom-version': VERSION }
      const url = `${baseUrl}${path}`
      const answer = await api.call({ method, url, headers, signal, ...(body === undefined ? {} : { body }) })
      const { 'x-ratelimit-remaining': remaining, 'x-ratelimit-reset': reset } = answer.headers
      const isRateLimited = answer.status === 429
      if (isRateLimited || remaining === '0') availableAt = resetTimeOf(reset)
      if (!isRateLimited) return answer
      if (retry === RETRIES_MAX) throw new RateLimited(new Date(availableAt))
    }
  }

  async function request(method: 'GET' | 'POST', path: string, body?: unknown): Promise<Record<string, unknown>> {
    const answer = await call(method, path, body)
    if (answer.status === 200 && isObject(answer.body)) return storableTree(answer.body) as Record<string, unknown>
    throw new IntercomError(answer.status, explain(answer, token))
  }

  return {
    me: () => request('GET', '/me'),
    changedAfter: async (what, afterSeconds, cursor) => {
      const answer = await request('POST', `/${what}/search`, {
        query: { field: 'updated_at', operator: '>', value: afterSeconds },
        sort: { field: 'updated_at', order: 'ascending' },
        pagination: { per_page: PAGE_SIZE, ...(cursor === null ? {} : { starting_after: cursor }) },
      })
      const items = what === 'contacts' ? answer.data : answer.conversations
      const next = isObject(answer.pages) && isObject(answer.pages.next) ? answer.pages.next.starting_after : null
      return {
        items: Array.isArray(items) ? items.filter(isObject) : [],
        cursor: typeof next === 'string' && next !== '' ? next : null,
      }
    },
    conversation: async (id) => {
      try {
        return await request('GET', `/conversations/${encodeURIComponent(id)}`)
      } catch (error) {
        if (error instanceof IntercomError && error.status === 404) return null
        throw error
      }
    },
  }
}

export function isObject(value: unknown): value is Record<string, unknown> {
  return value !== null && typeof value === 'object' && !Array.isArray(value)
}

/** Parses a reset time in seconds since 1970. The default is in ten seconds, the length of Intercom's window. */
function resetTimeOf(reset: string | undefined): number {
  const seconds = Number(reset)
  return reset !== undefined && Number.isFinite(seconds) ? seconds * 1000 : Date.now() + WAIT_MS_UNKNOWN
}

async function waitUntil(timeMs: number, signal: AbortSignal): Promise<void> {
  signal.throwIfAborted()
  const milliseconds = timeMs - Date.now()
  if (milliseconds <= 0) return
  if (milliseconds > WAIT_MS_MAX) throw new RateLimited(new Date(timeMs))
  await new Promise<void>((resolve, reject) => {
    const stop = () => {
      clearTimeout(timer)
      reject(signal.reason)
    }
    const timer = setTimeout(() => {
      signal.removeEventListener('abort', stop)
      resolve()
    }, milliseconds)
    signal.addEventListener('abort', stop, { once: true })
  })
}

function explain({ status, body }: JsonAnswer, token: string): string {
  const [first] = isObject(body) && Array.isArray(body.errors) ? (body.errors as unknown[]) : []
  const reply = isObject(first) && typeof first.message === 'string' ? first.message : ''
  const cleaned = reply
    .replaceAll(token, '[token]')
    .replace(/[\p{Cc}\s]+/gu, ' ')
    .toWellFormed()
    .slice(0, 300)
  return cleaned === ''
    ? `Intercom responded with status ${status}.`
    : `Intercom responded with status ${status}: ${cleaned}`
}
