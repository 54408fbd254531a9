/** The speed of repeated work. */
export interface Load {
  perSecond: number
  p50Ms: number
  p95Ms: number
  p99Ms: number
}

/** A new process is slow, so the work is repeated before the clock starts. */
const WARM_UP_MS = 1_000
const WARM_UP_TIMES = 1_000

/**
 * Repeats work in concurrent lanes, sequentially within each lane.
 * @param work receives its lane.
 * @param timesMax how often it runs at most, if there is not enough to work on for the whole time. A quarter of that is
 * for the warm-up, and each lane may run once more in both.
 */
export async function repeat(
  lanes: number,
  seconds: number,
  work: (lane: number) => Promise<unknown>,
  timesMax = Number.POSITIVE_INFINITY,
): Promise<Load> {
  const warmUpTimes = Math.min(WARM_UP_TIMES, timesMax / 4)
  await inLanes(lanes, WARM_UP_MS, work, [], warmUpTimes)
  const latencies: number[] = []
  const startedAt = performance.now()
  await inLanes(lanes, seconds * 1000, work, latencies, timesMax - warmUpTimes)
  if (latencies.length === 0) throw new Error('There was nothing to measure.')
  return summaryOf(latencies, performance.now() - startedAt)
}

/** Ends after a time, or earlier after a number of repetitions. @param latencies receives them, in milliseconds. */
async function inLanes(
  lanes: number,
  milliseconds: number,
  work: (lane: number) => Promise<unknown>,
  latencies: number[],
  timesMax: number,
): Promise<void> {
  const until = performance.now() + milliseconds
  await Promise.all(
    Array.from({ length: lanes }, async (_, lane) => {
      let at = performance.now()
      while (at < until && latencies.length < timesMax) {
        await work(lane)
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
