import { setTimeout as sleep } from 'node:timers/promises'
import { sql } from 'kysely'
import type { TestTenant } from './service.ts'

const WITHIN_MS = 120_000
/** A query costs a tenth of a request, and most waits take hundreds of milliseconds. */
const EVERY_MS = 25

export type Waiter = Pick<TestTenant, 'handle'>

interface WaitedFor {
  state: string
  error: string | null
  next_pull_at: Date
  write_back_at: Date
  write_back_error: string | null
  /** Of its latest run. */
  run_id: string | null
  finished_at: Date | null
}

async function rowOf({ handle }: Waiter, id: string): Promise<WaitedFor | undefined> {
  const { rows } = await sql<WaitedFor>`
    SELECT state, error, next_pull_at, write_back_at, write_back_error, run_id, finished_at FROM connections
    LEFT JOIN LATERAL (SELECT run_id, finished_at FROM connection_runs AS run
      WHERE run.tenant_id = connections.tenant_id AND run.connection_id = connections.connection_id
      ORDER BY run_id DESC LIMIT 1) AS latest ON true
    WHERE tenant_id = ${handle.id} AND connection_id = ${id}`.execute(handle.unrestricted)
  return rows[0]
}

/** Waits in the database until a connection is as wanted. @throws Error what the connection is instead. */
export async function connectionWhich(
  tenant: Waiter,
  id: string,
  isWanted: (connection: WaitedFor) => boolean,
): Promise<WaitedFor> {
  const until = Date.now() + WITHIN_MS
  for (;;) {
    const row = await rowOf(tenant, id)
    if (row && isWanted(row)) return row
    if (Date.now() > until) throw new Error(`The connection is ${JSON.stringify(row)}.`)
    await sleep(EVERY_MS)
  }
}

/**
 * Waits for the end of a run other than `before`.
 * @param ifFailed what to do while the connection shows an error: throw it, wait for the run that ends it, or ignore it.
 * @returns the id of the run.
 */
export async function runOf(
  tenant: Waiter,
  id: string,
  before: string | undefined,
  ifFailed: 'throw' | 'wait' | 'ignore',
): Promise<string> {
  const { run_id } = await connectionWhich(tenant, id, ({ state, error, run_id, finished_at }) => {
    if (error !== null && ifFailed === 'throw') throw new Error(error)
    if (error !== null && ifFailed === 'wait') return false
    return run_id !== null && run_id !== before && finished_at !== null && state !== 'pulling'
  })
  await isIdle(tenant, id)
  return run_id ?? ''
}

/** Waits until a connection has a state, and, if it stops in this state, until its job has ended. */
export async function reaches(tenant: Waiter, id: string, state: string): Promise<void> {
  await connectionWhich(tenant, id, (connection) => connection.state === state)
  if (state === 'failed' || state === 'signed_out') await isIdle(tenant, id)
}

/** Waits until no job of a connection is left: until then, it would refuse another one. */
export async function isIdle({ handle }: Waiter, id: string): Promise<void> {
  const job = sql<{ name: string; state: string }>`SELECT name, state FROM pgboss.job
    WHERE singleton_key = ${`${handle.id}/${id}`} AND state < 'completed'`
  await noneLeft(async () => (await job.execute(handle.unrestricted)).rows)
}

/** Waits until a connection has written back everything. */
export async function isWritten(tenant: Waiter, id: string): Promise<void> {
  await noneLeft(() =>
    tenant.handle.db.selectFrom('connection_outbox').select('contact_id').where('connection_id', '=', id).execute(),
  )
  await isIdle(tenant, id)
}

async function noneLeft(find: () => Promise<readonly unknown[]>): Promise<void> {
  const until = Date.now() + WITHIN_MS
  for (let left = await find(); left.length > 0; left = await find()) {
    if (Date.now() > until) throw new Error(`${JSON.stringify(left)} are left.`)
    await sleep(EVERY_MS)
  }
}
