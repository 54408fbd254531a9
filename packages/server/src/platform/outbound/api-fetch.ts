import { isIP } from 'node:net'
import { Agent, type Dispatcher, request } from 'undici'
import { checkedLookup, createAddressFinder, type Resolve } from './resolve.ts'
import { checkUrl, hostOf, RefusedAddress, type UrlRules } from './urls.ts'

/** A language model may take a while before its first byte. */
const EXCHANGE_MS_MAX = 120_000
const CONNECT_MS_MAX = 10_000
const BODY_BYTES_MAX = 4 * 1024 * 1024
const KEEP_ALIVE_MS = 4_000
const RESOLVE_AT_FIRST_MS_MAX = 3_000

interface ApiFetchOptions extends UrlRules {
  resolve?: Resolve
  /** Certificate authorities to trust instead of the default ones. */
  ca?: string
}

/** Calls JSON APIs under the rules of platform/outbound, for libraries that need a `fetch`. */
export interface ApiFetch {
  /** Checks a URL when a user sets it. @throws RefusedAddress */
  check(url: string): Promise<void>
  /**
   * POSTs text and reads the whole response, of up to 4 MiB and two minutes. Redirects are not followed.
   * @throws RefusedAddress; TypeError, like fetch, if there is no response.
   */
  fetch(url: string | URL | Request, init?: RequestInit): Promise<Response>
  close(): Promise<void>
}

/** Opens the client. It opens no connection until it is used. */
export function createApiFetch({ resolve, ca, ...rules }: ApiFetchOptions): ApiFetch {
  const checkedAddresses = createAddressFinder({
    allowPrivate: rules.allowPrivate,
    ...(resolve ? { resolve } : {}),
  })
  const agent = new Agent({
    connect: { lookup: checkedLookup(checkedAddresses), timeout: CONNECT_MS_MAX, ...(ca === undefined ? {} : { ca }) },
    allowH2: false,
    headersTimeout: EXCHANGE_MS_MAX,
    bodyTimeout: EXCHANGE_MS_MAX,
    keepAliveTimeout: KEEP_ALIVE_MS,
    keepAliveMaxTimeout: KEEP_ALIVE_MS,
  })
  return {
    check: async (text) => {
      const host = hostOf(checkUrl(text, rules))
      if (rules.allowPrivate || isIP(host) !== 0) return
      // A name that does not resolve now passes, because each call checks again.
      await Promise.race([checkedAddresses(host), wait(RESOLVE_AT_FIRST_MS_MAX)]).catch((error: unknown) => {
        if (error instanceof RefusedAddress) throw error
      })
    },
    fetch: async (target, init = {}) => {
      const url = checkUrl(target instanceof Request ? target.url : String(target), rules)
      const { method = 'GET', headers, body, signal } = init
      if (typeof body !== 'string') throw new TypeError('Only text can be sent.')
      const limit = AbortSignal.timeout(EXCHANGE_MS_MAX)
      try {
        const response = await request(url, {
          method: method as Dispatcher.HttpMethod,
          headers: Object.fromEntries(new Headers(headers)),
          body,
          signal: signal ? AbortSignal.any([signal, limit]) : limit,
          dispatcher: agent,
        })
        const bytes = await readAll(response.body)
        const received = Object.entries(response.headers).flatMap(([name, value]) =>
          typeof value === 'string' ? [[name, value] as [string, string]] : [],
        )
        return new Response(bytes, { status: response.statusCode, headers: received })
      } catch (error) {
        if (error instanceof RefusedAddress) throw error
        if (signal?.aborted) throw signal.reason
        throw new TypeError('fetch failed', { cause: error })
      }
    },
    close: () => agent.destroy(),
  }
}

async function readAll(body: Dispatcher.ResponseData['body']): Promise<Buffer<ArrayBuffer>> {
  const chunks: Buffer[] = []
  let length = 0
  for await (const chunk of body) {
    chunks.push(chunk as Buffer)
    length += (chunk as Buffer).length
    // Exiting the loop destroys the stream.
    if (length > BODY_BYTES_MAX) throw new Error(`The response is longer than ${BODY_BYTES_MAX} bytes.`)
  }
  return Buffer.concat(chunks)
}

function wait(milliseconds: number): Promise<void> {
  return new Promise((resolve) => {
    setTimeout(resolve, milliseconds).unref()
  })
}
