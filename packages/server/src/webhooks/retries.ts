/** The delays before the second to sixth attempt, from the end of the previous one. */
const DELAYS_MS = [60_000, 300_000, 1_800_000, 7_200_000, 43_200_000]
/** Attempts of a delivery, including the first. */
export const ATTEMPTS_MAX = DELAYS_MS.length + 1

/** When a delivery is retried after a number of failures; null after the sixth. */
export function retryAt(failedAt: Date, failures: number): Date | null {
  const delay = DELAYS_MS[failures - 1]
  return delay === undefined ? null : new Date(failedAt.getTime() + delay)
}
