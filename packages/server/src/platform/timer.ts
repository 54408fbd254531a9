import { setTimeout as sleep } from 'node:timers/promises'

/** Measures pauses, and waits for them. Tests move it ahead instead of waiting. */
export interface Timer {
  /** In milliseconds, from any time on. */
  now(): number
  /** @throws the signal's reason, once it aborts. */
  sleep(milliseconds: number, signal: AbortSignal): Promise<void>
}

export const systemTimer: Timer = {
  now: () => Date.now(),
  sleep: (milliseconds, signal) => sleep(milliseconds, undefined, { signal }),
}
