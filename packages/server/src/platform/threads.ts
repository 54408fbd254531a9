/**
 * One for each concurrent read and write of the embedded ClickHouse, and some for files, DNS look-ups and password
 * hashing.
 */
const THREADS = '40'

/**
 * Gives blocking work enough threads. Every query of the embedded ClickHouse occupies one while it runs, and Node has
 * four: four slow queries would block file access, DNS look-ups and password hashing. Call it first, because Node
 * reads the number when it starts the first thread.
 */
export function reserveThreads(): void {
  process.env.UV_THREADPOOL_SIZE ??= THREADS
}
