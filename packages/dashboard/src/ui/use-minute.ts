import { useSyncExternalStore } from 'react'

const MINUTE_MS = 60_000
const listeners = new Set<() => void>()
let timer: ReturnType<typeof setInterval> | undefined

/** Renders a component again every minute, so that relative times stay correct. */
export function useMinute(): void {
  useSyncExternalStore(subscribe, () => Math.floor(Date.now() / MINUTE_MS))
}

/** One timer for all relative times of a page. */
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
