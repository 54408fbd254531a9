import { once } from 'node:events'
import { connect, isIP, type LookupFunction, type Socket } from 'node:net'
import { OutboundError } from './client.ts'
import { checkedLookup, createAddressFinder, type Resolve } from './resolve.ts'
import { checkHost, RefusedAddress } from './urls.ts'

const CONNECT_MS_MAX = 10_000
const HOST_LENGTH_MAX = 253

/** A name whose last label is a number is an IP address in another notation, like 0x7f.1 */
const HOST_NAME = /^(?!(.*\.)?(0x[0-9a-f]*|\d+)\.?$)(?!-)[a-z0-9-]{1,63}(?<!-)(\.(?!-)[a-z0-9-]{1,63}(?<!-))*\.?$/i

export interface ConnectorOptions {
  /** For development and tests: allows private and local addresses, and nothing else. */
  allowPrivate: boolean
  resolve?: Resolve
  /** Certificate authorities to trust instead of the default ones. */
  ca?: string
}

/** Connects to a host from a user, for protocols other than HTTP. Every connection is checked. */
export interface Connector {
  readonly allowPrivate: boolean
  readonly ca: string | undefined
  /**
   * Checks a host and returns options with which a socket connects only to the checked addresses, for libraries that
   * open their own sockets.
   * @throws RefusedAddress for a host outside the public internet; if only its addresses are, the socket fails with
   * one.
   */
  guard(host: string): { lookup: LookupFunction; autoSelectFamily: true }
  /** Opens such a socket. @throws RefusedAddress; OutboundError if there is no connection within ten seconds. */
  connect(host: string, port: number): Promise<Socket>
}

/** Opens the guarded client for TCP. */
export function createConnector({ allowPrivate, resolve, ca }: ConnectorOptions): Connector {
  const lookup = checkedLookup(createAddressFinder({ allowPrivate, ...(resolve ? { resolve } : {}) }))
  const guard = (host: string) => {
    if (isIP(host) === 0 && (host.length > HOST_LENGTH_MAX || !HOST_NAME.test(host))) {
      throw new RefusedAddress('This is not a host name. Use one like mail.example.com')
    }
    // An IP address is never looked up.
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
    return new OutboundError('timeout', `${host} did not respond within ${CONNECT_MS_MAX / 1000} seconds.`, null, error)
  }
  const first = error instanceof AggregateError ? error.errors[0] : error
  const { code = 'failed', message } = first as { code?: string; message: string }
  return new OutboundError(code, message, null, error)
}
