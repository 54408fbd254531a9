import { sql } from 'kysely'
import type { Tenant } from '../../platform/tenant.ts'
import { getAgentSettings } from '../actions/settings.ts'
import type { ClaimedRun } from './claim.ts'

/** What a run may cost, and what its tenant's runs may in a calendar month (UTC); null for no cap. */
export interface CostCaps {
  perRun: number | null
  perMonth: number | null
}

export async function costCapsOf(tenant: Tenant, { configuration }: ClaimedRun): Promise<CostCaps> {
  const { monthly_cost_cap_usd: perMonth } = await getAgentSettings(tenant)
  return {
    perRun: configuration.playbook.max_cost_usd_per_run ?? null,
    perMonth,
  }
}

/** Adds to what the tenant's runs have cost this month. The row is held until the commit, so it comes last. */
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

/** What a tenant's runs have cost since the calendar month (UTC) began, in US dollars. */
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
