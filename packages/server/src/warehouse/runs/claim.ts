import { sql } from 'kysely'
import { newId } from '../../platform/ids.ts'
import type { Jobs } from '../../platform/jobs/jobs.ts'
import { isBeingWorkedOn, isClaimed, isFree, newClaim, RELEASED, updateClaimed } from '../../platform/postgres/lease.ts'
import { lock } from '../../platform/postgres/locks.ts'
import type { Tenant } from '../../platform/tenant.ts'
import { DAY_MS, MINUTE_MS } from '../../platform/time.ts'
import type { DestinationRow } from '../destination.ts'
import { requireDestination } from '../destinations.ts'
import { RUNS_KEPT, sendRun } from './requests.ts'

/** Minutes until a run is retried after its first failures. After later failures, it is PAUSE_MINUTES_MAX. */
const PAUSES_MINUTES = [1, 5, 15, 60]
const PAUSE_MINUTES_MAX = 240
const ERROR_LENGTH_MAX = 1_000
/** A contact that is erased during a run may be listed in this run's manifest and the next. That is better than in none. */
const ERASED_OVERLAP_MS = DAY_MS

/** A run that this process is working on. */
export interface ClaimedRun {
  runId: string
  claim: string
  isFull: boolean
  failures: number
  startedAt: Date
  /** null until the range is chosen. */
  upTo: number | null
  after: number | null
  destination: DestinationRow
}

/**
 * Claims a run that is queued, or whose process died. A tenant has one run at a time, so that its slow storage does not keep
 * other tenants waiting; its other runs stay queued. @returns null if there is nothing to do.
 */
export async function claimRun(tenant: Tenant, runId: string, now: Date): Promise<ClaimedRun | null> {
  const claim = newId()
  const row = await tenant.transaction(async (tx) => {
    await lock(tx.db, 'warehouse_runs', tx.id)
    const other = tx.db
      .selectFrom('warehouse_runs')
      .select('run_id')
      .where('status', '=', 'running')
      .where('run_id', '<>', runId)
    if (await other.where(isBeingWorkedOn).limit(1).executeTakeFirst()) return undefined
    return claimRow(tx, runId, claim, now)
  })
  if (!row) return null
  return {
    runId,
    claim,
    isFull: row.is_full,
    failures: row.failures,
    startedAt: row.started_at ?? now,
    after: row.after_sequence === null ? null : Number(row.after_sequence),
    upTo: row.up_to_sequence === null ? null : Number(row.up_to_sequence),
    destination: await requireDestination(tenant, row.destination_id),
  }
}

async function claimRow(tx: Tenant, runId: string, claim: string, now: Date) {
  return tx.db
    .updateTable('warehouse_runs')
    .set({
      status: 'running',
      ...newClaim('warehouse_run', claim),
      next_attempt_at: null,
      started_at: sql`coalesce(started_at, ${now}::timestamptz)`,
    })
    .where('run_id', '=', runId)
    .where('status', 'in', ['queued', 'running'])
    .where(isFree)
    .returning(['destination_id', 'is_full', 'failures', 'started_at', 'after_sequence', 'up_to_sequence'])
    .executeTakeFirst()
}

/** An update of a run that applies only while this process has claimed it. */
export function whereClaimed(tenant: Tenant, { runId, claim }: Pick<ClaimedRun, 'runId' | 'claim'>) {
  return tenant.db
    .updateTable('warehouse_runs')
    .where('run_id', '=', runId)
    .where(isClaimed(claim))
    .where('status', '=', 'running')
}

/** Stores which rows the run exports, before it writes any. @throws ClaimLost */
export async function chooseRange(
  tenant: Tenant,
  run: ClaimedRun,
  upTo: number,
): Promise<{ after: number; upTo: number }> {
  const after = run.isFull ? -1 : Number(run.destination.exported_sequence)
  await updateClaimed(whereClaimed(tenant, run).set({ after_sequence: after, up_to_sequence: upTo }))
  return { after, upTo }
}

/** Ends a run after its manifest is written. The next run starts where it ended. @throws ClaimLost */
export async function finishRun(
  tenant: Tenant,
  run: ClaimedRun,
  { upTo, manifest }: { upTo: number; manifest: string },
  now: Date,
): Promise<void> {
  const { destination_id: id } = run.destination
  await tenant.transaction(async (tx) => {
    const finished = { ...RELEASED, status: 'succeeded', error: null, manifest, finished_at: now }
    await updateClaimed(whereClaimed(tx, run).set(finished))
    await tx.db
      .updateTable('warehouse_destinations')
      .set({ exported_sequence: upTo, exported_at: run.startedAt })
      .where('destination_id', '=', id)
      .execute()
    await deleteOldRuns(tx, id)
  })
}

async function deleteOldRuns(tx: Tenant, destinationId: string): Promise<void> {
  await tx.db
    .deleteFrom('warehouse_runs')
    .where('run_id', 'in', (eb) =>
      eb
        .selectFrom('warehouse_runs')
        .select('run_id')
        .where('destination_id', '=', destinationId)
        .where('status', '=', 'succeeded')
        .orderBy('created_at', 'desc')
        .orderBy('run_id', 'desc')
        .offset(RUNS_KEPT),
    )
    .execute()
}

/** Releases a run because this process is stopping. Any process can continue it. */
export async function releaseRun(tenant: Tenant, jobs: Pick<Jobs, 'send'>, run: ClaimedRun, now: Date): Promise<void> {
  await tenant.transaction(async (tx) => {
    const { numUpdatedRows } = await whereClaimed(tx, run)
      .set({ ...RELEASED, status: 'queued', queued_at: now })
      .executeTakeFirst()
    if (numUpdatedRows > 0n) await sendRun(tx, jobs, run.runId)
  })
}

/** Records a failure. The run is retried after a pause. */
export async function failAttempt(tenant: Tenant, run: ClaimedRun, message: string, now: Date): Promise<void> {
  const error = message.slice(0, ERROR_LENGTH_MAX).replaceAll('\0', '').toWellFormed()
  const minutes = PAUSES_MINUTES[run.failures] ?? PAUSE_MINUTES_MAX
  await whereClaimed(tenant, run)
    .set({
      ...RELEASED,
      status: 'retrying',
      failures: run.failures + 1,
      error,
      next_attempt_at: new Date(now.getTime() + minutes * MINUTE_MS),
    })
    .execute()
}

/**
 * The manifest lists contacts that were erased since this time. The files of an interrupted first run may contain contacts
 * that were erased while it waited.
 */
export function erasedFrom({ destination: { exported_at }, startedAt }: ClaimedRun): Date {
  return new Date((exported_at ?? startedAt).getTime() - ERASED_OVERLAP_MS)
}

/** The manifest of the latest run that succeeded; null before the first. */
export async function previousManifest(tenant: Tenant, { destination, runId }: ClaimedRun): Promise<string | null> {
  const row = await tenant.db
    .selectFrom('warehouse_runs')
    .select('manifest')
    .where('destination_id', '=', destination.destination_id)
    .where('status', '=', 'succeeded')
    .where('run_id', '<>', runId)
    .orderBy('created_at', 'desc')
    .limit(1)
    .executeTakeFirst()
  return row?.manifest ?? null
}
