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
 * In place of undici's Pool without a limit, which looks through all its connections at each request, and opens twice as
 * many as there are requests at once: one that becomes free takes the next request only in the next turn of the event
 * loop, and until then it counts as busy.
 */
export function createConnections(options: Client.Options): Connections {
  const all = new Set<Client>()
  const freeAt = new Map<string, Client[]>()

  function connect(origin: string): Client {
    const connection = new Client(origin, options)
    all.add(connection)
    // The server closed it, or it was silent for too long. One that is in use by then connects again by itself.
    connection.on('disconnect', () => {
      if (forgetFree(origin, connection)) end(connection)
    })
    return connection
  }

  function keep(origin: string, connection: Client): void {
    const free = freeAt.get(origin)
    if (!connection.stats.connected) end(connection)
    else if (free) free.push(connection)
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
      const connection = freeAt.get(origin)?.pop() ?? connect(origin)
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
      await Promise.all([...all].map((connection) => connection.destroy()))
    },
  }
}
