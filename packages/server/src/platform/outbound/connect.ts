import { once } from 'node:events'
import { connect, isIP, type LookupFunction, type Socket } from 'node:net'
import { OutboundError } from './client.ts'
import { checkedLookup, createAddressFinder, type Resolve } from './resolve.ts'
import { checkHost, RefusedAddress } from './urls.ts'

const CONNECT_MS_MAX = 10_000
const HOST_LENGTH_MAX = 253
/** The last label of a name is no number: what ends in one is an address in a form of its own, like 0x7f.1 */
/** A name that ends in a number is an address in a form of its own, like 0x7f.1 */
const HOST_NAME = /^(?!(.*\.)?(0x[0-9a-f]*|\d+)\.?$)(?!-)[a-z0-9-]{1,63}(?<!-)(\.(?!-)[a-z0-9-]{1,63}(?<!-))*\.?$/i

export interface ConnectorOptions {
  /** Development and tests: lets private and local addresses pass, and nothing else. */
  allowPrivate: boolean
  resolve?: Resolve
  /** Certificate authorities to trust in place of the usual ones. */
  ca?: string
}

/** The way to a host that a user named, for protocols other than HTTP. Every connection is checked as it is made. */
export interface Connector {
  readonly allowPrivate: boolean
  readonly ca: string | undefined
  /**
   * Checks a host, and gives the options with which a socket connects to the addresses that were checked, and to no
   * other: for libraries that open their own.
   * @throws RefusedAddress for a host out of the public internet; the socket fails with one where only its addresses are.
   */
  guard(host: string): { lookup: LookupFunction; autoSelectFamily: true }
  /** Opens such a socket. @throws RefusedAddress; OutboundError when there is no connection in ten seconds. */
  connect(host: string, port: number): Promise<Socket>
}

/** Opens the guarded way out for TCP. */
export function createConnector({ allowPrivate, resolve, ca }: ConnectorOptions): Connector {
  const lookup = checkedLookup(createAddressFinder({ allowPrivate, ...(resolve ? { resolve } : {}) }))
  const guard = (host: string) => {
    if (isIP(host) === 0 && (host.length > HOST_LENGTH_MAX || !HOST_NAME.test(host))) {
      throw new RefusedAddress('This is not a host name. Give one like mail.example.com')
    }
    // An address that is written out never reaches the look-up.
    if (!allowPrivate) checkHost(host.replace(/\.$/, ''))
    return { lookup, autoSelectFamily: true } as const
  }
  return {
    allowPrivate,
    ca,
    guard,
    connect: async (host, port) => {
      const socket = connect({ host, port, ...guard(host) })
      const giveUp = new AbortController()
      const timer = setTimeout(() => giveUp.abort(), CONNECT_MS_MAX)
      try {
        await once(socket, 'connect', { signal: giveUp.signal })
        return socket
      } catch (error) {
        socket.destroy()
        if (error instanceof RefusedAddress) throw error
        throw toOutboundError(error, host, giveUp.signal.aborted)
      } finally {
        clearTimeout(timer)
      }
    },
  }
}

function toOutboundError(error: unknown, host: string, timedOut: boolean): OutboundError {
  if (timedOut) {
    return new OutboundError('timeout', `${host} did not answer within ${CONNECT_MS_MAX / 1000} seconds.`, null, error)
  }
  const first = error instanceof AggregateError ? error.errors[0] : error
  const { code = 'failed', message } = first as { code?: string; message: string }
  return new OutboundError(code, message, null, error)
}
