import { sql } from 'kysely'
import type { SystemEvent } from '../journal/append.ts'
import type { Tenant } from '../platform/tenant.ts'

/**
 * Records how many members a definition added or removed without events.
 * @param changes the events that are not recorded.
 */
export async function recordSilentChange(
  tx: Tenant,
  segmentId: string,
  changes: readonly Pick<SystemEvent, 'event'>[],
  now: Date,
): Promise<void> {
  const entered = changes.filter(({ event }) => event === 'segment_entered').length
  const members = entered - (changes.length - entered)
  if (members === 0) return
  await tx.db
    .insertInto('segment_silent_changes')
    .values({ segment_id: segmentId, day: sql`${dayOf(now)}::date`, members })
    .onConflict((existing) =>
      existing
        .columns(['segment_id', 'day'])
        .doUpdateSet({ members: sql`segment_silent_changes.members + excluded.members` }),
    )
    .execute()
}

/** The net effect of such changes on a segment's members, by day. @param since YYYY-MM-DD, inclusive. */
export async function silentChanges(tenant: Tenant, segmentId: string, since: string): Promise<Map<string, number>> {
  const rows = await tenant.db
    .selectFrom('segment_silent_changes')
    .select([sql<string>`day::text`.as('date'), 'members'])
    .where('segment_id', '=', segmentId)
    .where('day', '>=', sql<Date>`${since}::date`)
    .execute()
  return new Map(rows.map(({ date, members }) => [date, Number(members)]))
}

function dayOf(moment: Date): string {
  return moment.toISOString().slice(0, 10)
}
