import { sql } from 'kysely'
import { conflict, notFound } from '../../platform/errors.ts'
import { offsetOf, type Page } from '../../platform/http/pagination.ts'
import { isUuid, newId } from '../../platform/ids.ts'
import { requireFewerADay } from '../../platform/limits.ts'
import { queued, type RunRows, wakeWorkers } from '../../platform/runs/run.ts'
import type { Tenant } from '../../platform/tenant.ts'
import { type RunRow, type TableCounts, toRun, type WarehouseRun } from '../destination.ts'

export const WAREHOUSE_ROWS: RunRows<'warehouse_runs'> = {
  table: 'warehouse_runs',
  id: 'run_id',
  lease: 'warehouse_run',
  oneOfTenant: true,
}

/** The number of ended runs that a destination keeps. */
export const RUNS_KEPT = 100

/**
 * Runs of a destination that callers may request within 24 hours. Each writes all contacts and companies, a full one all
 * events too, maybe to a folder on the disk of the service, and the service deletes no exported files. A new destination
 * starts at 0, but only callers with settings:write can create one.
 */
export const REQUESTED_PER_DAY = 10
const LIMIT = {
  max: REQUESTED_PER_DAY,
  code: 'warehouse_limit_reached',
  message: `You can start at most ${REQUESTED_PER_DAY} runs of a destination in 24 hours. Wait for the next scheduled run, or try again later.`,
}

/**
 * Queues a run in the caller's transaction, in which the destination is locked.
 * @returns its id, and whether it is new: only one run of a destination is open at a time.
 * @throws ServiceError 409 `warehouse_run_open`; 429 `warehouse_limit_reached` for one that a caller requests
 */
export async function requestRun(
  tx: Tenant,
  destinationId: string,
  { trigger, isFull }: { trigger: 'schedule' | 'manual'; isFull: boolean },
  now: Date,
): Promise<{ runId: string; isNew: boolean }> {
  const open = await tx.db
    .selectFrom('warehouse_runs')
    .select(['run_id', 'is_full', 'status'])
    .where('destination_id', '=', destinationId)
    .where('finished_at', 'is', null)
    .executeTakeFirst()
  if (open && isFull && !open.is_full) {
    const message =
      'A run of this destination is in progress. Wait until it has finished, then export everything again.'
    throw conflict('warehouse_run_open', message)
  }
  if (open) {
    // A person who has fixed the storage should not have to wait for the next attempt.
    if (open.status !== 'running' && trigger === 'manual') await queueNow(tx, open.run_id)
    return { runId: open.run_id, isNew: false }
  }
  if (trigger === 'manual') requireFewerADay(await requestedTimes(tx, destinationId), LIMIT, now)
  const runId = newId()
  await tx.db
    .insertInto('warehouse_runs')
    .values({
      run_id: runId,
      destination_id: destinationId,
      trigger,
      is_full: isFull,
      ...queued(),
      created_at: now,
    })
    .execute()
  await wakeWorkers(tx)
  return { runId, isNew: true }
}

/** When the latest runs were requested, newest first. */
async function requestedTimes(tx: Tenant, destinationId: string): Promise<Date[]> {
  const rows = await tx.db
    .selectFrom('warehouse_runs')
    .select('created_at')
    .where('destination_id', '=', destinationId)
    .where('trigger', '=', 'manual')
    .orderBy('created_at', 'desc')
    .limit(REQUESTED_PER_DAY)
    .execute()
  return rows.map(({ created_at }) => created_at)
}

async function queueNow(tx: Tenant, runId: string): Promise<void> {
  const run = tx.db.updateTable('warehouse_runs').set(queued()).where('run_id', '=', runId)
  await run.where('status', 'in', ['queued', 'waiting']).execute()
  await wakeWorkers(tx)
}

/** One page of a destination's runs, newest first, and the total. */
export async function listRuns(
  tenant: Tenant,
  destinationId: string,
  page: Page,
): Promise<{ runs: WarehouseRun[]; total: number }> {
  const ofDestination = tenant.db.selectFrom('warehouse_runs').where('destination_id', '=', destinationId)
  const [rows, counted] = await Promise.all([
    ofDestination
      .selectAll()
      .orderBy('created_at', 'desc')
      .orderBy('run_id', 'desc')
      .limit(page.limit)
      .offset(offsetOf(page))
      .execute(),
    ofDestination.select(({ fn }) => fn.countAll<number>().as('count')).executeTakeFirstOrThrow(),
  ])
  return { runs: await withCounts(tenant, rows), total: Number(counted.count) }
}

/** @throws ServiceError 404 */
export async function readRun(tenant: Tenant, runId: string): Promise<WarehouseRun> {
  const rows = isUuid(runId)
    ? await tenant.db.selectFrom('warehouse_runs').selectAll().where('run_id', '=', runId.toLowerCase()).execute()
    : []
  const [run] = await withCounts(tenant, rows)
  if (!run) throw notFound('warehouse run')
  return run
}

/** The latest run of each destination. */
export async function latestRuns(
  tenant: Tenant,
  destinationIds: readonly string[],
): Promise<Map<string, WarehouseRun>> {
  if (destinationIds.length === 0) return new Map()
  const rows = await tenant.db
    .selectFrom('warehouse_runs')
    .selectAll()
    .distinctOn('destination_id')
    .where('destination_id', 'in', destinationIds)
    .orderBy('destination_id')
    .orderBy('created_at', 'desc')
    .orderBy('run_id', 'desc')
    .execute()
  const runs = await withCounts(tenant, rows)
  return new Map(runs.map((run) => [run.destination_id, run]))
}

async function withCounts(tenant: Tenant, rows: readonly RunRow[]): Promise<WarehouseRun[]> {
  const ids = rows.map(({ run_id }) => run_id)
  const counts = await countsOf(tenant, ids)
  return rows.map((row) => toRun(row, counts.get(row.run_id) ?? {}))
}

/** The files, rows and bytes that runs have written. */
async function countsOf(tenant: Tenant, runIds: readonly string[]): Promise<Map<string, TableCounts>> {
  if (runIds.length === 0) return new Map()
  const rows = await tenant.db
    .selectFrom('warehouse_files')
    .select(({ fn }) => [
      'run_id',
      'table_name',
      fn.countAll<number>().as('files'),
      fn.sum<number>('rows').as('rows'),
      fn.sum<number>('bytes').as('bytes'),
    ])
    .where('run_id', '=', sql<string>`any(${[...runIds]}::uuid[])`)
    .groupBy(['run_id', 'table_name'])
    .orderBy('table_name')
    .execute()
  const counts = new Map<string, TableCounts>()
  for (const { run_id, table_name, files, rows: count, bytes } of rows) {
    const tables = counts.get(run_id) ?? {}
    tables[table_name] = { files: Number(files), rows: Number(count), bytes: Number(bytes) }
    counts.set(run_id, tables)
  }
  return counts
}
