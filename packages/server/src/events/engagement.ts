import Type from 'typebox'
import { queryableGroups } from '../owners/owners.ts'
import { Nullable, Timestamp } from '../platform/http/responses.ts'
import { TEXT, WORD } from '../platform/personal.ts'
import type { Tenant } from '../platform/tenant.ts'
import { conditionsOf } from './conditions.ts'
import { isoOf, textOrNull } from './event-object.ts'
import type { EventFilters } from './filters.ts'
import { EVENT_ID_ORDER } from './table.ts'

/** How many pages are named. */
const PAGES_MAX = 5

/** What a contact does on sites, in figures. */
export const Engagement = Type.Object(
  {
    last_seen_at: Nullable(Timestamp, 'When the contact last did something; null if never.'),
    visits: Type.Integer({ description: 'The number of different sessions.' }),
    page_views: Type.Integer(),
    events: Type.Integer({ description: 'All events but those that the service records itself.' }),
  },
  { title: 'Engagement' },
)
export type Engagement = Type.Static<typeof Engagement>

export const TopPage = Type.Object(
  { url_path: Type.String(TEXT), title: Nullable(Type.String(TEXT)), views: Type.Integer() },
  { title: 'TopPage' },
)

export const FirstVisit = Type.Object(
  {
    at: Timestamp,
    referring_domain: Nullable(Type.String(WORD), 'null: without a referrer.'),
    url: Type.String(TEXT),
  },
  { title: 'FirstVisit' },
)

export const NEVER_SEEN: Engagement = { last_seen_at: null, visits: 0, page_views: 0, events: 0 }

interface Row {
  id: string
  last_ms: number
  visits: number
  page_views: number
  events: number
}

/**
 * The figures of some contacts, with their anonymous past: a visit in which a visitor identified counts once. Contacts
 * without events have zeros.
 */
export async function engagementOfContacts(
  tenant: Tenant,
  contactIds: readonly string[],
): Promise<Map<string, Engagement>> {
  const found = new Map(contactIds.map((id) => [id, NEVER_SEEN]))
  for (const group of await queryableGroups(tenant, contactIds)) {
    const { where, parameters } = await conditionsOf(tenant, { contact_ids: group })
    const rows = await tenant.events.select<Row>({
      name: 'events.engagement',
      lane: 'light',
      columns: `max(timestamp) AS last, countIf(event = 'page_view') AS views, count() AS all_events,
        uniqExactIfState((visitor_id, session_id), session_id != '') AS sessions`,
      where,
      parameters,
      isPerContact: true,
      outer: {
        columns: `toString(contact_id) AS id, toUnixTimestamp64Milli(max(last)) AS last_ms, sum(views) AS page_views,
          sum(all_events) AS events, uniqExactIfMerge(sessions) AS visits`,
        groupBy: 'contact_id',
      },
    })
    for (const { id, last_ms, visits, page_views, events } of rows) {
      if (!found.has(id)) continue
      const counts = { visits: Number(visits), page_views: Number(page_views), events: Number(events) }
      found.set(id, { last_seen_at: isoOf(last_ms), ...counts })
    }
  }
  return found
}

/** The figures of a company: those of its contacts together, and of the most active of them. */
export async function engagementOfCompany(
  tenant: Tenant,
  contactIds: readonly string[],
  activeMax: number,
): Promise<{ engagement: Engagement; active: [contactId: string, engagement: Engagement][] }> {
  const each = [...(await engagementOfContacts(tenant, contactIds))].filter(([, { events }]) => events > 0)
  const active = each.toSorted(([, a], [, b]) => b.visits - a.visits || b.events - a.events).slice(0, activeMax)
  const engagement = each.reduce(
    (sum, [, { last_seen_at, visits, page_views, events }]) => ({
      last_seen_at: [sum.last_seen_at ?? '', last_seen_at ?? ''].sort()[1] || null,
      visits: sum.visits + visits,
      page_views: sum.page_views + page_views,
      events: sum.events + events,
    }),
    NEVER_SEEN,
  )
  return { engagement, active }
}

/** The first page that a contact viewed, also before anyone knew who they are; null if none. */
export async function firstVisitOf(tenant: Tenant, contactId: string): Promise<Type.Static<typeof FirstVisit> | null> {
  const { where, parameters } = await conditionsOf(tenant, { contact_id: contactId })
  const [first] = await tenant.events.select<{ at_ms: number; referring_domain: string; url: string }>({
    name: 'events.first_visit',
    lane: 'light',
    columns: 'toUnixTimestamp64Milli(timestamp) AS at_ms, referring_domain, url',
    where: [...where, "event = 'page_view'", "url != ''"],
    parameters,
    orderBy: `timestamp, ${EVENT_ID_ORDER}`,
    limit: 1,
  })
  if (!first) return null
  return { at: isoOf(first.at_ms), referring_domain: textOrNull(first.referring_domain), url: first.url }
}

/** The pages that a contact, or the contacts of a company, viewed most often, with their latest title. */
export async function topPagesOf(
  tenant: Tenant,
  whose: Pick<EventFilters, 'contact_id' | 'contacts_of_company'>,
): Promise<Type.Static<typeof TopPage>[]> {
  const { where, parameters } = await conditionsOf(tenant, whose)
  const rows = await tenant.events.select<{ url_path: string; title: string; views: number }>({
    name: 'events.top_pages_of_people',
    lane: 'light',
    columns: `url_path, argMax(title, (timestamp, ${EVENT_ID_ORDER})) AS title, count() AS views`,
    where: [...where, "event = 'page_view'", "url_path != ''"],
    parameters,
    groupBy: 'url_path',
    orderBy: 'views DESC, url_path',
    limit: PAGES_MAX,
  })
  return rows.map(({ url_path, title, views }) => ({ url_path, title: textOrNull(title), views: Number(views) }))
}
