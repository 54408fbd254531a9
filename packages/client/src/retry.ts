import type { CustomerDataError } from './errors.ts'

const FIRST_WAIT_MS = 500
const WAIT_MS_MAX = 30_000
/** A longer Retry-After is taken for a mistake of a proxy. */
const RETRY_AFTER_SECONDS_MAX = 300

/** Whether the same request may succeed later. */
export function isTransient({ code, status }: CustomerDataError): boolean {
  return code === 'connection_failed' || code === 'timeout' || status === 408 || status === 429 || status >= 500
}

/**
 * How long to wait before the next attempt: at least what the service asks for, and longer after each failure. The
 * random part keeps clients that failed together from coming back together.
 * @param failures how many attempts failed, at least 1
 */
export function waitBeforeRetry({ retryAfterSeconds }: CustomerDataError, failures: number): number {
  const backoff = Math.min(FIRST_WAIT_MS * 2 ** Math.min(failures - 1, 10), WAIT_MS_MAX)
  const asked = Math.min(retryAfterSeconds ?? 0, RETRY_AFTER_SECONDS_MAX) * 1_000
  const random = backoff * (0.5 + Math.random() / 2)
  return asked > 0 ? asked + random / 4 : random
}

/**
 * Waits, or ends early when the signal aborts.
 * @param keepsRunning whether the process stays alive only for this
 */
export function wait(
  ms: number,
  { signal, keepsRunning = true }: { signal?: AbortSignal | undefined; keepsRunning?: boolean },
): Promise<void> {
  return new Promise((resolve) => {
    if (signal?.aborted) return resolve()
    const done = () => {
      clearTimeout(timer)
      signal?.removeEventListener('abort', done)
      resolve()
    }
    const timer = setTimeout(done, ms)
    if (!keepsRunning && typeof timer === 'object') timer.unref()
    signal?.addEventListener('abort', done)
  })
}
