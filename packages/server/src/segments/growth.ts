import type { Tenant } from '../platform/tenant.ts'
import { readSegment } from './segments.ts'
import { silentChanges } from './silent-changes.ts'

export interface SegmentDay {
  date: string
  /** Members at the end of the day. */
  count: number
  entered: number
  exited: number
}

/**
 * Members of a segment at the end of each day, and how many entered and left. Computed backwards from today's number,
 * using the events and the changes without events: the first members of a new definition, and those that a changed one
 * added or removed.
 * @param days YYYY-MM-DD, consecutive.
 * @returns null while members are being counted.
 * @throws ServiceError 404.
 */
export async function segmentGrowth(
  tenant: Tenant,
  segmentId: string,
  days: readonly string[],
): Promise<SegmentDay[] | null> {
  const { contact_count: countNow } = await readSegment(tenant, segmentId)
  if (countNow === null) return null
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
  const since = new Set([...rows.map(({ day }) => day), ...silent.keys()].filter((day) => day > last))
  let count = [...since].reduce((sum, day) => sum - changeOf(day), countNow)
  const growth: SegmentDay[] = []
  for (const date of [...days].reverse()) {
    const [entered, exited] = [of(date, 'segment_entered'), of(date, 'segment_exited')]
    growth.push({ date, count: Math.max(0, count), entered, exited })
    count -= changeOf(date)
  }
  return growth.reverse()
}
