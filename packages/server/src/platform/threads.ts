/** Reads and writes of the embedded ClickHouse that run at once, and some for files, name look-ups and password hashes. */
const THREADS = '40'

/**
 * Gives blocking work enough threads. Every query of the embedded ClickHouse holds one for as long as it runs, and Node has four: four
 * slow queries would stop files, name look-ups and password hashes. Call it before anything else, because the number is read when the
 * first of them is used.
 */
export function reserveThreads(): void {
  process.env.UV_THREADPOOL_SIZE ??= THREADS
}
