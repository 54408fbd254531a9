/**
 * One for each concurrent read and write of the embedded ClickHouse, plus some for files, DNS look-ups and password
 * hashing.
 */
const THREADS = '40'

/**
 * Sets the size of Node's thread pool. Every running query of the embedded ClickHouse occupies a thread, and Node has
 * four by default: four slow queries would block file access, DNS look-ups and password hashing. Call it first, because
 * Node reads the number when it starts the first thread.
 */
export function reserveThreads(): void {
  process.env.UV_THREADPOOL_SIZE ??= THREADS
}
