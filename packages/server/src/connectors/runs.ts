import { sql } from 'kysely'
import { offsetOf, type Page } from '../platform/http/pagination.ts'
import { newId } from '../platform/ids.ts'
import type { Tenant } from '../platform/tenant.ts'
import type { PageResult, RecordError } from './write-page.ts'

const RUNS_KEPT = 50
const ERRORS_KEPT = 1_000
const ID_LENGTH_MAX = 200
const MESSAGE_LENGTH_MAX = 500

/** The number of records by object and status, such as `{contacts: {created: 3}}`. */
export type Counts = Record<string, Record<string, number>>

/** Starts a run, and deletes the oldest ones. @returns its id. */
export async function startRun(tx: Tenant, connectionId: string, now: Date): Promise<string> {
  const runId = newId()
  await tx.db
    .insertInto('connection_runs')
    .values({ connection_id: connectionId, run_id: runId, counts: {}, started_at: now, finished_at: null })
    .execute()
  await tx.db
    .deleteFrom('connection_runs')
    .where('connection_id', '=', connectionId)
    .where('run_id', 'in', (eb) =>
      eb
        .selectFrom('connection_runs')
        .select('run_id')
        .where('connection_id', '=', connectionId)
        .orderBy('run_id', 'desc')
        .offset(RUNS_KEPT),
    )
    .execute()
  return runId
}

/** Adds the counts of a page to its run, and stores its errors. */
export async function notePage(
  tx: Tenant,
  { connectionId, runId, object }: { connectionId: string; runId: string; object: string },
  { counts, errors }: PageResult,
  now: Date,
): Promise<void> {
  const run = await tx.db
    .selectFrom('connection_runs')
    .select('counts')
    .where('connection_id', '=', connectionId)
    .where('run_id', '=', runId)
    .forUpdate()
    .executeTakeFirst()
  if (!run) return
  const all = run.counts as Counts
  const sum = { ...all[object] }
  for (const [status, count] of Object.entries(counts)) sum[status] = (sum[status] ?? 0) + count
  await tx.db
    .updateTable('connection_runs')
    .set({ counts: JSON.stringify({ ...all, [object]: sum }) })
    .where('connection_id', '=', connectionId)
    .where('run_id', '=', runId)
    .execute()
  await noteErrors(tx, { connectionId, runId, object }, errors, now)
}

/** Stores the errors of single records, and deletes the oldest ones. @param runId null: the records could not be written back. */
export async function noteErrors(
  tx: Tenant,
  { connectionId, runId, object }: { connectionId: string; runId: string | null; object: string },
  errors: readonly RecordError[],
  now: Date,
): Promise<void> {
  if (errors.length === 0) return
  const rows = errors.slice(0, ERRORS_KEPT).map(({ externalId, code, message }) => ({
    connection_id: connectionId,
    error_id: newId(),
    run_id: runId,
    object,
    external_id: externalId.slice(0, ID_LENGTH_MAX).toWellFormed(),
    code,
    message: message.slice(0, MESSAGE_LENGTH_MAX).toWellFormed(),
    at: now,
  }))
  await tx.db.insertInto('connection_errors').values(rows).execute()
  await tx.db
    .deleteFrom('connection_errors')
    .where('connection_id', '=', connectionId)
    .where('error_id', 'in', (eb) =>
      eb
        .selectFrom('connection_errors')
        .select('error_id')
        .where('connection_id', '=', connectionId)
        .orderBy('error_id', 'desc')
        .offset(ERRORS_KEPT),
    )
    .execute()
}

export async function finishRun(tx: Tenant, connectionId: string, runId: string, now: Date): Promise<void> {
  await tx.db
    .updateTable('connection_runs')
    .set({ finished_at: now })
    .where('connection_id', '=', connectionId)
    .where('run_id', '=', runId)
    .execute()
}

/** One page of a connection's runs, latest first, and the total. */
export async function listRuns(tenant: Tenant, connectionId: string, page: Page) {
  const rows = await tenant.db
    .selectFrom('connection_runs')
    .select(['run_id', 'counts', 'started_at', 'finished_at'])
    .select(sql<string>`count(*) OVER ()`.as('total'))
    .where('connection_id', '=', connectionId)
    .orderBy('run_id', 'desc')
    .limit(page.limit)
    .offset(offsetOf(page))
    .execute()
  const runs = rows.map(({ run_id, counts, started_at, finished_at }) => ({
    run_id,
    counts: counts as Counts,
    started_at: started_at.toISOString(),
    finished_at: finished_at?.toISOString() ?? null,
  }))
  return { runs, total: Number(rows[0]?.total ?? 0) }
}

/** One page of the records that could not be written, latest first, and the total. */
export async function listErrors(tenant: Tenant, connectionId: string, page: Page) {
  const rows = await tenant.db
    .selectFrom('connection_errors')
    .select(['error_id', 'run_id', 'object', 'external_id', 'code', 'message', 'at'])
    .select(sql<string>`count(*) OVER ()`.as('total'))
    .where('connection_id', '=', connectionId)
    .orderBy('error_id', 'desc')
    .limit(page.limit)
    .offset(offsetOf(page))
    .execute()
  const errors = rows.map(({ total: _, at, ...row }) => ({ ...row, at: at.toISOString() }))
  return { errors, total: Number(rows[0]?.total ?? 0) }
}
