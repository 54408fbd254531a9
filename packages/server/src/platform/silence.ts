import { setMaxListeners } from 'node:events'
import { every } from './every.ts'
import type { Logger } from './log.ts'

/** A database that has not responded for this long counts as down: requests must get a response within ten seconds. */
export const SILENT_AFTER_MS = 6_000
/** Time is counted in ticks: a process that was suspended or got no processor time misses ticks too. */
const SILENT_STEPS = 12
const STEPS_A_PING = 2
/** While it is down, it is pinged again after a third of that time, because a proxy may have dropped the last ping. */
const PING_STEPS_MAX = 4

/** Detects whether a database responds at all, however long its queries take. */
export interface Silence {
  /** Aborts when the database stops responding, and is replaced when it responds again. */
  readonly signal: AbortSignal
  stop(): Promise<void>
}

/**
 * Pings a database six times in `silentAfterMs`. If it hangs or the network drops silently, callers would wait for
 * minutes, and a statement timeout cannot tell that from a long statement.
 * @param send resolves to whether the database sent any response, even a refusal. It must stop when the signal aborts.
 */
export function watchForSilence(
  store: 'PostgreSQL' | 'ClickHouse',
  send: (signal: AbortSignal) => Promise<boolean>,
  log: Logger,
  silentAfterMs = SILENT_AFTER_MS,
): Silence {
  const stepMs = silentAfterMs / SILENT_STEPS
  let responding = newController()
  let stepsSilent = 0
  let ping: { controller: AbortController; steps: number } | null = null

  const stepping = setInterval(() => {
    stepsSilent++
    if (ping) ping.steps++
    if (stepsSilent < SILENT_STEPS) return
    if (!responding.signal.aborted) {
      log.error(`${store} has not responded for ${silentAfterMs / 1000} seconds; pending work fails`)
      responding.abort()
    }
    if (ping && ping.steps >= PING_STEPS_MAX) ping.controller.abort()
  }, stepMs)
  stepping.unref()

  const pinging = every(STEPS_A_PING * stepMs, async () => {
    const controller = new AbortController()
    ping = { controller, steps: 0 }
    const responded = await send(controller.signal).catch(() => false)
    ping = null
    if (!responded || controller.signal.aborted) return
    stepsSilent = 0
    if (!responding.signal.aborted) return
    log.info(`${store} responds again`)
    responding = newController()
  })

  return {
    get signal() {
      return responding.signal
    },
    stop: async () => {
      clearInterval(stepping)
      ping?.controller.abort()
      await pinging.stop()
    },
  }
}

function newController(): AbortController {
  const controller = new AbortController()
  // Every connection adds a listener.
  setMaxListeners(0, controller.signal)
  return controller
}
