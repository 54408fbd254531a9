import { Socket } from 'node:net'
import pg from 'pg'
import type { Logger } from '../log.ts'
import { watchForSilence } from '../silence.ts'
import type { PostgresAddress } from './address.ts'

/**
 * Watches a server over a separate connection. @param silentAfterMs how long it may send nothing.
 * @returns the address to use for every other connection: when the server stops responding, they all break, so that
 * callers get an error and no pool keeps them. Until it responds again, no new one is opened.
 */
export function watchPostgres(address: PostgresAddress, log: Logger, silentAfterMs?: number) {
  let watching: { client: pg.Client; socket: Socket } | null = null

  async function connect(): Promise<pg.Client> {
    const socket = new Socket()
    const client = new pg.Client({ ...address, stream: () => socket, application_name: 'customer-data-service watch' })
    // Any problem shows at the next ping.
    client.on('error', () => {})
    watching = { client, socket }
    return client.connect()
  }

  function drop(): void {
    watching?.socket.destroy()
    watching = null
  }

  /** The connection is reused, which also detects dropped connections while new ones work. */
  async function ping(signal: AbortSignal): Promise<boolean> {
    signal.addEventListener('abort', drop)
    try {
      const client = watching?.client ?? (await connect())
      await client.query('SELECT 1')
      return true
    } catch (error) {
      drop()
      // A refusal is a response.
      return (error as { severity?: string }).severity !== undefined
    }
  }

  const silence = watchForSilence('PostgreSQL', ping, log, silentAfterMs)

  function stream(): Socket {
    const socket = new Socket()
    const { signal } = silence
    // Without an error, for which a closing client has no listener; pg creates its own.
    const lose = () => socket.destroy()
    // Connecting would fill the queue of a server that hangs.
    if (signal.aborted) return Object.assign(socket, { connect: lose })
    signal.addEventListener('abort', lose)
    socket.once('close', () => signal.removeEventListener('abort', lose))
    return socket
  }

  return {
    address: { ...address, stream },
    stop: async () => {
      await silence.stop()
      drop()
    },
  }
}
