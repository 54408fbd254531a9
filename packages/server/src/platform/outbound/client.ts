import { subscribe, unsubscribe } from 'node:diagnostics_channel'
import { isIP } from 'node:net'
import { createSecureContext } from 'node:tls'
import { buildConnector } from 'undici'
import { createConnections } from './connections.ts'
import { ExchangeTimeout, exchange } from './exchange.ts'
import { askOnce, checkedLookup, createAddressFinder, type Resolve } from './resolve.ts'
import { checkUrl, hostOf, RefusedAddress, type UrlRules } from './urls.ts'

/** For the whole exchange: name, connection, TLS, request, and the response: to the headers of a 2xx, else to its last byte. */
const EXCHANGE_MS_MAX = 10_000
const BODY_BYTES_MAX = 16 * 1024
/** Shorter than what servers keep a silent connection (5 s is common): one that they have just closed looks like a failure. */
const KEEP_ALIVE_MS = 4_000
const RESOLVE_AT_FIRST_MS_MAX = 3_000
const URLS_REMEMBERED_MAX = 1_000

/** The bytes of one call, marked with the IP address that took them: a map of them all would cost the collector more. */
const CALLED = Symbol('called')
type Sent = Buffer & { [CALLED]?: string | undefined }

export interface OutboundOptions extends UrlRules {
  resolve?: Resolve
  /** Certificate authorities to trust in place of the usual ones. */
  ca?: string
}

export interface OutboundAnswer {
  status: number
  /** As much of the body as is kept. */
  body: Buffer
  /** IP address that was called. */
  address: string | null
}

/** A call that got no complete answer. `code` is stable; the message names no secret. */
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

/** The one way to call an address that a user gave. */
export interface Outbound {
  /**
   * Checks a URL when a user gives it, its name's present addresses included. A name that has none now passes: each
   * call checks again, and that check is the one that counts.
   * @throws RefusedAddress
   */
  check(url: string): Promise<void>
  /**
   * POSTs a body. Redirects are answers like any other.
   * @throws OutboundError when there is no answer within ten seconds, or the address may not be called. A 2xx is an answer once
   * its headers are there; of its body what comes within another second is kept.
   */
  post(url: string, headers: Record<string, string>, body: Buffer, signal?: AbortSignal): Promise<OutboundAnswer>
  close(): Promise<void>
}

/**
 * Opens the guarded client. Every connection resolves its name anew, checks every address found, and gives the socket
 * the checked addresses themselves, so that a name which changes its answer between check and use gains nothing.
 * Connections are kept and used again; proxies named in the environment are not used, because behind a proxy the
 * addresses could not be checked.
 */
export function createOutbound({ allowPrivate, resolve, ca }: OutboundOptions): Outbound {
  const onSend = (message: unknown) => {
    const { request: sent, socket } = message as { request: { body: unknown }; socket: { remoteAddress?: string } }
    if (Buffer.isBuffer(sent.body)) (sent.body as Sent)[CALLED] = socket.remoteAddress
  }
  // A documented channel of undici, and the only place that says which connection took a request.
  subscribe('undici:client:sendHeaders', onSend)

  const checkedAddresses = createAddressFinder({ allowPrivate, ...(resolve ? { resolve } : {}) })
  const lookup = checkedLookup(askOnce(checkedAddresses))

  /** Addresses written into the URL never reach the look-up, so they are checked here. What passes once passes always. */
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
    // Made once: a context for each connection costs more than its handshake, in time and in memory; and sessions are
    // resumed.
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
      // Its own object, even where two calls share bytes: it is how the address is found again.
      const own: Sent = body.subarray()
      try {
        const place = placeOf(text)
        const limits = { timeoutMs: EXCHANGE_MS_MAX, bodyBytesMax: BODY_BYTES_MAX, signal }
        const answer = await connections.use(place.origin, (connection) =>
          exchange(connection, { ...place, method: 'POST', headers, body: own }, limits),
        )
        return { ...answer, address: own[CALLED] ?? null }
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
    return new OutboundError('timeout', `No complete answer within ${EXCHANGE_MS_MAX / 1000} seconds.`, address, error)
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
