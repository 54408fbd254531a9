import { sql } from 'kysely'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import type { Repeated } from '../../src/platform/every.ts'
import { newId } from '../../src/platform/ids.ts'
import type { RunKind } from '../../src/platform/runs/kind.ts'
import { doubling, takeTurn } from '../../src/platform/runs/kind.ts'
import { cancelRun, claimRun, completeRun, type Run, type RunRows, updateRun } from '../../src/platform/runs/run.ts'
import { runWork, startRunWorkers } from '../../src/platform/runs/workers.ts'
import { claimHeld } from '../runs.ts'
import { createTestTenant, startTestService, type TestService, type TestTenant } from '../service.ts'

/**
 * Chapter 5: a kind of run.
 *
 * A run is work that outlives a request: an export, an import, an erasure. `platform/runs/run.ts` tells its life. A new kind
 * owes four things; this chapter counts to a number, slowly.
 *
 * 1. A table with the columns of every run, and an index of what is due. Copy them from `tenant-export/tables.sql`; the type
 *    `RunTable` accepts no table without them, and the last test of this chapter no table without the index.
 */
const TABLE = `CREATE TABLE countings (
  tenant_id uuid NOT NULL,
  counting_id uuid NOT NULL,
  status text NOT NULL CHECK (status IN ('queued', 'running', 'waiting', 'completed', 'failed', 'cancelled')),
  due_at timestamptz,
  claim uuid,
  claimed_until timestamptz,
  failures integer NOT NULL DEFAULT 0,
  waiting_for text,
  error text,
  started_at timestamptz,
  finished_at timestamptz,
  progress real NOT NULL DEFAULT 0,
  PRIMARY KEY (tenant_id, counting_id)
);
CREATE INDEX countings_due ON countings (due_at) WHERE due_at IS NOT NULL`

/** 2. Where its runs are. (The types know this table only once `npm run generate` has seen its `tables.sql`.) */
const ROWS = { table: 'countings', id: 'counting_id', lease: 'export' } as unknown as RunRows<'exports'>

/**
 * 3. What a turn does. It stores how far it is, so that the next turn continues there, after a crash too: in this process or
 *    another. It ends the run, lets it wait (`pauseRun`), or returns, and other runs have their turn. Each of its updates
 *    throws `ClaimLost` if the run was cancelled or another process has claimed it; and `signal` aborts. Other tables are
 *    written in the transaction of such an update, or after `holdRun` in the same transaction.
 */
async function count(run: Run<'exports'>, signal: AbortSignal, fails: () => boolean): Promise<void> {
  signal.throwIfAborted()
  if (fails()) throw new Error('lost count')
  const progress = run.row.progress + 1
  if (progress < 3) await updateRun(run, { progress, failures: 0 })
  else await completeRun(run, { progress }, new Date())
}

/** 4. What an error means. Feature folders export this as a function of their services, and `assembly/workers.ts` lists it. */
const counting = (fails = () => false): RunKind<'exports'> => ({
  rows: ROWS,
  step: (run, signal) => count(run, signal, fails),
  failure: (error) => ({ isFinal: false, shown: { error: (error as Error).message } }),
  failuresMax: 2,
  pauseSeconds: doubling(0.1, 1),
})

let service: TestService
let tenant: TestTenant
let workers: Repeated | undefined

beforeAll(async () => {
  service = await startTestService()
  tenant = await createTestTenant(service)
  await sql.raw(TABLE).execute(service.stores.database)
})
afterAll(async () => {
  await workers?.stop()
  await service?.close()
})

/** A run that is due; requests insert one with `...queued()` and call `wakeWorkers` in their transaction. */
async function queuedRun(): Promise<string> {
  const id = newId()
  await sql`INSERT INTO countings (tenant_id, counting_id, status, due_at) VALUES (${tenant.id}, ${id}, 'queued', now())`.execute(
    service.stores.database,
  )
  return id
}

