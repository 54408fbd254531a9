import { type Kysely, type Selectable, sql, type UpdateObject } from 'kysely'
import { newId } from '../ids.ts'
import { changeTogether } from '../postgres/collisions.ts'
import type { TenantTables } from '../postgres/database.ts'
import {
  ClaimLost,
  isBeingWorkedOn,
  isClaimed,
  isFree,
  type Lease,
  newClaim,
  RELEASED,
  updateClaimed,
} from '../postgres/lease.ts'
import { lock } from '../postgres/locks.ts'
import type { Tenant } from '../tenant.ts'

/*
 * A run is work that outlives a request, such as an export or an erasure. Its row is its own queue: any process that works
 * may claim it once `due_at` has come, and works on it as long as it has the claim (see postgres/lease.ts). If the process
 * dies, its lease ends, and another process claims the row. So no job can be lost, and none can start twice.
 *
 *   queued ─▶ running ─▶ completed, failed or cancelled
 *     ▲         │  ▲
 *     └─────────┤  └── waiting (`waiting_for` says what for)
 *   a turn ends └──────▲
 *
 * Every table of runs has the same columns for this, and `due_at` is NULL in rows that nobody has to work on. PostgreSQL's
 * clock decides what is due, as for leases. How features name the statuses in responses is said where they make the object.
 */

/** The columns that each table of runs has. */
interface RunColumns {
  status: string
  due_at: Date | null
  claim: string | null
  claimed_until: Date | null
  /** The attempts in a row that failed, or whose process died. Progress may set it to 0. */
  failures: number
  waiting_for: string | null
  /** Why the last attempt failed; NULL once the run is completed. */
  error: string | null
  started_at: Date | null
  finished_at: Date | null
}

/** The tables that have these columns. */
export type RunTable = {
  [Table in keyof TenantTables]: Selectable<TenantTables[Table]> extends RunColumns ? Table : never
}[keyof TenantTables]

/** Where runs of a kind are stored. */
export interface RunRows<Table extends RunTable = RunTable> {
  table: Table
  /** The column of their id. */
  id: string
  lease: Lease
  /** A tenant's runs take turns, so that one tenant cannot occupy all workers. */
  oneOfTenant?: true
  /** Whether they are also worked on while their tenant is closed. The others continue when it is reopened. */
  evenIfClosed?: true
  /** Ends what belongs to a run that fails or is cancelled: before its row is updated, and once more after it. */
  ending?(tx: Tenant, runId: string): Promise<void>
}

interface Claimed {
  rows: RunRows
  tenant: Tenant
  runId: string
  claim: string
}

/** A run that this process has claimed. */
export interface Run<Table extends RunTable> extends Claimed {
  rows: RunRows<Table>
  /** The row as it was claimed. */
  row: Selectable<TenantTables[Table]> & RunColumns
}

/** Columns of a run's row, to be changed in addition to those of every run. */
export type Changes<Table extends RunTable> = UpdateObject<TenantTables, Table>

/** The statuses of runs that have not ended. */
export const OPEN = ['queued', 'running', 'waiting'] as const
export const RUNS_CHANNEL = 'cds_runs'
const ERROR_LENGTH_MAX = 1_000

/** The columns of a row that any process may work on now. After the update, call `wakeWorkers`. */
export function queued() {
  return { status: 'queued', due_at: sql<Date>`now()`, waiting_for: null }
}

/** Has the workers of all processes look for due runs once the transaction commits. */
export async function wakeWorkers({ db }: Tenant): Promise<void> {
  await sql`SELECT pg_notify(${RUNS_CHANNEL}, '')`.execute(db)
}

/** The row of a run, to be updated. */
function rowOf({ table, id }: RunRows, tenant: Tenant, runId: string) {
  return runsOf(tenant)
    .updateTable(table as 'runs')
    .where(sql.ref<string>(id), '=', runId)
}

/** Any of the tables of runs, by the columns that they share: the compiler cannot see them through a parameter. */
function runsOf({ db }: Tenant): Kysely<Record<'runs', RunColumns>> {
  return db as unknown as Kysely<Record<'runs', RunColumns>>
}

/** Claims a run that is due, or whose process died. @returns null if there is nothing to do. */
export async function claimRun<Table extends RunTable>(
  rows: RunRows<Table>,
  tenant: Tenant,
  runId: string,
  now: Date,
): Promise<Run<Table> | null> {
  const claim = newId()
  const claimRow = (tx: Tenant) =>
    rowOf(rows, tx, runId)
      .set({
        status: 'running',
        ...newClaim(rows.lease, claim),
        waiting_for: null,
        started_at: sql`coalesce(started_at, ${now}::timestamptz)`,
        // The process of an earlier claim did not release it.
        failures: sql`failures + (claim IS NOT NULL)::int`,
      })
      .where(sql<boolean>`due_at <= now()`)
      .where(isFree)
      .returningAll()
      .executeTakeFirst()
  const row = await (rows.oneOfTenant
    ? tenant.transaction(async (tx) => ((await isTenantBusy(rows, tx)) ? undefined : claimRow(tx)))
    : claimRow(tenant))
  if (!row) return null
  return { rows, tenant, runId, claim, row: row as Selectable<TenantTables[Table]> & RunColumns }
}

