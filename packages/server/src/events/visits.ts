import type Type from 'typebox'
import { NOBODY } from '../journal/event-record.ts'
import { contactsOf } from '../owners/owners.ts'
import type { EventSelect } from '../platform/clickhouse/tenant-events.ts'
import { offsetOf, type Page } from '../platform/http/pagination.ts'
import type { Tenant } from '../platform/tenant.ts'
import { DAY_MS } from '../platform/time.ts'
import { conditionsOf, isIndexed, storableTime } from './conditions.ts'
import { EVENT_SELECT, type EventRow, toEventObjects } from './event-object.ts'
import type { EventFilters } from './filters.ts'
import { joinContacts, type People } from './people.ts'
import { EVENT_ID_ORDER } from './table.ts'
import { type TimelineItem, toVisit, type VisitRow } from './visit-object.ts'

/** Without a filter that an index serves, grouping reads every event of the range, so the range has a default. */
const DAYS_BY_DEFAULT = 28
/** A visit that began before a bound may have events after it, and vice versa. Visits are shorter than this. */
const MARGIN_MS = DAY_MS

const OF_VISIT = "is_system = 0 AND session_id != ''"
const SINGLE = `if(${OF_VISIT}, toUUID('${NOBODY}'), event_id)`

type Joining = Pick<People, 'withCompanies'>

/** A line of a timeline: a visit, or a single event, whose `session` is empty. */
interface Line {
  visitor: string
  session: string
  single: string
  started_ms: number
  ended_ms: number
  total: number
}

/**
 * One page of the visits that began in the range, newest first, and their total. Only the narrow columns of the key are
 * grouped for all visits; the rest is read for those of the page.
 */
export async function listVisits(tenant: Tenant, people: Joining, filters: EventFilters, page: Page, now: Date) {
  const range = rangeOf(filters, now)
  const { lines, total } = await listLines(tenant, filters, range, page, [OF_VISIT])
  return { visits: await readVisits(tenant, people, filters, lines), total }
}

/** One page of the visits and the events outside visits, newest first, and their total. */
export async function listTimeline(tenant: Tenant, people: Joining, filters: EventFilters, page: Page, now: Date) {
  const range = rangeOf(filters, now)
  const { lines, total } = await listLines(tenant, filters, range, page, [])
  const [visits, events] = await Promise.all([
    readVisits(tenant, people, filters, lines),
    readSingles(tenant, people, filters, lines),
  ])
  const visitOf = new Map(visits.map((visit) => [keyOf(visit.visitor_id ?? '', visit.session_id), visit]))
  const eventOf = new Map(events.map((event) => [event.event_id, event]))
  const items = lines.flatMap(({ visitor, session, single }): Type.Static<typeof TimelineItem>[] => {
    const visit = session === '' ? undefined : visitOf.get(keyOf(visitor, session))
    if (visit) return [{ kind: 'visit', visit }]
    const event = eventOf.get(single)
    return event ? [{ kind: 'event', event }] : []
  })
  return { items, total }
}

interface Range {
  from: Date | undefined
  to: Date | undefined
}

function rangeOf(filters: EventFilters, now: Date): Range {
  const { date_after: from, date_before: to } = filters
  if (from || isIndexed(filters)) return { from, to }
  return { from: new Date((to ?? now).getTime() - DAYS_BY_DEFAULT * DAY_MS), to }
}

async function listLines(tenant: Tenant, filters: EventFilters, range: Range, page: Page, only: string[]) {
  const matching = await conditionsOf(tenant, {
    ...filters,
    ...(range.from ? { date_after: new Date(range.from.getTime() - MARGIN_MS) } : {}),
    ...(range.to ? { date_before: new Date(range.to.getTime() + MARGIN_MS) } : {}),
  })
  const began = beganIn(range)
  const selection = {
    lane: isIndexed(filters) ? 'light' : 'heavy',
    columns: `if(${OF_VISIT}, visitor_id, '') AS visitor, if(${OF_VISIT}, session_id, '') AS session, ${SINGLE} AS single,
      min(timestamp) AS started, max(timestamp) AS ended`,
    where: [...matching.where, ...only],
    parameters: { ...matching.parameters, ...began.parameters },
    groupBy: 'visitor, session, single',
  } satisfies Partial<EventSelect>
  const lines = await tenant.events.select<Line>({
    ...selection,
    name: 'events.visits',
    outer: {
      columns: `visitor, session, single, toUnixTimestamp64Milli(started) AS started_ms,
        toUnixTimestamp64Milli(ended) AS ended_ms, count() OVER () AS total`,
      where: began.where,
      orderBy: 'started DESC, visitor, session, toUInt128(single) DESC',
      limit: page.limit,
      offset: offsetOf(page),
    },
  })
  if (lines.length > 0 || page.page === 1) return { lines, total: Number(lines[0]?.total ?? 0) }
  const [counted] = await tenant.events.select<{ total: number }>({
    ...selection,
    name: 'events.count_visits',
    outer: { columns: 'count() AS total', where: began.where },
  })
  return { lines, total: Number(counted?.total ?? 0) }
}

