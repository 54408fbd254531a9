import { Connection, type Request } from './connection.ts'
import { type Load, repeat } from './repeat.ts'

export const PORT = 18_099
export const URL_OF_SERVICE = `http://127.0.0.1:${PORT}`

export interface Requests {
  connections: number
  seconds: number
  headers: Record<string, string>
  /** Default: the service's. */
  port?: number
  /** How many are sent at most, warm-up included; default: as many as the time allows. */
  timesMax?: number | undefined
  next: () => Request
}

/** Sends requests over keep-alive connections for some seconds. @throws Error if any response is not 2xx. */
export async function load(requests: Requests): Promise<Load> {
  const { connections: count, seconds, headers, port = PORT, timesMax, next } = requests
  const connections = await Promise.all(Array.from({ length: count }, () => Connection.open(port, headers)))
  try {
    const sendNext = async (lane: number) => connections[lane]?.send(next())
    return await repeat(count, seconds, sendNext, timesMax)
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
