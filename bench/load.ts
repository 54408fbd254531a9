import { Connection, type Request } from './connection.ts'
import { type Load, NOTHING_LEFT, repeat } from './repeat.ts'

export const PORT = 18_099
export const URL_OF_SERVICE = `http://127.0.0.1:${PORT}`

export interface Requests {
  connections: number
  seconds: number
  headers: Record<string, string>
  /** The service's, unless told. */
  port?: number
  /** Fewer than usual where requests are scarce. */
  warmUpTimes?: number
  /** Makes each request; null: there are none left. */
  next: () => Request | null
}

/** Sends requests over kept-alive connections for some seconds. @throws Error when any answer is not 2xx. */
export async function load(requests: Requests): Promise<Load> {
  const { connections: count, seconds, headers, port = PORT, warmUpTimes, next } = requests
  const connections = await Promise.all(Array.from({ length: count }, () => Connection.open(port, headers)))
  try {
    const sendNext = async (lane: number) => {
      const request = next()
      if (request === null) return NOTHING_LEFT
      return connections[lane]?.send(request)
    }
    return await repeat(count, seconds, sendNext, warmUpTimes)
  } finally {
    for (const connection of connections) connection.close()
  }
}

/** What a program with an API key sends. */
export function withKey(apiKey: string): Record<string, string> {
  return { authorization: `Bearer ${apiKey}` }
}

export function pick(ids: readonly string[]): string {
  return ids[Math.floor(Math.random() * ids.length)] ?? ''
}
