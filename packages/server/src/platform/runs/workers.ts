import { setTimeout as sleep } from 'node:timers/promises'
import { type RawBuilder, sql } from 'kysely'
import { evenIfClosed, isOfOpenTenant } from '../closed-tenants.ts'
import { eachAlone, every, type Repeated } from '../every.ts'
import type { TenantTables } from '../postgres/database.ts'
import type { Invalidation } from '../postgres/invalidation.ts'
import { isBeingWorkedOn, isFree } from '../postgres/lease.ts'
import { inRounds } from '../rounds.ts'
import { openTenant, type Stores, type Tenant } from '../tenant.ts'
import { type RunKind, type RunServices, takeTurn } from './kind.ts'
import { claimRun, RUNS_CHANNEL, type RunRows, type RunTable } from './run.ts'

/** How often due runs are looked for. A notification announces those that a request queues. */
const POLL_MS = 1_000
const SWEEP_MS = 10_000
const SWEPT_AT_ONCE = 100
/** How long a stop waits for the turns under way; the leases of those that take longer end later. */
const STOP_TIMEOUT_MS = 20_000

/** A part of a kind's runs, which this process works on, some at a time. */
interface Lane {
  atOnce: number
  /** Only these runs. */
  only?: RawBuilder<boolean>
  /** What is worked on first. Default: what has been due the longest. */
  first?: RawBuilder<unknown>
}

/** What is looked for now and then, beside due runs: rows of all tenants, which are handled one after another. */
export interface Sweep {
  table: keyof TenantTables
  /** The column of their id. */
  id: string
  isDue(now: Date): RawBuilder<boolean>
  /** Whether rows of closed tenants are handled too. */
  evenIfClosed?: true
  /** Makes it so that the row is no longer due. Several processes may do so at the same time. */
  handle(tenant: Tenant, id: string, now: Date): Promise<unknown>
}

/** The runs of a kind, for the workers. */
export interface RunWork {
  rows: RunRows
  lanes: readonly Lane[]
  sweeps: readonly Sweep[]
  /** @returns whether this process could claim the run. */
  work(services: RunServices, tenant: Tenant, runId: string, stopping: AbortSignal): Promise<boolean>
}

/** Has the workers work on runs of a kind. */
export function runWork<Table extends RunTable>(
  kind: RunKind<Table>,
  lanes: readonly Lane[],
  ...sweeps: readonly Sweep[]
): RunWork {
  const { rows } = kind
  const work: RunWork['work'] = async (services, tenant, runId, stopping) => {
    const run = await claimRun(rows, tenant, runId, services.clock())
    if (run) await takeTurn(kind, services, run, stopping)
    return run !== null
  }
  return { rows, lanes, sweeps, work }
}

/** Handles the rows that are due. A problem with one must not delay the others: it is due again in the next round. */
export async function sweep(
  { stores, clock, log }: RunServices & { stores: Stores },
  { table, id, isDue, evenIfClosed: isForAll, handle }: Sweep,
): Promise<void> {
  const now = clock()
  const opened = isForAll ? evenIfClosed(stores) : stores
  const { rows } = await sql<{ tenant_id: string; row_id: string }>`SELECT tenant_id, ${sql.ref(id)} AS row_id
    FROM ${sql.table(table)} WHERE ${isDue(now)} AND ${isOfOpenTenant(opened)} LIMIT ${sql.lit(SWEPT_AT_ONCE)}`.execute(
    stores.database,
  )
  for (const { tenant_id, row_id } of rows) {
    try {
      await handle(openTenant(opened, tenant_id), row_id, now)
    } catch (error) {
      log.warn({ err: error, table, tenant_id, row_id }, 'a row that is due could not be handled; retrying shortly')
    }
  }
}

/** A lane, and the turns that this process is taking in it. */
interface Busy {
  kind: RunWork
  lane: Lane
  turns: Set<Promise<void>>
}

/** Works on the due runs of all tenants. */
export async function startRunWorkers(
  {
    stores,
    invalidation,
    ...services
  }: RunServices & { stores: Stores; invalidation: Pick<Invalidation, 'onNotified'> },
  kinds: readonly RunWork[],
): Promise<Repeated> {
  const { log } = services
  const stopping = new AbortController()
  const lanes: Busy[] = kinds.flatMap((kind) => kind.lanes.map((lane) => ({ kind, lane, turns: new Set() })))

  const look = inRounds(async () => {
    const free = lanes.filter(({ lane, turns }) => turns.size < lane.atOnce)
    if (free.length === 0 || stopping.signal.aborted) return
    try {
      const { rows } = await dueIn(free, stores).execute(stores.database)
      for (const { lane: index, tenant_id, run_id } of rows) {
        const lane = free[index]
        if (lane) begin(lane, tenant_id, run_id)
      }
    } catch (error) {
      log.warn({ err: error }, 'due runs could not be looked for; retrying shortly')
    }
  })

  function begin({ kind, turns }: Busy, tenantId: string, runId: string): void {
    const turn = work(kind, tenantId, runId).then((isClaimed) => {
      turns.delete(turn)
      // There may be more; but if another process was faster, it is the next round that finds out.
      if (isClaimed) void look()
    })
    turns.add(turn)
  }

  async function work({ rows, work }: RunWork, tenantId: string, runId: string): Promise<boolean> {
    try {
      const tenant = openTenant(rows.evenIfClosed ? evenIfClosed(stores) : stores, tenantId)
      return await work(services, tenant, runId, stopping.signal)
    } catch (error) {
      const about = { err: error, runs: rows.table, run_id: runId, tenant_id: tenantId }
      log.warn(about, 'a run could not be worked on')
      return false
    }
  }

  async function sweepAll(): Promise<void> {
    const sweeps = kinds.flatMap((kind) => kind.sweeps)
    const failures = await eachAlone(sweeps, (each) => sweep({ stores, ...services }, each))
    for (const err of failures) log.warn({ err }, 'rows that are due could not be looked for; retrying shortly')
  }

  await invalidation.onNotified(RUNS_CHANNEL, () => void look())
  const repeated = [every(POLL_MS, look), every(SWEEP_MS, sweepAll)]
  return {
    stop: async () => {
      stopping.abort()
      for (const each of repeated) await each.stop()
      const turns = lanes.flatMap((lane) => [...lane.turns])
      await Promise.race([Promise.all(turns), sleep(STOP_TIMEOUT_MS, undefined, { ref: false })])
    },
  }
}

/** The runs that can be claimed, as many of each lane as it has room for. */
function dueIn(lanes: readonly Busy[], stores: Pick<Stores, 'closed'>) {
  const branches = lanes.map(({ kind: { rows }, lane, turns }, index) => {
    const { table, id, oneOfTenant } = rows
    const isOpen = rows.evenIfClosed ? sql`true` : isOfOpenTenant(stores)
    const { atOnce, only = sql<boolean>`true`, first } = lane
    const busy = sql`AND tenant_id NOT IN (SELECT tenant_id FROM ${sql.table(table)} WHERE ${isBeingWorkedOn})`
    return sql`(SELECT ${sql.lit(index)} AS lane, tenant_id, ${sql.ref(id)} AS run_id FROM ${sql.table(table)}
      WHERE due_at <= now() AND ${isFree} AND ${isOpen} AND ${only} ${oneOfTenant ? busy : sql``}
      ORDER BY ${first ? sql`${first}, due_at` : sql`due_at`} LIMIT ${sql.lit(atOnce - turns.size)})`
  })
  return sql<{ lane: number; tenant_id: string; run_id: string }>`${sql.join(branches, sql` UNION ALL `)}`
}