async function rowOf(id: string) {
  const { rows } = await sql<{ status: string; progress: number; failures: number; error: string | null }>`
    SELECT status, progress, failures, error FROM countings WHERE counting_id = ${id}`.execute(service.stores.database)
  return rows[0]
}

const never = new AbortController().signal

describe('a run', () => {
  test('is worked on turn by turn; an attempt that fails is tried again', async () => {
    let left = 2
    workers = await startRunWorkers({ ...service, invalidation: { onNotified: async () => {} } }, [
      runWork(
        counting(() => left-- > 0),
        [{ atOnce: 1 }],
      ),
    ])
    const id = await queuedRun()
    await expect
      .poll(() => rowOf(id), { timeout: 30_000 })
      .toMatchObject({ status: 'completed', progress: 3, error: null })
    await workers.stop()
  })

  test('fails after too many attempts without progress', async () => {
    const id = await queuedRun()
    for (let attempt = 0; attempt < 3; attempt++) {
      const run = await claimHeld(ROWS, tenant.handle, id)
      await takeTurn(
        counting(() => true),
        service,
        run,
        never,
      )
    }
    const error = 'The run was interrupted 3 times and made no progress.'
    expect(await rowOf(id)).toMatchObject({ status: 'failed', failures: 3, error })
  })

  test('that a process leaves behind is continued by another one, which the first one cannot disturb', async () => {
    const id = await queuedRun()
    const dead = await claimHeld(ROWS, tenant.handle, id)
    expect(await claimRun(ROWS, tenant.handle, id, new Date())).toBeNull()
    const run = await claimHeld(ROWS, tenant.handle, id)
    await takeTurn(counting(), service, dead, never)
    expect((await rowOf(id))?.progress).toBe(0)
    await takeTurn(counting(), service, run, never)
    expect(await rowOf(id)).toMatchObject({ status: 'queued', progress: 1 })
  })

  test('that is cancelled stops at its next update', async () => {
    const id = await queuedRun()
    const run = await claimHeld(ROWS, tenant.handle, id)
    expect(await tenant.handle.transaction((tx) => cancelRun(ROWS, tx, id, new Date()))).toBe(true)
    await takeTurn(counting(), service, run, never)
    expect(await rowOf(id)).toMatchObject({ status: 'cancelled', progress: 0 })
    expect(await tenant.handle.transaction((tx) => cancelRun(ROWS, tx, id, new Date()))).toBe(false)
  })

  test('goes back to the queue when its process stops', async () => {
    const id = await queuedRun()
    await takeTurn(counting(), service, await claimHeld(ROWS, tenant.handle, id), AbortSignal.abort())
    expect(await rowOf(id)).toMatchObject({ status: 'queued', failures: 0, error: null })
  })
})

/**
 * Besides, it owes a test that kills the service in the middle of it (`test/runs-crash.test.ts` and its neighbours), and a row in
 * `docs/decisions/0038-runs.md`.
 */
test('every table of runs finds what is due by an index, and knows the same statuses', async () => {
  const { rows } = await sql<{ table: string; has_index: boolean; has_statuses: boolean }>`
    SELECT c.table_name AS table,
      EXISTS (SELECT FROM pg_indexes i WHERE i.tablename = c.table_name
        AND i.indexdef LIKE '%(due_at) WHERE (due_at IS NOT NULL)') AS has_index,
      EXISTS (SELECT FROM pg_constraint k WHERE k.conrelid = c.table_name::regclass
        AND pg_get_constraintdef(k.oid) LIKE '%''queued''%''running''%''waiting''%''completed''%''failed''%''cancelled''%') AS has_statuses
    FROM information_schema.columns c
    WHERE c.table_schema = 'public' AND c.column_name = 'waiting_for'
    ORDER BY 1`.execute(service.stores.database)
  expect(rows.map(({ table }) => table)).toContain('countings')
  expect(rows.filter(({ has_index, has_statuses }) => !has_index || !has_statuses)).toEqual([])
})