/** Keeps other processes from claiming a run of the tenant, and says whether one is working on one. */
async function isTenantBusy({ table }: RunRows, tx: Tenant): Promise<boolean> {
  await lock(tx.db, 'claims', table, tx.id)
  const busy = runsOf(tx)
    .selectFrom(table as 'runs')
    .select('claim')
    .where(isBeingWorkedOn)
    .limit(1)
  return (await busy.executeTakeFirst()) !== undefined
}

/** An update of a run that applies only while this process has the claim. */
export function whereClaimed({ rows, runId, claim, tenant }: Claimed, tx = tenant) {
  return rowOf(rows, tx, runId).where(isClaimed(claim))
}

/** Updates a run. @throws ClaimLost */
export async function updateRun<Table extends RunTable>(
  run: Run<Table>,
  changes: Changes<Table>,
  tx?: Tenant,
): Promise<void> {
  await updateClaimed(whereClaimed(run, tx).set(changes as object))
}

/** Completes a run. @throws ClaimLost */
export async function completeRun<Table extends RunTable>(
  run: Run<Table>,
  changes: Changes<Table>,
  now: Date,
  tx?: Tenant,
): Promise<void> {
  await updateClaimed(whereClaimed(run, tx).set({ ...ended('completed', now), error: null, ...(changes as object) }))
}

/** Lets a run wait until it is due, or (`seconds` is null) for a person. @throws ClaimLost */
export async function pauseRun<Table extends RunTable>(
  run: Run<Table>,
  { seconds, waitingFor }: { seconds: number | null; waitingFor: string },
  changes: Changes<Table>,
): Promise<void> {
  const due_at = sql<Date | null>`now() + make_interval(secs => ${seconds}::float8)`
  const waiting = { ...RELEASED, status: 'waiting', waiting_for: waitingFor, due_at }
  await updateClaimed(whereClaimed(run).set({ ...waiting, ...(changes as object) }))
}

/** Puts a run at the end of the queue, unless its step has ended it or let it wait. */
export async function releaseRun(run: Claimed): Promise<void> {
  await run.tenant.transaction(async (tx) => {
    const { numUpdatedRows } = await whereClaimed(run, tx)
      .set({ ...queued(), ...RELEASED })
      .executeTakeFirst()
    if (numUpdatedRows > 0n) await wakeWorkers(tx)
  })
}

/** Counts a failed attempt of a run. @returns how many there were in a row. @throws ClaimLost */
export async function countFailure(run: Claimed): Promise<number> {
  const update = whereClaimed(run).set(({ eb }) => ({ failures: eb('failures', '+', 1) }))
  const row = await update.returning('failures').executeTakeFirst()
  if (!row) throw new ClaimLost()
  return row.failures
}

/** Fails a run. @throws ClaimLost if another process has claimed it, or it has ended. */
export async function failRun<Table extends RunTable>(
  run: Run<Table>,
  shown: Changes<Table> & { error: string },
  now: Date,
): Promise<void> {
  const failed = { ...ended('failed', now), ...(shown as object), error: storable(shown.error) }
  // A process that is slow rather than dead may have locked what belongs to the run, and wait for its row.
  await changeTogether(run.tenant, async (tx) => {
    if (!(await endRun(run.rows, tx, run.runId, whereClaimed(run, tx).set(failed)))) throw new ClaimLost()
  })
}

/**
 * Cancels a run in the caller's transaction, which must be repeated on collision. A process that is working on the run stops
 * at its next update. @param error why the run fails instead.
 * @returns whether it was open; if not, the transaction must be rolled back.
 */
export async function cancelRun(rows: RunRows, tx: Tenant, runId: string, now: Date, error?: string): Promise<boolean> {
  const end = error === undefined ? ended('cancelled', now) : { ...ended('failed', now), error }
  const update = rowOf(rows, tx, runId).set(end)
  return endRun(rows, tx, runId, update.where('status', 'in', OPEN))
}

async function endRun(
  { ending }: RunRows,
  tx: Tenant,
  runId: string,
  update: ReturnType<typeof rowOf>,
): Promise<boolean> {
  // What belongs to a run is locked before the run itself, as a step does.
  await ending?.(tx, runId)
  const { numUpdatedRows } = await update.executeTakeFirstOrThrow()
  // What was added in between.
  await ending?.(tx, runId)
  return numUpdatedRows > 0n
}

function ended(status: 'completed' | 'failed' | 'cancelled', now: Date) {
  return { ...RELEASED, status, due_at: null, waiting_for: null, finished_at: now }
}

/** An error message that PostgreSQL can store. */
export function storable(message: string): string {
  return message.slice(0, ERROR_LENGTH_MAX).replaceAll('\0', '').toWellFormed()
}

/** Keeps a run from being cancelled until the transaction ends; other parts of its step may do the same. @throws ClaimLost */
export async function holdRun({ rows: { table, id }, runId, claim }: Claimed, tx: Tenant): Promise<void> {
  const row = runsOf(tx)
    .selectFrom(table as 'runs')
    .select('claim')
    .where(sql.ref<string>(id), '=', runId)
  if (!(await row.where(isClaimed(claim)).forKeyShare().executeTakeFirst())) throw new ClaimLost()
}
