import { setMaxListeners } from 'node:events'
import { every } from './every.ts'
import type { Logger } from './log.ts'

const ASK_EVERY_MS = 1_000
/** A store that answers nothing for so long is taken for frozen. Whoever waits for it is answered within ten seconds. */
const SILENT_AFTER_MS = 5_000
/** While it is silent, it is asked anew this often: a question that a proxy has swallowed is never answered. */
const ASK_AGAIN_AFTER_MS = 2_000
const STEP_MS = 500

/** Tells whether a store answers at all, however long its work takes. */
export interface Silence {
  /** Aborts when the store falls silent, and is replaced by a new one when it answers again. */
  readonly signal: AbortSignal
  stop(): Promise<void>
}

/**
 * Asks a store every second whether it is there. A store that is frozen, or cut off without a word, leaves whoever
 * waits for it waiting for minutes, and no time limit on statements could tell that from an honest statement that takes
 * long.
 * @param ask resolves to whether the store said anything, be it a refusal, and to false when nothing could be reached.
 * It gives up when the signal aborts.
 */
export function watchForSilence(
  store: 'PostgreSQL' | 'ClickHouse',
  ask: (signal: AbortSignal) => Promise<boolean>,
  log: Logger,
): Silence {
  let answering = newController()
  let asking: AbortController | null = null
  let stopped = false

  async function look(): Promise<void> {
    const asked = new AbortController()
    asking = asked
    const cancel = afterSteps(answering.signal.aborted ? ASK_AGAIN_AFTER_MS : SILENT_AFTER_MS, () => asked.abort())
    const answered = (await ask(asked.signal).catch(() => false)) && !asked.signal.aborted
    cancel()
    asking = null
    if (answered && answering.signal.aborted) {
      log.info(`${store} answers again`)
      answering = newController()
    }
    // What cannot be reached says so by itself.
    if (stopped || !asked.signal.aborted || answering.signal.aborted) return
    log.error(`${store} has not answered for ${SILENT_AFTER_MS / 1000} seconds; what waits for it fails`)
    answering.abort()
  }

  const looking = every(ASK_EVERY_MS, look)
  return {
    get signal() {
      return answering.signal
    },
    stop: async () => {
      stopped = true
      asking?.abort()
      await looking.stop()
    },
  }
}

function newController(): AbortController {
  const controller = new AbortController()
  // Every connection listens.
  setMaxListeners(0, controller.signal)
  return controller
}

/**
 * Counts in steps, so that a process that was held up itself (suspended, short of processor time) does not take its own
 * delay for the store's: what arrived meanwhile is read before the next step.
 */
function afterSteps(milliseconds: number, act: () => void): () => void {
  let left = milliseconds / STEP_MS
  const timer = setInterval(() => {
    if (--left > 0) return
    clearInterval(timer)
    act()
  }, STEP_MS)
  timer.unref()
  return () => clearInterval(timer)
}
