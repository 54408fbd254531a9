import type { Pool } from 'pg'
import { expect } from 'vitest'

// Queried outside of transactions: in one, pg_stat_activity lists only the connections that existed when it was first read.
const BLOCKED = 'FROM pg_stat_activity WHERE $1 = ANY(pg_blocking_pids(pid))'

/** Waits until one connection waits for a lock of another. @param pid of the other. */
export async function untilOneIsBlocked(pool: Pool, pid: number): Promise<void> {
  await expect.poll(async () => (await pool.query(`SELECT ${BLOCKED}`, [pid])).rowCount, { interval: 5 }).toBe(1)
}

/** Waits until one connection waits for a lock of another, and breaks it. @param pid of the other. */
export async function breakBlocked(pool: Pool, pid: number): Promise<void> {
  const broken = async () => (await pool.query(`SELECT pg_terminate_backend(pid) ${BLOCKED}`, [pid])).rowCount
  await expect.poll(broken, { interval: 5 }).toBe(1)
}
