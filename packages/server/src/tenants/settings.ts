import { type Actor, audit } from '../audit/log.ts'
import { type ErrorDetail, validationError } from '../platform/errors.ts'
import type { Tenant } from '../platform/tenant.ts'
import { isTimeZone } from '../platform/time-zones.ts'

/** What a tenant has set for all of its agents. */
export interface TenantSettings {
  /** In which schedules and quiet hours are meant, unless they name another. */
  timeZone: string
  /** What models may cost in a calendar month (UTC); null for no cap. */
  monthlyCostCapUsd: number | null
}

const COST_CAP_MAX = 1_000_000

/** The tenant's settings; what was never set is as it is by default. */
export async function settingsOf(tenant: Tenant): Promise<TenantSettings> {
  const row = await tenant.db
    .selectFrom('tenant_settings')
    .select(['time_zone', 'monthly_cost_cap_usd'])
    .executeTakeFirst()
  const cap = row?.monthly_cost_cap_usd ?? null
  return { timeZone: row?.time_zone ?? 'UTC', monthlyCostCapUsd: cap === null ? null : Number(cap) }
}

/** Changes what is given. Schedules move to another time zone with their next run. @throws ServiceError 400. */
export async function changeSettings(
  tenant: Tenant,
  changes: Partial<TenantSettings>,
  actor: Actor,
  now: Date,
): Promise<TenantSettings> {
  const details: ErrorDetail[] = []
  const { timeZone, monthlyCostCapUsd: cap } = changes
  if (timeZone !== undefined && !isTimeZone(timeZone)) {
    details.push({ path: 'time_zone', message: 'must be an IANA time zone such as Europe/Berlin' })
  }
  if (cap !== undefined && cap !== null && !(Number.isFinite(cap) && cap >= 0 && cap <= COST_CAP_MAX)) {
    details.push({ path: 'monthly_cost_cap_usd', message: `must be a number from 0 to ${COST_CAP_MAX}, or null` })
  }
  if (details.length > 0) throw validationError(details)
  return tenant.transaction(async (tx) => {
    const settings = { ...(await settingsOf(tx)), ...changes }
    const row = {
      time_zone: settings.timeZone,
      monthly_cost_cap_usd: settings.monthlyCostCapUsd,
      updated_at: now,
    }
    await tx.db
      .insertInto('tenant_settings')
      .values(row)
      .onConflict((existing) => existing.columns([]).doUpdateSet(row))
      .execute()
    await audit(
      tx,
      { actor, action: 'settings.changed', subjectKind: 'tenant', subjectId: tx.id, details: changes },
      now,
    )
    return settings
  })
}
