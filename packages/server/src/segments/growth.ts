import type { Tenant } from '../platform/tenant.ts'
import { readSegment } from './segments.ts'

export interface SegmentDay {
  date: string
  /** Members at the end of the day. */
  count: number
  entered: number
  exited: number
}

/**
 * Members of a segment at the end of each day, and who came and went. Reckoned back from the number of today by what
 * the events tell: the members that it had when it was defined entered without an event, and so did those that a change
 * of its definition brought.
 * @param days YYYY-MM-DD, consecutive.
 * @throws ServiceError 404.
 */
export async function segmentGrowth(tenant: Tenant, segmentId: string, days: readonly string[]): Promise<SegmentDay[]> {
  const { contact_count } = await readSegment(tenant, segmentId)
  const rows = await tenant.events.select<{ day: string; event: string; count: number }>({
    name: 'segments.growth',
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
  const counted = new Map(rows.map((row) => [`${row.day} ${row.event}`, Number(row.count)]))
  const of = (day: string, event: string) => counted.get(`${day} ${event}`) ?? 0
  const last = days.at(-1) ?? ''
  // What happened after the last day that is asked for lies between it and today.
  const since = rows.filter(({ day }) => day > last)
  let count = since.reduce(
    (sum, row) => sum + (row.event === 'segment_exited' ? Number(row.count) : -Number(row.count)),
    contact_count,
  )
  const growth: SegmentDay[] = []
  for (const date of [...days].reverse()) {
    const [entered, exited] = [of(date, 'segment_entered'), of(date, 'segment_exited')]
    growth.push({ date, count: Math.max(0, count), entered, exited })
    count += exited - entered
  }
  return growth.reverse()
}
