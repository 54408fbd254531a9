import type { Tenant } from '../../platform/tenant.ts'
import { HOUR_MS, MINUTE_MS } from '../../platform/time.ts'
import { localTime } from '../../platform/time-zone.ts'
import type { Failure } from './ask.ts'

/** A provider that fails this often in a row is not asked for a while: each further failure doubles the pause. */
const FAILURES_IN_A_ROW = 3
const PAUSE_MS = { first: MINUTE_MS, max: HOUR_MS }

/** What limits the requests to a provider. */
interface Limits {
  providerId: string
  monthlyBudget: number | null
  requestsPerMinute: number
}

/** Whether a provider may be asked now. */
export type Permit = { may: true } | { may: false; why: 'budget' } | { may: false; why: 'rate' | 'paused'; until: Date }

/** The calendar month of a time, by a clock: `2026-11`. */
export function monthOf(timeZone: string, now: Date): string {
  const { year, month } = localTime(timeZone, now)
  return `${year}-${String(month).padStart(2, '0')}`
}

/** Counts a request before it is sent, unless a limit forbids it: so several processes together keep to the limits. */
export async function permit(tenant: Tenant, limits: Limits, timeZone: string, now: Date): Promise<Permit> {
  const { providerId: provider_id, monthlyBudget, requestsPerMinute } = limits
  const month = monthOf(timeZone, now)
  return tenant.transaction(async (tx): Promise<Permit> => {
    const blank = { provider_id, month, minute_at: now }
    const inserting = tx.db.insertInto('enrichment_usage').values(blank)
    await inserting.onConflict((row) => row.columns(['provider_id']).doNothing()).execute()
    const usage = await tx.db
      .selectFrom('enrichment_usage')
      .selectAll()
      .where('provider_id', '=', provider_id)
      .forUpdate()
      .executeTakeFirstOrThrow()
    if (usage.paused_until !== null && usage.paused_until > now) {
      return { may: false, why: 'paused', until: usage.paused_until }
    }
    const counts = usage.month === month ? usage : { requests: 0, filled: 0, found_nothing: 0, failed: 0 }
    if (monthlyBudget !== null && counts.requests >= monthlyBudget) return { may: false, why: 'budget' }
    const minuteEndsAt = new Date(usage.minute_at.getTime() + MINUTE_MS)
    const isSameMinute = now < minuteEndsAt
    if (isSameMinute && usage.minute_requests >= requestsPerMinute) {
      return { may: false, why: 'rate', until: minuteEndsAt }
    }
    const { filled, found_nothing, failed } = counts
    await tx.db
      .updateTable('enrichment_usage')
      .set({
        month,
        requests: counts.requests + 1,
        filled,
        found_nothing,
        failed,
        ...(isSameMinute ? { minute_requests: usage.minute_requests + 1 } : { minute_at: now, minute_requests: 1 }),
      })
      .where('provider_id', '=', provider_id)
      .execute()
    return { may: true }
  })
}

/** Counts what a request brought: the provider works. */
export async function noteAnswer(tenant: Tenant, providerId: string, isFilled: boolean): Promise<void> {
  await tenant.db
    .updateTable('enrichment_usage')
    .set((usage) => ({
      ...(isFilled ? { filled: usage('filled', '+', 1) } : { found_nothing: usage('found_nothing', '+', 1) }),
      failures_in_a_row: 0,
      paused_until: null,
    }))
    .where('provider_id', '=', providerId)
    .execute()
}

/** Counts a request that failed, and pauses a provider that is down or asks for it. */
export async function noteFailure(tenant: Tenant, providerId: string, failure: Failure, now: Date): Promise<void> {
  await tenant.transaction(async (tx) => {
    const usage = await tx.db
      .selectFrom('enrichment_usage')
      .select('failures_in_a_row')
      .where('provider_id', '=', providerId)
      .forUpdate()
      .executeTakeFirst()
    if (!usage) return
    const failures = failure.isOfProvider ? usage.failures_in_a_row + 1 : 0
    const doubled = PAUSE_MS.first * 2 ** Math.min(failures - FAILURES_IN_A_ROW, 10)
    const ownPause = failures < FAILURES_IN_A_ROW ? null : new Date(now.getTime() + Math.min(doubled, PAUSE_MS.max))
    const asked = failure.pauseUntil
    const last = new Date(now.getTime() + PAUSE_MS.max)
    const until = asked === null ? ownPause : asked > last ? last : asked
    await tx.db
      .updateTable('enrichment_usage')
      .set((row) => ({
        failed: row('failed', '+', 1),
        failures_in_a_row: failures,
        paused_until: until,
        last_error_code: failure.code,
        last_error_message: failure.message,
        last_error_at: now,
      }))
      .where('provider_id', '=', providerId)
      .execute()
  })
}

/** Ends a provider's pause, because its settings have changed. */
export async function endPause(tx: Tenant, providerId: string): Promise<void> {
  await tx.db
    .updateTable('enrichment_usage')
    .set({ paused_until: null, failures_in_a_row: 0 })
    .where('provider_id', '=', providerId)
    .execute()
}
