import { Agent, request } from 'undici'
import { OutboundError } from './client.ts'
import { checkedLookup, createAddressFinder, type Resolve } from './resolve.ts'
import { firstOfEach, readWhole } from './response.ts'
import { checkUrl, RefusedAddress, type UrlRules } from './urls.ts'

/** A few megabytes take a while on a slow line. */
const EXCHANGE_MS_MAX = 120_000
const CONNECT_MS_MAX = 10_000
const BODY_MEBIBYTES_MAX = 1
const KEEP_ALIVE_MS = 4_000

interface TransferOptions extends UrlRules {
  resolve?: Resolve
  /** Certificate authorities to trust instead of the default ones. */
  ca?: string
}

export interface TransferResponse {
  status: number
  /** By name in lower case; the first value of each. */
  headers: Record<string, string>
  body: Buffer
}

interface TransferCall {
  method: 'GET' | 'PUT' | 'POST' | 'DELETE'
  url: string
  headers: Record<string, string>
  body?: Buffer
  signal?: AbortSignal | undefined
}

/** Sends files to storage that a user named, under the same rules as calls to URLs from users. */
export interface Transfer {
  /** Checks a URL when a user sets it. @throws RefusedAddress */
  check(url: string): Promise<void>
  /**
   * One request with its whole response, of up to 1 MiB and two minutes. Redirects are not followed.
   * @throws RefusedAddress; OutboundError if there is no complete response.
   */
  send(call: TransferCall): Promise<TransferResponse>
  close(): Promise<void>
}

/** Opens the client. It opens no connection until it is used. */
export function createTransfer({ resolve, ca, ...rules }: TransferOptions): Transfer {
  const find = createAddressFinder({ allowPrivate: rules.allowPrivate, ...(resolve ? { resolve } : {}) })
  const agent = new Agent({
    connect: { lookup: checkedLookup(find), timeout: CONNECT_MS_MAX, ...(ca === undefined ? {} : { ca }) },
    allowH2: false,
    headersTimeout: EXCHANGE_MS_MAX,
    bodyTimeout: EXCHANGE_MS_MAX,
    keepAliveTimeout: KEEP_ALIVE_MS,
    keepAliveMaxTimeout: KEEP_ALIVE_MS,
  })
  return {
    check: async (text) => {
      const { hostname } = checkUrl(text, rules)
      await find(hostname.replace(/^\[|\]$/g, '')).catch((error: unknown) => {
        // A name that does not resolve now passes, because each call checks again.
        if (error instanceof RefusedAddress) throw error
      })
    },
    send: async ({ method, url, headers, body, signal }) => {
      const limit = AbortSignal.timeout(EXCHANGE_MS_MAX)
      try {
        const response = await request(checkUrl(url, rules), {
          method,
          headers,
          ...(body === undefined ? {} : { body }),
          signal: signal ? AbortSignal.any([signal, limit]) : limit,
          dispatcher: agent,
        })
        return {
          status: response.statusCode,
          headers: firstOfEach(response.headers),
          body: await readWhole(response.body, BODY_MEBIBYTES_MAX),
        }
      } catch (error) {
        if (signal?.aborted) throw signal.reason
        throw asOutbound(error, limit.aborted)
      }
    },
    close: () => agent.destroy(),
  }
}

function asOutbound(error: unknown, timedOut: boolean): Error {
  if (error instanceof RefusedAddress || error instanceof OutboundError) return error
  if (timedOut) return new OutboundError('timeout', 'No complete response within 2 minutes.', null, error)
  const first = error instanceof AggregateError ? error.errors[0] : error
  if (first instanceof RefusedAddress) return first
  const { code = 'failed', message } = first as { code?: string; message: string }
  return new OutboundError(code, message, null, error)
}
