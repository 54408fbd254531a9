import { subscribe, unsubscribe } from 'node:diagnostics_channel'
import { isIP } from 'node:net'
import { createSecureContext } from 'node:tls'
import { buildConnector } from 'undici'
import { createConnections } from './connections.ts'
import { ExchangeTimeout, exchange } from './exchange.ts'
import { checkedLookup, createAddressFinder, type Resolve, shareLookups } from './resolve.ts'
import { checkUrl, hostOf, RefusedAddress, type UrlRules } from './urls.ts'

/**
 * The limit for the whole exchange: DNS, connection, TLS, request, and the response, up to the headers of a 2xx, else
 * up to the last byte.
 */
const EXCHANGE_MS_MAX = 10_000
const BODY_BYTES_MAX = 16 * 1024
/** Shorter than servers keep idle connections (commonly 5 s): using one that they have just closed would fail. */
const KEEP_ALIVE_MS = 4_000
const RESOLVE_AT_FIRST_MS_MAX = 3_000
const URLS_REMEMBERED_MAX = 1_000

/** The bytes of one call, marked with the IP address that received them: a map would cost more garbage collection. */
const CALLED = Symbol('called')
type Sent = Buffer & { [CALLED]?: string | undefined }

export interface OutboundOptions extends UrlRules {
  resolve?: Resolve
  /** Certificate authorities to trust instead of the default ones. */
  ca?: string
}

export interface OutboundResponse {
  status: number
  /** The part of the body that is kept. */
  body: Buffer
  /** The IP address that was called. */
  address: string | null
}

/** A call without a complete response. `code` is stable; the message contains no secret. */
export class OutboundError extends Error {
  readonly code: string
  readonly address: string | null

  constructor(code: string, message: string, address: string | null, cause?: unknown) {
    super(message, { cause })
    this.name = 'OutboundError'
    this.code = code
    this.address = address
  }
}

/** The only way to call a URL from a user. */
export interface Outbound {
  /**
   * Checks a URL when a user sets it, including the current addresses of its host. A host that does not resolve now
   * passes, because each call checks again.
   * @throws RefusedAddress
   */
  check(url: string): Promise<void>
  /**
   * POSTs a body. Redirects are not followed.
   * @throws OutboundError if there is no response within ten seconds, or the address must not be called. A 2xx counts
   * once its headers arrive; its body may take another second.
   */
  post(url: string, headers: Record<string, string>, body: Buffer, signal?: AbortSignal): Promise<OutboundResponse>
  close(): Promise<void>
}

/**
 * Opens the guarded client. Every connection resolves its host again, checks every address found, and passes the
 * checked addresses to the socket, which prevents DNS rebinding. Connections are reused; proxies set in the environment
 * are not used, because addresses could not be checked behind a proxy.
 */
export function createOutbound({ allowPrivate, resolve, ca }: OutboundOptions): Outbound {
  const onSend = (message: unknown) => {
    const { request: sent, socket } = message as { request: { body: unknown }; socket: { remoteAddress?: string } }
    if (Buffer.isBuffer(sent.body)) (sent.body as Sent)[CALLED] = socket.remoteAddress
  }
  // A documented channel of undici, and the only source of the connection that sent a request.
  subscribe('undici:client:sendHeaders', onSend)

  const checkedAddresses = createAddressFinder({ allowPrivate, ...(resolve ? { resolve } : {}) })
  const lookup = checkedLookup(shareLookups(checkedAddresses))

  /** IP addresses in the URL are never looked up, so they are checked here, once. */
  const places = new Map<string, { origin: string; path: string }>()
  const placeOf = (text: string) => {
    const known = places.get(text)
    if (known) return known
    const { origin, pathname, search } = checkUrl(text, { allowPrivate })
    const place = { origin, path: pathname + search }
    if (places.size >= URLS_REMEMBERED_MAX) places.clear()
    places.set(text, place)
    return place
  }

  const connections = createConnections({
    // Created once: a context per connection costs more time and memory than its handshake, and prevents session
    // resumption.
    connect: buildConnector({
      lookup,
      timeout: EXCHANGE_MS_MAX,
      secureContext: createSecureContext({ ca }),
      allowH2: false,
    }),
    allowH2: false,
    pipelining: 1,
    headersTimeout: EXCHANGE_MS_MAX,
    bodyTimeout: EXCHANGE_MS_MAX,
    keepAliveTimeout: KEEP_ALIVE_MS,
    keepAliveMaxTimeout: KEEP_ALIVE_MS,
    maxHeaderSize: BODY_BYTES_MAX,
  })

  return {
    check: async (text) => {
      const host = hostOf(checkUrl(text, { allowPrivate }))
      if (allowPrivate || isIP(host) !== 0) return
      await within(RESOLVE_AT_FIRST_MS_MAX, checkedAddresses(host)).catch((error) => {
        if (error instanceof RefusedAddress) throw error
      })
    },
    post: async (text, headers, body, signal) => {
      // A separate object even if two calls share bytes, because it is used to find the address.
      const own: Sent = body.subarray()
      try {
        const place = placeOf(text)
        const limits = { timeoutMs: EXCHANGE_MS_MAX, bodyBytesMax: BODY_BYTES_MAX, signal }
        const response = await connections.use(place.origin, (connection) =>
          exchange(connection, { ...place, method: 'POST', headers, body: own }, limits),
        )
        return { ...response, address: own[CALLED] ?? null }
      } catch (error) {
        throw toOutboundError(error, own[CALLED] ?? null)
      }
    },
    close: async () => {
      unsubscribe('undici:client:sendHeaders', onSend)
      await connections.close()
    },
  }
}

function toOutboundError(error: unknown, address: string | null): OutboundError {
  if (error instanceof ExchangeTimeout) {
    return new OutboundError(
      'timeout',
      `No complete response within ${EXCHANGE_MS_MAX / 1000} seconds.`,
      address,
      error,
    )
  }
  const first = error instanceof AggregateError ? error.errors[0] : error
  const { code, message, address: tried } = first as { code?: string; message: string; address?: string }
  return new OutboundError(code ?? 'failed', message, address ?? tried ?? null, error)
}

async function within<T>(milliseconds: number, work: Promise<T>): Promise<T | null> {
  let timer: NodeJS.Timeout | undefined
  const limit = new Promise<null>((resolve) => {
    timer = setTimeout(() => resolve(null), milliseconds)
  })
  return Promise.race([work, limit]).finally(() => clearTimeout(timer))
}
