import { setTimeout } from 'node:timers/promises'
import { sql } from 'kysely'
import type { Tenant } from '../../platform/tenant.ts'
import type { Clock } from '../../platform/time.ts'
import { CapReached, type Hold } from '../reasoning/reasoner.ts'
import { type ClaimedRun, NotOurs, ours } from './claim.ts'
import { type CostCaps, costOfMonth } from './costs.ts'

/** Distinguishes this lock from others of the same tenant. */
const COST_LOCK = 16
const PAUSE_MS = 200

/** What is held for one contact of a run. */
export interface Held {
  usd: number
}

/**
 * Lets the look at a contact hold what it may cost, before each question to a model. Caps count what is held, by this run
 * and by all of the tenant's in every process, so that answers under way cannot pass one together. Where they could, the
 * contact waits until one has come and it is known what it cost. One that holds something already, for an answer that has
 * to be asked for again, does not wait: two such could wait for each other.
 * @param signal ends the waiting.
 */
export function holdFor(
  tenant: Tenant,
  run: ClaimedRun,
  caps: CostCaps,
  held: Held,
  clock: Clock,
  signal: AbortSignal,
): Hold {
  return async (costUsdAtMost) => {
    if (caps.perRun === null && caps.perMonth === null) return
    while (!(await tryToHold(tenant, run, caps, held, costUsdAtMost, clock()))) {
      if (signal.aborted) throw new NotOurs()
      if (held.usd > 0) throw new CapReached('Answers under way may reach a cost cap.')
      await setTimeout(PAUSE_MS)
    }
    held.usd = costUsdAtMost
  }
}

interface Cap {
  name: string
  usd: number
  spent: number
  /** By others than the contact that asks. */
  held: number
}

/** @returns false as long as it depends on what is under way. @throws CapReached, NotOurs */
async function tryToHold(
  tenant: Tenant,
  run: ClaimedRun,
  { perRun, perMonth }: CostCaps,
  held: Held,
  usd: number,
  now: Date,
): Promise<boolean> {
  return tenant.transaction(async (tx) => {
    await sql`SELECT pg_advisory_xact_lock(hashtextextended(${tx.id}, ${COST_LOCK}))`.execute(tx.db)
    const own = await tx.db
      .selectFrom('agent_runs')
      .select(['cost_usd', 'held_usd'])
      .where('run_id', '=', run.runId)
      .where('claim', '=', run.claim)
      .where('status', '=', 'running')
      .forUpdate()
      .executeTakeFirst()
    if (!own) throw new NotOurs()
    const caps: Cap[] = []
    if (perRun !== null) {
      const spent = Number(own.cost_usd)
      caps.push({ name: "The run's", usd: perRun, spent, held: Number(own.held_usd) - held.usd })
    }
    if (perMonth !== null) {
      // What is held is asked first: an answer that comes in between counts twice, which is better than not at all.
      const ofOthers = (await heldByAll(tx)) - held.usd
      caps.push({ name: 'The monthly', usd: perMonth, spent: await costOfMonth(tx, now), held: ofOthers })
    }
    const reached = caps.find((cap) => cap.spent + usd > cap.usd)
    if (reached) throw new CapReached(noticeOf(reached, usd))
    if (caps.some((cap) => cap.spent + cap.held + usd > cap.usd)) return false
    await ours(tx, run)
      .set({ held_usd: sql`held_usd + ${usd - held.usd}::numeric` })
      .execute()
    return true
  })
}

/** What all runs that a process works on hold. A run that has none any more, or has ended, holds nothing. */
async function heldByAll(tx: Tenant): Promise<number> {
  const { usd } = await tx.db
    .selectFrom('agent_runs')
    .select(({ fn }) => fn.sum('held_usd').as('usd'))
    .where('status', '=', 'running')
    .where('claim', 'is not', null)
    .executeTakeFirstOrThrow()
  return Number(usd ?? 0)
}

function noticeOf({ name, usd: cap, spent }: Cap, usd: number): string {
  const left = Math.max(0, cap - spent)
  return `${name} cost cap of $${cap} is reached: ${dollars(left)} is left, and the next answer may cost ${dollars(usd)}. The remaining contacts were skipped.`
}

function dollars(usd: number): string {
  return `$${usd.toFixed(4)}`
}
