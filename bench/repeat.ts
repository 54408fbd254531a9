/** How fast something was done over and over. */
export interface Load {
  perSecond: number
  p50Ms: number
  p95Ms: number
  p99Ms: number
}

/** Of work that has nothing left to do. */
export const NOTHING_LEFT = Symbol('nothing left')

/** What is new to a process is slow: so much is done before the clock runs. */
const WARM_UP_MS = 1_000
const WARM_UP_TIMES = 1_000

/**
 * Does work again and again in some lanes, one after the other in each.
 * @param work is told its lane. It answers NOTHING_LEFT to end the lane before the time is over.
 * @param warmUpTimes how often it is done before the clock runs, unless that takes too long.
 */
export async function repeat(
  lanes: number,
  seconds: number,
  work: (lane: number) => Promise<unknown>,
  warmUpTimes = WARM_UP_TIMES,
): Promise<Load> {
  await inLanes(lanes, WARM_UP_MS, work, [], warmUpTimes)
  const latencies: number[] = []
  const startedAt = performance.now()
  await inLanes(lanes, seconds * 1000, work, latencies)
  if (latencies.length === 0) throw new Error('There was nothing to measure.')
  return summaryOf(latencies, performance.now() - startedAt)
}

/** Ends after a time or, sooner, when the work was done so many times. @param latencies takes them, in milliseconds. */
async function inLanes(
  lanes: number,
  milliseconds: number,
  work: (lane: number) => Promise<unknown>,
  latencies: number[],
  timesMax = Number.POSITIVE_INFINITY,
): Promise<void> {
  const until = performance.now() + milliseconds
  await Promise.all(
    Array.from({ length: lanes }, async (_, lane) => {
      let at = performance.now()
      while (at < until && latencies.length < timesMax) {
        if ((await work(lane)) === NOTHING_LEFT) return
        const doneAt = performance.now()
        latencies.push(doneAt - at)
        at = doneAt
      }
    }),
  )
}

function summaryOf(latencies: readonly number[], elapsedMs: number): Load {
  const sorted = Float64Array.from(latencies).sort()
  const at = (share: number) => sorted[Math.min(sorted.length - 1, Math.floor(sorted.length * share))] ?? 0
  return {
    perSecond: (sorted.length / elapsedMs) * 1000,
    p50Ms: at(0.5),
    p95Ms: at(0.95),
    p99Ms: at(0.99),
  }
}
