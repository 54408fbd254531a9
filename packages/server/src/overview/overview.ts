import Type from 'typebox'
import { countWaitingActions } from '../agents/actions/waiting.ts'
import { type ContactFilters, countContacts } from '../contacts/list.ts'
import { eventConditions } from '../events/conditions.ts'
import { type Range, rangeBefore } from '../platform/http/days.ts'
import { Nullable, Timestamp } from '../platform/http/responses.ts'
import { TEXT, WORD } from '../platform/personal.ts'
import type { Tenant } from '../platform/tenant.ts'
import { MINUTE_MS } from '../platform/time.ts'
import { identifiedContacts, readFigures } from './figures.ts'

const Day = Type.String({ format: 'date', examples: ['2026-01-31'] })
const FiguresOfDay = Type.Object(
  { date: Day, events: Type.Integer(), visitors: Type.Integer() },
  { title: 'OverviewDay' },
)

const FIGURES = {
  visitors: Type.Integer(),
  identified_contacts: Type.Integer(),
  events: Type.Integer(),
  contacts_created: Type.Integer(),
  by_day: Type.Array(FiguresOfDay, { description: 'Every day (UTC) of the range, including days without events.' }),
}

/** The figures of the dashboard's first page, without events from bots. */
export const Overview = {
  from: Timestamp,
  to: Timestamp,
  ...FIGURES,
  top_pages: Type.Array(Type.Object({ url_path: Type.String(TEXT), views: Type.Integer(), visitors: Type.Integer() })),
  sources: Type.Array(Type.Object({ source: Nullable(Type.String(WORD)), visitors: Type.Integer() }), {
    description: 'The hosts that referred visits; null for visits without a referrer.',
  }),
  previous: Type.Object(FIGURES, {
    description:
      'The figures of the preceding range of the same length: the range, moved back by whole days. One that ends now is compared up to the same time of day.',
  }),
  waiting_for_approval: Type.Integer(),
}
export type Overview = Type.Static<Type.TObject<typeof Overview>>

const PAGES_MAX = 10
const SOURCES_MAX = 10

/** The figures of the dashboard's first page. Their queries, each one pass over the range, run concurrently. */
export async function readOverview(
  tenant: Tenant,
  range: Range,
  now: Date,
  manyEvents = MANY_EVENTS,
): Promise<Overview> {
  const before = rangeBefore(range)
  const key = [tenant.id, range.from.getTime(), range.to >= now ? 'now' : range.to.getTime()].join()
  const known = keptFigures(key, now)
  const [figures, slow, waiting] = await Promise.all([
    readFigures(tenant, range, before),
    known ?? readSlow(tenant, range, before),
    countWaitingActions(tenant),
  ])
  const ofRange = figures(true, range)
  if (known === null && ofRange.events >= manyEvents) keep(key, slow, now)
  const { contacts, pages, sources, created, createdBefore } = slow
  return {
    from: range.from.toISOString(),
    to: range.to.toISOString(),
    ...ofRange,
    identified_contacts: contacts.now,
    contacts_created: created,
    top_pages: pages,
    sources,
    previous: { ...figures(false, before), identified_contacts: contacts.before, contacts_created: createdBefore },
    waiting_for_approval: waiting,
  }
}

/** What is read from the rows of the range, where `readFigures` has sums. */
async function readSlow(tenant: Tenant, range: Range, before: Range) {
  const [contacts, pages, sources, created, createdBefore] = await Promise.all([
    identifiedContacts(tenant, range, before),
    topPages(tenant, range),
    topSources(tenant, range),
    countContacts(tenant, createdIn(range)),
    countContacts(tenant, createdIn(before)),
  ])
  return { contacts, pages, sources, created, createdBefore }
}
type SlowFigures = Awaited<ReturnType<typeof readSlow>>

/**
 * With so many events in the range, the rows take long to read, and a minute changes little in what they say. With fewer, each
 * event shows at once.
 */
const MANY_EVENTS = 1_000_000
const KEPT_MAX = 100
const kept = new Map<string, { figures: SlowFigures; until: number }>()

function keptFigures(key: string, now: Date): SlowFigures | null {
  const known = kept.get(key)
  return known && known.until > now.getTime() ? known.figures : null
}

function keep(key: string, figures: SlowFigures, now: Date): void {
  kept.delete(key)
  // Callers can choose any range, so the oldest is dropped.
  if (kept.size >= KEPT_MAX) for (const oldest of kept.keys().take(1)) kept.delete(oldest)
  kept.set(key, { figures, until: now.getTime() + MINUTE_MS })
}

async function topPages(tenant: Tenant, { from, to }: Range): Promise<Overview['top_pages']> {
  const filters = { event_type: 'page_view', date_after: from, date_before: to, is_bot: false }
  const { where, parameters } = eventConditions(filters)
  const rows = await tenant.events.select<Overview['top_pages'][number]>({
    name: 'dashboard.top_pages',
    lane: 'heavy',
    columns: 'url_path, count() AS views, uniq(visitor_id) AS visitors',
    where: [...where, "url_path != ''"],
    parameters,
    groupBy: 'url_path',
    orderBy: 'views DESC, url_path',
    limit: PAGES_MAX,
  })
  return rows.map((row) => ({ url_path: row.url_path, views: Number(row.views), visitors: Number(row.visitors) }))
}

/**
 * The order of pages by time. A number, because ClickHouse compares tuples many times slower; its lowest bits make the
 * first of two pages of the same millisecond always the same one.
 */
const FIRST = 'toUnixTimestamp64Milli(timestamp) * 65536 + cityHash64(referring_domain) % 65536'

/** The source of a visit is the referrer of its first page; later pages are referred by the site itself. */
async function topSources(tenant: Tenant, { from, to }: Range): Promise<Overview['sources']> {
  const filters = { event_type: 'page_view', date_after: from, date_before: to, is_bot: false }
  const { where, parameters } = eventConditions(filters)
  const rows = await tenant.events.select<{ source: string; visitors: number }>({
    name: 'dashboard.sources',
    lane: 'heavy',
    columns: `any(visitor_id) AS visitor, argMin(referring_domain, ${FIRST}) AS source`,
    where: [...where, "visitor_id != ''"],
    parameters,
    // Grouping by both texts takes twice as long.
    groupBy: 'cityHash64(visitor_id, session_id)',
    outer: {
      columns: 'source, uniq(visitor) AS visitors',
      groupBy: 'source',
      orderBy: 'visitors DESC, source',
      limit: SOURCES_MAX,
    },
  })
  return rows.map(({ source, visitors }) => ({ source: source === '' ? null : source, visitors: Number(visitors) }))
}

function createdIn({ from, to }: Range): ContactFilters {
  return { created_after: from, created_before: to }
}
