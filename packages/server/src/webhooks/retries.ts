/** Delays before the second to the sixth attempt, each counted from the end of the one before. */
const DELAYS_MS = [60_000, 300_000, 1_800_000, 7_200_000, 43_200_000]
/** With the first one. */
export const ATTEMPTS_MAX = DELAYS_MS.length + 1

/** When a delivery is attempted again after its first, second ... failure; null after the sixth. */
export function retryAt(failedAt: Date, failures: number): Date | null {
  const delay = DELAYS_MS[failures - 1]
  return delay === undefined ? null : new Date(failedAt.getTime() + delay)
}
