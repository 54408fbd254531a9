import { ApiError, isServiceReady } from './client.ts'

const AGAIN_MS = 3_000

/** What waits for the service. */
const waiting = new Set<() => void>()
let isLooking = false

/** Whether the service did not respond, or only a proxy in front of it did. */
export function isAway(error: unknown): boolean {
  return error instanceof ApiError && (error.status === 0 || (error.status >= 502 && error.status <= 504))
}

/**
 * Calls back once the service is ready again. All who wait share one small request every few seconds, so a failed page
 * keeps its message instead of loading and failing over and over. @returns a function that ends the wait.
 */
export function whenServiceIsBack(resume: () => void): () => void {
  waiting.add(resume)
  if (!isLooking) setTimeout(look, AGAIN_MS)
  isLooking = true
  return () => void waiting.delete(resume)
}

async function look(): Promise<void> {
  const isBack = waiting.size === 0 || (await isServiceReady())
  if (!isBack) {
    setTimeout(look, AGAIN_MS)
    return
  }
  isLooking = false
  const resumed = [...waiting]
  waiting.clear()
  for (const resume of resumed) resume()
}
