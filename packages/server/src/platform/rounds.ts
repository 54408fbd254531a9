import { AsyncLocalStorage } from 'node:async_hooks'

/**
 * Lets callers that arrive close together share work that is done one round at a time.
 * @returns a function that resolves with the result of a round that began after it was called.
 */
export function inRounds<Result>(work: () => Promise<Result>): () => Promise<Result> {
  // A round serves many callers, so it must not inherit the limits of the one whose call began it.
  const asOwnWork = AsyncLocalStorage.snapshot()
  let last: Promise<unknown> = Promise.resolve()
  let next: Promise<Result> | null = null
  return () => {
    if (next) return next
    const round = last.then(() => {
      // A caller that arrives from now on needs another round: this one may already have read what it needs.
      next = null
      return asOwnWork(work)
    })
    next = round
    last = round.catch(() => {})
    return round
  }
}
