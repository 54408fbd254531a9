import { useSyncExternalStore } from 'react'

const MINUTE_MS = 60_000
const listeners = new Set<() => void>()
let timer: ReturnType<typeof setInterval> | undefined

/** Draws a component anew every minute, so that "just now" does not stay while somebody leaves a page open. */
export function useMinute(): void {
  useSyncExternalStore(subscribe, () => Math.floor(Date.now() / MINUTE_MS))
}

/** One clock for all moments of a page. */
function subscribe(listener: () => void): () => void {
  listeners.add(listener)
  timer ??= setInterval(() => {
    for (const each of listeners) each()
  }, 10_000)
  return () => {
    listeners.delete(listener)
    if (listeners.size > 0) return
    clearInterval(timer)
    timer = undefined
  }
}
