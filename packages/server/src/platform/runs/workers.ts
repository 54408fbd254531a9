import { setTimeout as sleep } from 'node:timers/promises'
import { type RawBuilder, sql } from 'kysely'
import { eachAlone, every, type Repeated } from '../every.ts'
import type { Invalidation } from '../postgres/invalidation.ts'
import { isBeingWorkedOn, isFree } from '../postgres/lease.ts'
import { inRounds } from '../rounds.ts'
import { openTenant, type Stores, type Tenant } from '../tenant.ts'
import { type RunKind, type RunServices, takeTurn } from './kind.ts'
import { claimRun, RUNS_CHANNEL, type RunTable } from './run.ts'

/** How often due runs are looked for. A notification announces those that a request queues. */
const POLL_MS = 1_000
const EXPIRY_MS = 10_000
const EXPIRED_AT_ONCE = 100
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

/** The runs of a kind, for the workers. */
export interface RunWork {
  table: string
  id: string
  oneOfTenant: boolean
  lanes: readonly Lane[]
  /** @returns whether this process could claim the run. */
  work(services: RunServices, tenant: Tenant, runId: string, stopping: AbortSignal): Promise<boolean>
  expiry: Expiry | null
}

/** What runs leave for a time after their end, such as a file. */
interface Expiry {
  /** Whether it is to be deleted now. */
  isDue: (now: Date) => RawBuilder<boolean>
  expire(tenant: Tenant, runId: string): Promise<void>
}

/** Has the workers work on runs of a kind. */
export function runWork<Table extends RunTable>(
  kind: RunKind<Table>,
  lanes: readonly Lane[],
  expiry: Expiry | null = null,
): RunWork {
  const { rows } = kind
  const work: RunWork['work'] = async (services, tenant, runId, stopping) => {
    const run = await claimRun(rows, tenant, runId, services.clock())
    if (run) await takeTurn(kind, services, run, stopping)
    return run !== null
  }
  return { table: rows.table, id: rows.id, oneOfTenant: rows.oneOfTenant === true, lanes, expiry, work }
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
  const { clock, log } = services
  const stopping = new AbortController()
  const lanes: Busy[] = kinds.flatMap((kind) => kind.lanes.map((lane) => ({ kind, lane, turns: new Set() })))

  const look = inRounds(async () => {
    const free = lanes.filter(({ lane, turns }) => turns.size < lane.atOnce)
    if (free.length === 0 || stopping.signal.aborted) return
    try {
      const { rows } = await dueIn(free).execute(stores.database)
      for (const { lane: index, tenant_id, run_id } of rows) {
        const lane = free[index]
        if (lane) begin(lane, openTenant(stores, tenant_id), run_id)
      }
    } catch (error) {
      log.warn({ err: error }, 'due runs could not be looked for; retrying shortly')
    }
  })

  function begin({ kind, turns }: Busy, tenant: Tenant, runId: string): void {
    const turn = kind
      .work(services, tenant, runId, stopping.signal)
      .catch((error: unknown) => {
        log.warn({ err: error, runs: kind.table, run_id: runId, tenant_id: tenant.id }, 'a run could not be worked on')
        return false
      })
      .then((isClaimed) => {
        turns.delete(turn)
        // There may be more; but if another process was faster, it is the next round that finds out.
        if (isClaimed) void look()
      })
    turns.add(turn)
  }

  async function expire(): Promise<void> {
    const failures = await eachAlone(kinds, async ({ table, id, expiry }) => {
      if (!expiry) return
      const { rows } = await sql<{ tenant_id: string; run_id: string }>`SELECT tenant_id, ${sql.ref(id)} AS run_id
        FROM ${sql.table(table)} WHERE ${expiry.isDue(clock())} LIMIT ${sql.lit(EXPIRED_AT_ONCE)}`.execute(
        stores.database,
      )
      const [failure] = await eachAlone(rows, ({ tenant_id, run_id }) =>
        expiry.expire(openTenant(stores, tenant_id), run_id),
      )
      if (failure !== undefined) throw failure
    })
    for (const err of failures) log.warn({ err }, 'what runs left could not be deleted; retrying shortly')
  }

  await invalidation.onNotified(RUNS_CHANNEL, () => void look())
  const repeated = [every(POLL_MS, look), every(EXPIRY_MS, expire)]
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
function dueIn(lanes: readonly Busy[]) {
  const branches = lanes.map(({ kind: { table, id, oneOfTenant }, lane, turns }, index) => {
    const { atOnce, only = sql<boolean>`true`, first } = lane
    const busy = sql`AND tenant_id NOT IN (SELECT tenant_id FROM ${sql.table(table)} WHERE ${isBeingWorkedOn})`
    return sql`(SELECT ${sql.lit(index)} AS lane, tenant_id, ${sql.ref(id)} AS run_id FROM ${sql.table(table)}
      WHERE due_at <= now() AND ${isFree} AND ${only} ${oneOfTenant ? busy : sql``}
      ORDER BY ${first ? sql`${first}, due_at` : sql`due_at`} LIMIT ${sql.lit(atOnce - turns.size)})`
  })
  return sql<{ lane: number; tenant_id: string; run_id: string }>`${sql.join(branches, sql` UNION ALL `)}`
}
