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

interface Free {
  connection: Client
  /** The turn of the event loop in which it became free. */
  since: Promise<void>
}

/**
 * In place of undici's Pool without a limit, which looks through all its connections at each request, and opens half as
 * many again as there are requests at once: one that becomes free counts as busy until the next turn of the event loop,
 * when it has shown whether its server closes it. Here the next request waits for that turn.
 */
export function createConnections(options: Client.Options): Connections {
  const all = new Set<Client>()
  const freeAt = new Map<string, Free[]>()
  let turn: Promise<void> | null = null
  let closed = false

  function thisTurn(): Promise<void> {
    turn ??= new Promise((resolve) => {
      setImmediate(() => {
        turn = null
        resolve()
      })
    })
    return turn
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

  function takeFree(origin: string): Free | undefined {
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
    const free = freeAt.get(origin) ?? []
    free.push({ connection, since: thisTurn() })
    freeAt.set(origin, free)
  }

  function forgetFree(origin: string, connection: Client): boolean {
    const free = freeAt.get(origin) ?? []
    const index = free.findIndex((each) => each.connection === connection)
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
      const free = takeFree(origin)
      const connection = free?.connection ?? connect(origin)
      try {
        if (free?.since === turn) await turn
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
