import type { Parameters } from 'fast-check'
import { inject } from 'vitest'

/**
 * Random numbers from 0 to 1, derived from the seed that the run prints: `npm test -- --sequence.seed=N PATH` reproduces
 * them.
 * @param stream a separate stream for code that runs concurrently.
 */
export function seededRandom(stream = 0): () => number {
  let state = (inject('seed') + Math.imul(stream, 0x9e3779b9)) | 0
  // Mulberry32.
  return () => {
    state = (state + 0x6d2b79f5) | 0
    let mixed = Math.imul(state ^ (state >>> 15), 1 | state)
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32
  }
}

/**
 * How many random stories a test tries. `TEST_STORIES=200 TEST_STORIES_SEED=1 npm test -- PATH` tries more of them, and the
 * same ones again.
 */
export function stories(numRuns: number): Pick<Parameters<unknown>, 'numRuns' | 'seed' | 'endOnFailure'> {
  const { TEST_STORIES: count, TEST_STORIES_SEED: seed } = process.env
  return {
    numRuns: count === undefined ? numRuns : Number(count),
    ...(seed === undefined ? {} : { seed: Number(seed) }),
    endOnFailure: true,
  }
}
