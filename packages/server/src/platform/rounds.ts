import { AsyncLocalStorage } from 'node:async_hooks'

/**
 * Lets concurrent callers share work that runs one round at a time.
 * @returns a function that resolves with the result of a round that started after the call.
 */
export function inRounds<Result>(work: () => Promise<Result>): () => Promise<Result> {
  // A round serves many callers, so it must not inherit the limits of the caller that started it.
  const asOwnWork = AsyncLocalStorage.snapshot()
  let last: Promise<unknown> = Promise.resolve()
  let next: Promise<Result> | null = null
  return () => {
    if (next) return next
    const round = last.then(() => {
      // Later callers join the next round: this one may already have read their data.
      next = null
      return asOwnWork(work)
    })
    next = round
    last = round.catch(() => {})
    return round
  }
}