function beganIn({ from, to }: Range) {
  const bounds = [
    ...(from ? ["started >= parseDateTime64BestEffort({began_after: String}, 3, 'UTC')"] : []),
    ...(to ? ["started <= parseDateTime64BestEffort({began_before: String}, 3, 'UTC')"] : []),
  ]
  return {
    where: bounds.length > 0 ? bounds.join(' AND ') : '1',
    parameters: {
      ...(from ? { began_after: storableTime(from) } : {}),
      ...(to ? { began_before: storableTime(to) } : {}),
    },
  }
}

const OF_ENTRY = [
  ...['url', 'title', 'referrer', 'referring_domain', 'utm_source', 'utm_medium', 'utm_campaign'],
  ...['country', 'region', 'city', 'browser', 'os', 'device_type', 'is_bot'],
]
const MOMENT = `(timestamp, ${EVENT_ID_ORDER})`
const ENTRY = `(event != 'page_view', timestamp, ${EVENT_ID_ORDER})`

/** The figures of the visits among some lines, newest first, each with its contact and company. */
async function readVisits(tenant: Tenant, people: Joining, filters: EventFilters, lines: readonly Line[]) {
  const wanted = lines.filter(({ session }) => session !== '')
  if (wanted.length === 0) return []
  const { where, parameters } = await conditionsOf(tenant, { ...filters, ...spanOf(wanted) })
  const rows = await tenant.events.select<VisitRow>({
    name: 'events.visit_figures',
    lane: 'light',
    columns: `visitor_id, session_id, toUnixTimestamp64Milli(min(timestamp)) AS started_ms,
      toUnixTimestamp64Milli(max(timestamp)) AS ended_ms, countIf(event = 'page_view') AS page_views,
      count() AS event_count, arraySort(groupUniqArray(50)(event)) AS event_names,
      argMax(owner_id, ${MOMENT}) AS owner, argMax(is_anonymous, ${MOMENT}) AS anonymous,
      argMaxIf(url, ${MOMENT}, event = 'page_view') AS exit_url,
      ${OF_ENTRY.map((column) => `argMin(${column}, ${ENTRY}) AS entry_${column}`).join(', ')}`,
    where: [...where, OF_VISIT, 'session_id IN {sessions: Array(String)}'],
    parameters: { ...parameters, sessions: [...new Set(wanted.map(({ session }) => session))] },
    groupBy: 'visitor_id, session_id',
  })
  const found = new Map(rows.map((row) => [keyOf(row.visitor_id, row.session_id), row]))
  const ordered = wanted.flatMap(({ visitor, session }) => found.get(keyOf(visitor, session)) ?? [])
  const contacts = await contactsOf(
    tenant,
    ordered.map(({ owner, anonymous }) => ({ owner_id: owner, is_anonymous: anonymous })),
  )
  const visits = ordered.map((row) => toVisit(row, contacts.get(row.owner) ?? null))
  return joinContacts(tenant, people, visits)
}

/** The events among some lines. */
async function readSingles(tenant: Tenant, people: Joining, filters: EventFilters, lines: readonly Line[]) {
  const wanted = lines.filter(({ session }) => session === '')
  if (wanted.length === 0) return []
  const { where, parameters } = await conditionsOf(tenant, { ...filters, ...spanOf(wanted) })
  const rows = await tenant.events.select<EventRow>({
    name: 'events.outside_visits',
    lane: 'light',
    columns: EVENT_SELECT,
    where: [...where, 'event_id IN {ids: Array(UUID)}'],
    parameters: { ...parameters, ids: wanted.map(({ single }) => single) },
    orderBy: 'timestamp',
  })
  return joinContacts(tenant, people, await toEventObjects(tenant, rows))
}

/** The time of some lines, so that reading them uses the table's order. */
function spanOf(lines: readonly Line[]) {
  return {
    date_after: new Date(Math.min(...lines.map(({ started_ms }) => Number(started_ms)))),
    date_before: new Date(Math.max(...lines.map(({ ended_ms }) => Number(ended_ms)))),
  }
}

function keyOf(visitor: string, session: string): string {
  return JSON.stringify([visitor, session])
}
