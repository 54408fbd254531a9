import { sql } from 'kysely'
import type { Tenant } from '../../platform/tenant.ts'
import { readAgentSettings } from '../actions/settings.ts'
import type { AgentConfiguration } from '../agent.ts'
import { type Reasoner, RunFailure } from '../reasoning/reasoner.ts'

/** The maximum cost of a run, and of all runs of the tenant in a calendar month (UTC), in US dollars; null for no cap. */
export interface CostCaps {
  perRun: number | null
  perMonth: number | null
}

export async function costCapsOf(tenant: Tenant, configuration: AgentConfiguration): Promise<CostCaps> {
  const { monthly_cost_cap_usd: perMonth } = await readAgentSettings(tenant)
  return {
    perRun: configuration.playbook.max_cost_usd_per_run ?? null,
    perMonth,
  }
}

/** A cap that cannot be enforced is worse than none, because people rely on it. @throws RunFailure */
export function requireKnownCosts({ knowsCosts, model }: Reasoner, { perRun, perMonth }: CostCaps): void {
  if (knowsCosts || (perRun === null && perMonth === null)) return
  const cap = perRun === null ? 'the monthly cost cap' : "the run's cost cap"
  throw new RunFailure(
    `The price of ${model} is not known, so ${cap} cannot be enforced. Set the price in CDS_LLM_PRICES (0 for a model of your own), or remove the cap.`,
  )
}

/** Adds to the cost of the month. The row stays locked until the commit, so call this last. */
export async function spend(tx: Tenant, costUsd: number, now: Date): Promise<void> {
  if (costUsd === 0) return
  await tx.db
    .insertInto('agent_costs')
    .values({ month: sql`${monthOf(now)}::date`, cost_usd: sql`${costUsd}::numeric` })
    .onConflict((existing) =>
      existing.columns(['month']).doUpdateSet({ cost_usd: sql`agent_costs.cost_usd + excluded.cost_usd` }),
    )
    .execute()
}

/** The cost of a tenant's runs in the current calendar month (UTC), in US dollars. */
export async function costOfMonth(tenant: Tenant, now: Date): Promise<number> {
  const month = await tenant.db
    .selectFrom('agent_costs')
    .select('cost_usd')
    .where('month', '=', sql<Date>`${monthOf(now)}::date`)
    .executeTakeFirst()
  return Number(month?.cost_usd ?? 0)
}

function monthOf(now: Date): string {
  return `${now.toISOString().slice(0, 7)}-01`
}
