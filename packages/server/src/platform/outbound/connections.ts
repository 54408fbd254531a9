import { Client } from 'undici'

/** Connections to servers; each serves one request at a time. */
export interface Connections {
  /**
   * Runs `work` with a connection to an origin: the most recently used free one, or a new one. It is kept for reuse
   * unless the work fails, because it might still be waiting for a response.
   */
  use<T>(origin: string, work: (connection: Client) => Promise<T>): Promise<T>
  close(): Promise<void>
}

/**
 * Requests started per turn of the event loop. More would open so many connections to a fast server that each request
 * costs more, and would delay other work of this process.
 */
const PER_TURN = 32

/**
 * Replaces undici's unlimited Pool, which searches all its connections for each request, and opens half as many again
 * as there are concurrent requests: a connection that becomes free counts as busy until the end of the turn of the
 * event loop, when it is known whether the server closes it. Here, requests start at the end of a turn.
 */
export function createConnections(options: Client.Options): Connections {
  const all = new Set<Client>()
  const freeAt = new Map<string, Client[]>()
  const waiting: (() => void)[] = []
  let closed = false

  function endOfTurn(): Promise<void> {
    return new Promise((resolve) => {
      if (waiting.push(resolve) === 1) setImmediate(startWaiting)
    })
  }

  function startWaiting(): void {
    for (const each of waiting.splice(0, PER_TURN)) each()
    if (waiting.length > 0) setImmediate(startWaiting)
  }

  function connect(origin: string): Client {
    if (closed) throw new Error('The connections have been closed.')
    const connection = new Client(origin, options)
    all.add(connection)
    // The server closed it, or it was idle for too long. If it is in use by then, it reconnects by itself.
    connection.on('disconnect', () => {
      if (forgetFree(origin, connection)) end(connection)
    })
    return connection
  }

  function findIdle(origin: string): Client | undefined {
    const free = freeAt.get(origin)
    const last = free?.pop()
    if (free?.length === 0) freeAt.delete(origin)
    return last
  }

  function keep(origin: string, connection: Client): void {
    if (!connection.stats.connected) {
      end(connection)
      return
    }
    const free = freeAt.get(origin)
    if (free) free.push(connection)
    else freeAt.set(origin, [connection])
  }

  function forgetFree(origin: string, connection: Client): boolean {
    const free = freeAt.get(origin) ?? []
    const index = free.indexOf(connection)
    if (index === -1) return false
    free.splice(index, 1)
    if (free.length === 0) freeAt.delete(origin)
    return true
  }

  function end(connection: Client): void {
    all.delete(connection)
    // The promise only reports completion.
    void connection.destroy()
  }

  return {
    use: async (origin, work) => {
      await endOfTurn()
      const connection = findIdle(origin) ?? connect(origin)
      try {
        const result = await work(connection)
        keep(origin, connection)
        return result
      } catch (error) {
        end(connection)
        throw error
      }
    },
    close: async () => {
      closed = true
      await Promise.all([...all].map((connection) => connection.destroy()))
    },
  }
}
