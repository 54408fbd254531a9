import { setTimeout } from 'node:timers/promises'
import { sql } from 'kysely'
import { ClaimLost, isClaimed } from '../../platform/postgres/lease.ts'
import { lock } from '../../platform/postgres/locks.ts'
import { updateRun } from '../../platform/runs/run.ts'
import type { Tenant } from '../../platform/tenant.ts'
import type { Clock } from '../../platform/time.ts'
import { CapReached, type ReserveCost } from '../reasoning/reasoner.ts'
import type { AgentRun } from './agent-run.ts'
import { type CostCaps, costOfMonth } from './costs.ts'

const PAUSE_MS = 200

/** What is reserved for one contact of a run. */
export interface Reserved {
  usd: number
}

/**
 * Reserves the maximum cost of each request to a model before it is sent. Cost caps count reservations of all runs of
 * the tenant, in every process, so that answers that arrive at the same time cannot exceed a cap together. If they might,
 * the contact waits until an answer arrives and its cost is known. A contact that already has a reservation, because its
 * answer must be requested again, does not wait: two of them could wait for each other.
 * @param signal ends the waiting.
 */
export function reserveCostFor(
  run: AgentRun,
  caps: CostCaps,
  reserved: Reserved,
  clock: Clock,
  signal: AbortSignal,
): ReserveCost {
  return async (costUsdAtMost) => {
    if (caps.perRun === null && caps.perMonth === null) return
    while (!(await tryToReserve(run, caps, reserved, costUsdAtMost, clock()))) {
      if (signal.aborted) throw new ClaimLost()
      if (reserved.usd > 0) throw new CapReached('Model calls in progress may reach a cost cap.')
      await setTimeout(PAUSE_MS)
    }
    reserved.usd = costUsdAtMost
  }
}

interface Cap {
  name: string
  usd: number
  spent: number
  /** By other contacts. */
  reserved: number
}

/** @returns false if it depends on requests in progress. @throws CapReached, ClaimLost */
async function tryToReserve(
  run: AgentRun,
  { perRun, perMonth }: CostCaps,
  reserved: Reserved,
  usd: number,
  now: Date,
): Promise<boolean> {
  return run.tenant.transaction(async (tx) => {
    await lock(tx.db, 'model_costs', tx.id)
    const own = await tx.db
      .selectFrom('agent_runs')
      .select(['cost_usd', 'reserved_usd'])
      .where('run_id', '=', run.runId)
      .where(isClaimed(run.claim))
      .forUpdate()
      .executeTakeFirst()
    if (!own) throw new ClaimLost()
    const caps: Cap[] = []
    if (perRun !== null) {
      const spent = Number(own.cost_usd)
      caps.push({ name: "The run's", usd: perRun, spent, reserved: Number(own.reserved_usd) - reserved.usd })
    }
    if (perMonth !== null) {
      // Reservations are read first: an answer that arrives in between counts twice, which is better than not at all.
      const ofOthers = (await reservedByAll(tx)) - reserved.usd
      caps.push({ name: 'The monthly', usd: perMonth, spent: await costOfMonth(tx, now), reserved: ofOthers })
    }
    const reached = caps.find((cap) => cap.spent + usd > cap.usd)
    if (reached) throw new CapReached(capNotice(reached, usd))
    if (caps.some((cap) => cap.spent + cap.reserved + usd > cap.usd)) return false
    await updateRun(run, { reserved_usd: sql`reserved_usd + ${usd - reserved.usd}::numeric` }, tx)
    return true
  })
}

/** The reservations of all runs that a process is working on. */
export async function reservedByAll(tx: Tenant): Promise<number> {
  const { usd } = await tx.db
    .selectFrom('agent_runs')
    .select(({ fn }) => fn.sum('reserved_usd').as('usd'))
    .where('status', '=', 'running')
    .where('claim', 'is not', null)
    .executeTakeFirstOrThrow()
  return Number(usd ?? 0)
}

/** Why a run ends at a cap. @param usd the maximum cost of the next answer. */
export function capNotice({ name, usd: cap, spent }: Pick<Cap, 'name' | 'usd' | 'spent'>, usd: number): string {
  const left = Math.max(0, cap - spent)
  return `${name} cost cap of $${cap} is reached: ${dollars(left)} is left, and the next answer may cost ${dollars(usd)}. The remaining contacts were skipped.`
}

function dollars(usd: number): string {
  return `$${usd.toFixed(4)}`
}
