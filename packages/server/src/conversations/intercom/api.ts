import type { JsonAnswer, JsonApi } from '../../platform/outbound/json-api.ts'
import { storableTree } from './storable-tree.ts'

/** The version of the API that this is written against; Intercom keeps old ones. */
const VERSION = '2.14'
const PAGE = 150
const WAIT_MS_MAX = 60_000
const WAIT_MS_UNKNOWN = 10_000
const REPEATS_MAX = 10

/** Where a workspace is hosted. */
export const REGIONS = {
  us: 'https://api.intercom.io',
  eu: 'https://api.eu.intercom.io',
  au: 'https://api.au.intercom.io',
} as const

export type Region = keyof typeof REGIONS

/** What Intercom answers to a call that it does not serve. The message holds no token. */
export class IntercomError extends Error {
  readonly status: number

  constructor(status: number, message: string) {
    super(message)
    this.name = 'IntercomError'
    this.status = status
  }
}

/** More calls than Intercom takes: go on after that moment. */
export class RateLimited extends Error {
  readonly until: Date

  constructor(until: Date) {
    super('Intercom takes no more calls at the moment.')
    this.name = 'RateLimited'
    this.until = until
  }
}

export interface SearchPage {
  items: Record<string, unknown>[]
  /** null: this was the last page. */
  cursor: string | null
}

export interface Intercom {
  /** Who the token belongs to. @throws IntercomError */
  me(): Promise<Record<string, unknown>>
  /** Contacts or conversations changed after a moment, those changed first first. */
  changedAfter(what: 'contacts' | 'conversations', afterSeconds: number, cursor: string | null): Promise<SearchPage>
  /** A conversation with its parts; null when it is gone. */
  conversation(id: string): Promise<Record<string, unknown> | null>
}

interface Options {
  api: JsonApi
  baseUrl: string
  token: string
  signal: AbortSignal
}

/**
 * Intercom's REST API. It says with every answer how many calls are left until when; the calls wait where there are
 * none, and a call that was refused for that (429) is made again.
 */
export function openIntercom({ api, baseUrl, token, signal }: Options): Intercom {
  let freeAt = 0

  async function call(method: 'GET' | 'POST', path: string, body?: unknown): Promise<JsonAnswer> {
    for (let repeat = 0; ; repeat++) {
      await waitUntil(freeAt, signal)
      const headers = { authorization: `Bearer ${token}`, 'intercom-version': VERSION }
      const url = `${baseUrl}${path}`
      const answer = await api.call({ method, url, headers, signal, ...(body === undefined ? {} : { body }) })
      const { 'x-ratelimit-remaining': remaining, 'x-ratelimit-reset': reset } = answer.headers
      const isRefused = answer.status === 429
      if (isRefused || remaining === '0') freeAt = momentOf(reset)
      if (!isRefused) return answer
      if (repeat === REPEATS_MAX) throw new RateLimited(new Date(freeAt))
    }
  }

  async function ask(method: 'GET' | 'POST', path: string, body?: unknown): Promise<Record<string, unknown>> {
    const answer = await call(method, path, body)
    if (answer.status === 200 && isObject(answer.body)) return storableTree(answer.body) as Record<string, unknown>
    throw new IntercomError(answer.status, explain(answer, token))
  }

  return {
    me: () => ask('GET', '/me'),
    changedAfter: async (what, afterSeconds, cursor) => {
      const answer = await ask('POST', `/${what}/search`, {
        query: { field: 'updated_at', operator: '>', value: afterSeconds },
        sort: { field: 'updated_at', order: 'ascending' },
        pagination: { per_page: PAGE, ...(cursor === null ? {} : { starting_after: cursor }) },
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
        return await ask('GET', `/conversations/${encodeURIComponent(id)}`)
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

/** A moment in seconds since 1970, as Intercom has it. Without one: in ten seconds, the length of its window. */
function momentOf(reset: string | undefined): number {
  const seconds = Number(reset)
  return reset !== undefined && Number.isFinite(seconds) ? seconds * 1000 : Date.now() + WAIT_MS_UNKNOWN
}

async function waitUntil(moment: number, signal: AbortSignal): Promise<void> {
  signal.throwIfAborted()
  const milliseconds = moment - Date.now()
  if (milliseconds <= 0) return
  if (milliseconds > WAIT_MS_MAX) throw new RateLimited(new Date(moment))
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
  const said = isObject(first) && typeof first.message === 'string' ? first.message : ''
  const cleaned = said
    .replaceAll(token, '[token]')
    .replace(/[\p{Cc}\s]+/gu, ' ')
    .toWellFormed()
    .slice(0, 300)
  return cleaned === '' ? `Intercom answered ${status}.` : `Intercom answered ${status}: ${cleaned}`
}
