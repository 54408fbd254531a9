import { type EventConditions, eventConditions, storableTime, timestampParameter } from '../events/conditions.ts'
import { dayConditions } from '../events/rollups.ts'
import { VISITORS_STATE } from '../events/table.ts'
import { NOBODY } from '../journal/event-record.ts'
import { daysOf, type Range, wholeDaysOf } from '../platform/http/days.ts'
import type { Tenant } from '../platform/tenant.ts'

interface FigureRow {
  now: number | boolean
  /** Empty in the row for the whole range. */
  day: string
  events: number
  visitors: number
}

/**
 * The figures of both ranges, by day and in total; a visitor of several days counts once in the total. Whole days are
 * read from the daily rollups, which ClickHouse uses only for conditions on days; partial days are read from the
 * events.
 */
export async function readFigures(tenant: Tenant, range: Range, before: Range) {
  const days = wholeDaysOf(before, range)
  const whole = dayConditions({ date_after: days.from, date_before: days.to, is_bot: false })
  const people = ofPeople(range, before)
  const rest = [`timestamp < ${timestampParameter('days_from')}`, `timestamp > ${timestampParameter('days_to')}`]
  const cut: Record<string, string> = {}
  for (const [number, day] of days.cut.entries()) {
    cut[`cut_${number}`] = day
    whole.where.push(`toDate(timestamp) != toDate({cut_${number}: String})`)
    rest.push(`toDate(timestamp) = toDate({cut_${number}: String})`)
  }
  const columns = `toDate(timestamp) AS date, count() AS n, ${VISITORS_STATE} AS v`
  const rows = await tenant.events.select<FigureRow>({
    name: 'dashboard.overview',
    lane: 'heavy',
    isRollup: true,
    columns: `toDate(timestamp) >= toDate({since_day: String}) AS now, ${columns}`,
    where: whole.where,
    also: {
      columns: `timestamp >= ${timestampParameter('since')} AS now, ${columns}`,
      where: [...people.where, rest.join(' OR ')],
    },
    parameters: {
      ...people.parameters,
      ...whole.parameters,
      ...cut,
      since: storableTime(range.from),
      since_day: storableTime(range.from).slice(0, 10),
      days_from: storableTime(days.from),
      days_to: storableTime(days.to),
    },
    groupBy: 'now, date',
    outer: {
      columns: `now, if(grouping(date) = 0, toString(date), '') AS day, sum(n) AS events, uniqMerge(v) AS visitors`,
      groupBy: 'GROUPING SETS ((now), (now, date))',
    },
  })
  return (now: boolean, range: Range) => {
    const ofRange = rows.filter((row) => Boolean(row.now) === now)
    const byDay = new Map(ofRange.map((row) => [row.day, row]))
    const whole = byDay.get('')
    return {
      visitors: Number(whole?.visitors ?? 0),
      events: Number(whole?.events ?? 0),
      by_day: daysOf(range).map((date) => ({
        date,
        events: Number(byDay.get(date)?.events ?? 0),
        visitors: Number(byDay.get(date)?.visitors ?? 0),
      })),
    }
  }
}

/** The number of contacts with events in each range. */
export async function identifiedContacts(tenant: Tenant, range: Range, before: Range) {
  const { where, parameters } = ofPeople(range, before, { identified_only: true })
  const rows = await tenant.events.select<{ now: boolean | number; contacts: number }>({
    name: 'dashboard.contacts',
    lane: 'heavy',
    columns: `timestamp >= ${timestampParameter('since')} AS now`,
    where,
    parameters: { ...parameters, since: storableTime(range.from) },
    groupBy: 'now',
    isPerContact: true,
    outer: {
      columns: 'now, uniq(contact_id) AS contacts',
      where: `contact_id != toUUID('${NOBODY}')`,
      groupBy: 'now',
    },
  })
  const of = (now: boolean) => Number(rows.find((row) => Boolean(row.now) === now)?.contacts ?? 0)
  return { now: of(true), before: of(false) }
}

/** The events of both ranges, without what came between them. */
function ofPeople(range: Range, before: Range, others: { identified_only?: boolean } = {}): EventConditions {
  const events = eventConditions({ date_after: before.from, date_before: range.to, is_bot: false, ...others })
  if (before.to.getTime() + 1 === range.from.getTime()) return events
  return {
    where: [
      ...events.where,
      `(timestamp <= ${timestampParameter('before_to')} OR timestamp >= ${timestampParameter('range_from')})`,
    ],
    parameters: {
      ...events.parameters,
      before_to: storableTime(before.to),
      range_from: storableTime(range.from),
    },
  }
}
