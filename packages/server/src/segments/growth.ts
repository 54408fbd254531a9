import Type from 'typebox'
import { eventsOf, type SegmentFilter, usesTime } from '../conditions/language.ts'
import { membersByCreation } from '../contacts/matching.ts'
import type { Tenant } from '../platform/tenant.ts'
import { readSegment } from './segments.ts'
import { silentChanges } from './silent-changes.ts'

export const SegmentDay = Type.Object({
  date: Type.String({ format: 'date' }),
  count: Type.Integer({ description: 'Members at the end of the day (UTC).' }),
  entered: Type.Integer(),
  exited: Type.Integer(),
  redefined: Type.Integer({
    description: 'Members that a new or changed definition added, minus those it removed; they record no event.',
  }),
})
export type SegmentDay = Type.Static<typeof SegmentDay>

export const SegmentPastDay = Type.Object({
  date: Type.String({ format: 'date' }),
  count: Type.Integer({ description: 'Members of today who were contacts by the end of the day (UTC).' }),
})
type SegmentPastDay = Type.Static<typeof SegmentPastDay>

/** The past of a larger segment would cost more than it tells. */
const PAST_MEMBERS_MAX = 100_000

/**
 * Members of a segment at the end of each day since its creation, and how many entered and left. Computed backwards from
 * today's number, using the events and the changes without events: the first members of a new definition, and those that
 * a changed one added or removed.
 * @param asked YYYY-MM-DD, consecutive.
 * @returns without `byDay` while members are being counted.
 * @throws ServiceError 404.
 */
export async function segmentGrowth(
  tenant: Tenant,
  segmentId: string,
  asked: readonly string[],
): Promise<{ since: string; byDay: SegmentDay[] | null }> {
  const { contact_count: countNow, created_at: since } = await readSegment(tenant, segmentId)
  if (countNow === null) return { since, byDay: null }
  const days = asked.filter((day) => day >= since.slice(0, 10))
  if (days.length === 0) return { since, byDay: [] }
  const rows = await tenant.events.select<{ day: string; event: string; count: number }>({
    name: 'segments.growth',
    lane: 'heavy',
    columns: 'toString(toDate(timestamp)) AS day, event, count() AS count',
    where: [
      'is_system = 1',
      "event IN ('segment_entered', 'segment_exited')",
      "timestamp >= parseDateTime64BestEffort({since: String}, 3, 'UTC')",
      "JSONExtractString(data, 'segment_id') = {segment_id: String}",
    ],
    parameters: { since: `${days[0]}T00:00:00Z`, segment_id: segmentId },
    groupBy: 'day, event',
  })
  const silent = await silentChanges(tenant, segmentId, days[0] ?? '')
  const counted = new Map(rows.map((row) => [`${row.day} ${row.event}`, Number(row.count)]))
  const of = (day: string, event: string) => counted.get(`${day} ${event}`) ?? 0
  const changeOf = (day: string) => of(day, 'segment_entered') - of(day, 'segment_exited') + (silent.get(day) ?? 0)
  const last = days.at(-1) ?? ''
  // Changes after the last requested day lie between it and today.
  const later = new Set([...rows.map(({ day }) => day), ...silent.keys()].filter((day) => day > last))
  let count = [...later].reduce((sum, day) => sum - changeOf(day), countNow)
  const growth: SegmentDay[] = []
  for (const date of [...days].reverse()) {
    const [entered, exited] = [of(date, 'segment_entered'), of(date, 'segment_exited')]
    growth.push({ date, count: Math.max(0, count), entered, exited, redefined: silent.get(date) ?? 0 })
    count -= changeOf(date)
  }
  return { since, byDay: growth.reverse() }
}

/**
 * The days before a segment was created: how many of today's members were contacts already. Only of a filter on properties:
 * who did something in the last 30 days says nothing about another month.
 * @param asked YYYY-MM-DD, consecutive.
 */
export async function segmentPast(
  tenant: Tenant,
  segmentId: string,
  asked: readonly string[],
): Promise<SegmentPastDay[]> {
  const { contact_count: members, created_at: since, filter } = await readSegment(tenant, segmentId)
  const sinceDay = since.slice(0, 10)
  const days = asked.filter((day) => day < sinceDay)
  const isKnown = members !== null && members <= PAST_MEMBERS_MAX && isOfProperties(filter)
  if (!isKnown || days.length === 0) return []
  const created = await membersByCreation(tenant, segmentId, `${sinceDay}T00:00:00Z`)
  return days.map((date) => ({
    date,
    count: created.reduce((sum, { day, count }) => (day <= date ? sum + count : sum), 0),
  }))
}

function isOfProperties(filter: SegmentFilter): boolean {
  return eventsOf(filter).length === 0 && !usesTime(filter)
}
