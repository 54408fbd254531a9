import { setTimeout as sleep } from 'node:timers/promises'
import type { Timer } from '../src/platform/timer.ts'

export interface MovingTimer extends Timer {
  /** How long it should have slept each time, in milliseconds. */
  slept: number[]
}

/** A timer that moves ahead instead of waiting. Those that sleep at the same time share the move, as they would the time. */
export function startMovingTimer(): MovingTimer {
  let aheadMs = 0
  const now = () => Date.now() + aheadMs
  const slept: number[] = []
  return {
    now,
    slept,
    sleep: async (milliseconds, signal) => {
      const until = now() + milliseconds
      // Others have their turn, as they would have.
      await sleep(1, undefined, { signal })
      aheadMs += Math.max(0, until - now())
      slept.push(milliseconds)
    },
  }
}
