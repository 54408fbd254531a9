import { Client } from 'undici'

/** Connections to servers; each serves one request at a time. */
export interface Connections {
  /**
   * Has `work` use a connection to an origin: one that is free, the one used last first, or a new one. It is kept for the
   * next one unless the work fails: then what it may still wait for is nobody's business any more.
   */
  use<T>(origin: string, work: (connection: Client) => Promise<T>): Promise<T>
  close(): Promise<void>
}

/**
 * Requests that are begun in one turn of the event loop. With more, a server that answers at once is sent them over so many
 * connections that each of them costs more, and who else uses this process waits longer for his turn.
 */
const PER_TURN = 32

/**
 * In place of undici's Pool without a limit, which looks through all its connections at each request, and opens half as
 * many again as there are requests at once: one that becomes free counts as busy until the end of the turn of the event
 * loop, when it has shown whether its server closes it. Here requests are begun at the end of a turn.
 */
export function createConnections(options: Client.Options): Connections {
  const all = new Set<Client>()
  const freeAt = new Map<string, Client[]>()
  const waiting: (() => void)[] = []
  let closed = false

  function endOfTurn(): Promise<void> {
    return new Promise((resolve) => {
      if (waiting.push(resolve) === 1) setImmediate(begin)
    })
  }

  function begin(): void {
    for (const each of waiting.splice(0, PER_TURN)) each()
    if (waiting.length > 0) setImmediate(begin)
  }

  function connect(origin: string): Client {
    if (closed) throw new Error('The connections have been closed.')
    const connection = new Client(origin, options)
    all.add(connection)
    // The server closed it, or it was silent for too long. One that is in use by then connects again by itself.
    connection.on('disconnect', () => {
      if (forgetFree(origin, connection)) end(connection)
    })
    return connection
  }

  function takeFree(origin: string): Client | undefined {
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
    // It only says when that is done.
    void connection.destroy()
  }

  return {
    use: async (origin, work) => {
      await endOfTurn()
      const connection = takeFree(origin) ?? connect(origin)
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
