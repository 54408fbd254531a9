import type { ClickHouse } from './connect.ts'

/** Replaces a ClickHouse that must not be used: every call fails with the same error. */
export function refusingClickHouse(error: Error, close: () => Promise<void>): ClickHouse {
  const refuse = () => Promise.reject(error)
  return {
    query: refuse,
    // biome-ignore lint/correctness/useYield: it always fails
    stream: async function* () {
      throw error
    },
    parquet: refuse,
    command: refuse,
    insert: refuse,
    ping: refuse,
    cores: refuse,
    close,
  }
}
