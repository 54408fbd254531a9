import { setMaxListeners } from 'node:events'
import { every } from './every.ts'
import type { Logger } from './log.ts'

const ASK_EVERY_MS = 1_000
/** Time is counted in steps: a process that was held up itself (suspended, short of processor time) misses steps too. */
const STEP_MS = 500
/** A store that has not answered for six seconds is taken for frozen: requests must be answered within ten. */
const SILENT_STEPS = 12
/** While it is silent, a question is asked anew after two seconds: a proxy may have swallowed the last. */
const QUESTION_STEPS = 4

/** Tells whether a store answers at all, however long its work takes. */
export interface Silence {
  /** Aborts when the store falls silent, and is replaced by a new one when it answers again. */
  readonly signal: AbortSignal
  stop(): Promise<void>
}

/**
 * Asks a store every second whether it is there. One that is frozen, or cut off without a word, would leave whoever
 * waits for it waiting for minutes, and no time limit on statements can tell that from an honest statement that takes
 * long.
 * @param ask resolves to whether the store said anything, be it a refusal. It gives up when the signal aborts.
 */
export function watchForSilence(
  store: 'PostgreSQL' | 'ClickHouse',
  ask: (signal: AbortSignal) => Promise<boolean>,
  log: Logger,
): Silence {
  let answering = newController()
  let stepsSilent = 0
  let question: { controller: AbortController; steps: number } | null = null

  const stepping = setInterval(() => {
    stepsSilent++
    if (question) question.steps++
    if (stepsSilent < SILENT_STEPS) return
    if (!answering.signal.aborted) {
      log.error(`${store} has not answered for ${(SILENT_STEPS * STEP_MS) / 1000} seconds; what waits for it fails`)
      answering.abort()
    }
    if (question && question.steps >= QUESTION_STEPS) question.controller.abort()
  }, STEP_MS)
  stepping.unref()

  const asking = every(ASK_EVERY_MS, async () => {
    const controller = new AbortController()
    question = { controller, steps: 0 }
    const answered = await ask(controller.signal).catch(() => false)
    question = null
    if (!answered || controller.signal.aborted) return
    stepsSilent = 0
    if (!answering.signal.aborted) return
    log.info(`${store} answers again`)
    answering = newController()
  })

  return {
    get signal() {
      return answering.signal
    },
    stop: async () => {
      clearInterval(stepping)
      question?.controller.abort()
      await asking.stop()
    },
  }
}

function newController(): AbortController {
  const controller = new AbortController()
  // Every connection listens.
  setMaxListeners(0, controller.signal)
  return controller
}
