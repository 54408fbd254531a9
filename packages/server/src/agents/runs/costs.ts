import type { Tenant } from '../../platform/tenant.ts'
import { getAgentSettings } from '../actions/settings.ts'
import type { ClaimedRun } from './claim.ts'

/** What a run may cost, and what its tenant's runs may in a calendar month (UTC); null for no cap. */
export interface CostCaps {
  perRun: number | null
  perMonth: number | null
  monthStart: Date
}

export async function costCapsOf(tenant: Tenant, { configuration }: ClaimedRun, now: Date): Promise<CostCaps> {
  const { monthly_cost_cap_usd: perMonth } = await getAgentSettings(tenant)
  return {
    perRun: configuration.playbook.max_cost_usd_per_run ?? null,
    perMonth,
    monthStart: startOfMonth(now),
  }
}

/** What a tenant's runs have cost since the calendar month (UTC) began, in US dollars. */
export function costOfMonth(tenant: Tenant, now: Date): Promise<number> {
  return costSince(tenant, startOfMonth(now))
}

async function costSince(tenant: Tenant, since: Date): Promise<number> {
  const sum = await tenant.db
    .selectFrom('agent_runs')
    .select(({ fn }) => fn.sum<string | null>('cost_usd').as('cost'))
    .where('created_at', '>=', since)
    .where('cost_usd', '>', '0')
    .executeTakeFirst()
  return Number(sum?.cost ?? 0)
}

function startOfMonth(now: Date): Date {
  return new Date(Date.UTC(now.getUTCFullYear(), now.getUTCMonth(), 1))
}

/**
 * Whether a cap is reached, asked before each contact: what it costs is known only afterwards, so a run goes over its
 * cap by at most the contacts that are looked at at once.
 * @returns why the run ends, for its notices.
 */
export async function capReached(tenant: Tenant, { runId }: ClaimedRun, caps: CostCaps): Promise<string | null> {
  const { perRun, perMonth, monthStart } = caps
  if (perRun === null && perMonth === null) return null
  if (perRun !== null) {
    const run = await tenant.db
      .selectFrom('agent_runs')
      .select('cost_usd')
      .where('run_id', '=', runId)
      .executeTakeFirst()
    if (Number(run?.cost_usd ?? 0) >= perRun) {
      return `The run's cost cap of $${perRun} is reached; the remaining contacts were skipped.`
    }
  }
  if (perMonth !== null && (await costSince(tenant, monthStart)) >= perMonth) {
    return `The monthly cost cap of $${perMonth} is reached; the remaining contacts were skipped.`
  }
  return null
}
