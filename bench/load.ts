import { Connection, type Request } from './connection.ts'
import { type Load, NOTHING_LEFT, repeat } from './repeat.ts'

export const PORT = 18_099
export const URL_OF_SERVICE = `http://127.0.0.1:${PORT}`

export interface Requests {
  connections: number
  seconds: number
  headers: Record<string, string>
  /** Default: the service's. */
  port?: number
  /** Fewer than usual if requests are limited. */
  warmUpTimes?: number
  /** Creates each request; null if there are none left. */
  next: () => Request | null
}

/** Sends requests over keep-alive connections for some seconds. @throws Error if any response is not 2xx. */
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

/** The headers of a program with an API key. */
export function withKey(apiKey: string): Record<string, string> {
  return { authorization: `Bearer ${apiKey}` }
}

export function pick(ids: readonly string[]): string {
  return ids[Math.floor(Math.random() * ids.length)] ?? ''
}
