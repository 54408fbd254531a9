import type { Pool } from 'pg'
import { expect } from 'vitest'

// Queried outside of transactions: inside one, pg_stat_activity keeps listing the connections of its first read.
const BLOCKED = 'FROM pg_stat_activity WHERE $1 = ANY(pg_blocking_pids(pid))'

/** Resolves when one connection waits for a lock. @param pid the process id of the connection that holds the lock. */
export async function untilOneIsBlocked(pool: Pool, pid: number): Promise<void> {
  await expect.poll(async () => (await pool.query(`SELECT ${BLOCKED}`, [pid])).rowCount, { interval: 5 }).toBe(1)
}

/** Breaks the connection that waits for a lock. @param pid the process id of the connection that holds the lock. */
export async function breakBlocked(pool: Pool, pid: number): Promise<void> {
  const broken = async () => (await pool.query(`SELECT pg_terminate_backend(pid) ${BLOCKED}`, [pid])).rowCount
  await expect.poll(broken, { interval: 5 }).toBe(1)
}
