import { Readable } from 'node:stream'
import type { LiveEvent } from './event.ts'

/** With more unsent bytes, a reader is too slow: it misses events instead of filling the memory. */
const UNSENT_BYTES_MAX = 64 * 1024
/** More than anyone can follow; the rest is counted as missed. */
const EVENTS_PER_SECOND = 50
const RECONNECT_AFTER_MS = 3_000
const BEAT_EVERY_MS = 15_000
const RECHECK_EVERY_MS = 3_000

/** A stream of server-sent events for one reader. */
export interface EventStream {
  readable: Readable
  send(event: LiveEvent): void
  /** Keeps proxies from closing the idle connection, and reports how many events were missed. */
  beat(): void
  end(): void
}

/** Opens a stream. @param now milliseconds from a monotonic clock. */
export function openEventStream(now: () => number = () => performance.now()): EventStream {
  const readable = new Readable({ read: () => {} })
  let missed = 0
  let second = 0
  let inSecond = 0

  const canSend = () => !readable.destroyed && readable.readableLength < UNSENT_BYTES_MAX
  const push = (text: string) => {
    readable.push(text)
  }
  const reportMissed = () => {
    if (missed === 0 || !canSend()) return
    push(`event: missed\ndata: ${JSON.stringify({ count: missed })}\n\n`)
    missed = 0
  }

  push(`retry: ${RECONNECT_AFTER_MS}\n\n`)
  return {
    readable,
    send: (event) => {
      const current = Math.floor(now() / 1000)
      if (current !== second) [second, inSecond] = [current, 0]
      if (inSecond >= EVENTS_PER_SECOND || !canSend()) {
        missed++
        return
      }
      inSecond++
      reportMissed()
      push(`event: recorded\ndata: ${JSON.stringify(event)}\n\n`)
    },
    beat: () => {
      reportMissed()
      if (canSend()) push(': \n\n')
    },
    end: () => {
      if (!readable.destroyed) readable.push(null)
    },
  }
}

/** Keeps a stream open while its reader is allowed to read. @returns a function that stops this. */
export function keepAlive(stream: EventStream, isAllowed: () => Promise<boolean>): () => void {
  const beating = setInterval(stream.beat, BEAT_EVERY_MS)
  const checking = setInterval(async () => {
    // If the check itself fails, the stream ends and is checked again when the client reconnects.
    if (!(await isAllowed().catch(() => false))) stream.end()
  }, RECHECK_EVERY_MS)
  return () => {
    clearInterval(beating)
    clearInterval(checking)
  }
}
