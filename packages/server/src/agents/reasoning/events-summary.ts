import { activityOfContacts } from '../../events/activity.ts'
import { conditionsOf } from '../../events/conditions.ts'
import { EVENT_ID_ORDER } from '../../events/table.ts'
import { queryableGroups } from '../../owners/owners.ts'
import type { Tenant } from '../../platform/tenant.ts'

const TYPES_A_CONTACT = 20
const PAGES_A_CONTACT = 10
const LATEST_A_CONTACT = 20

interface Span {
  count: number
  first: string
  last: string
}

/** A summary of a contact's events. */
export interface EventsSummary {
  total: number
  first: string | null
  last: string | null
  by_type: ({ event: string } & Span)[]
  /** The most viewed pages. */
  pages: ({ path: string; title: string | null } & Span)[]
  latest: { event: string; timestamp: string; url: string | null; title: string | null }[]
}

export const NO_EVENTS: EventsSummary = { total: 0, first: null, last: null, by_type: [], pages: [], latest: [] }

interface Row {
  contact_id: string
  name: string
  title: string
  count: number
  first_ms: number
  last_ms: number
}

/**
 * Summarizes the events of several contacts, in three queries unless they have more owners than one query can name.
 * Contacts without events are left out.
 */
export async function summarizeEvents(
  tenant: Tenant,
  contactIds: readonly string[],
): Promise<Map<string, EventsSummary>> {
  const [types, pages, latest] = await Promise.all([
    spans(tenant, 'agents.event_types', contactIds, { name: 'event', title: "''", where: [], rows: TYPES_A_CONTACT }),
    spans(tenant, 'agents.pages', contactIds, {
      name: 'url_path',
      title: 'title',
      where: ["event = 'page_view'"],
      rows: PAGES_A_CONTACT,
    }),
    activityOfContacts(tenant, contactIds, {}, LATEST_A_CONTACT),
  ])
  const summaries = new Map<string, EventsSummary>()
  for (const [contactId, { events, total_events }] of latest) {
    const own = (rows: readonly Row[]) => rows.filter((row) => row.contact_id === contactId)
    const byType = own(types).map((row) => ({ event: row.name, ...spanOf(row) }))
    summaries.set(contactId, {
      total: total_events,
      first: byType.map(({ first }) => first).sort()[0] ?? null,
      last:
        byType
          .map(({ last }) => last)
          .sort()
          .at(-1) ?? null,
      by_type: byType,
      pages: own(pages).map((row) => ({ path: row.name, title: row.title === '' ? null : row.title, ...spanOf(row) })),
      latest: events.map(({ event, timestamp, url, title }) => ({ event, timestamp, url, title })),
    })
  }
  return summaries
}

interface Grouping {
  /** Column that is counted. */
  name: string
  title: string
  where: string[]
  rows: number
}

async function spans(tenant: Tenant, query: string, contactIds: readonly string[], grouping: Grouping): Promise<Row[]> {
  const spans: Row[] = []
  for (const group of await queryableGroups(tenant, contactIds)) {
    spans.push(...(await spansOf(tenant, query, group, grouping)))
  }
  return spans
}

async function spansOf(
  tenant: Tenant,
  query: string,
  contactIds: string[],
  { name, title, where, rows }: Grouping,
): Promise<Row[]> {
  const conditions = await conditionsOf(tenant, { contact_ids: contactIds })
  return tenant.events.select<Row>({
    name: query,
    lane: 'light',
    columns: `${name} AS name, argMaxState(${title}, (timestamp, ${EVENT_ID_ORDER})) AS latest_title, count() AS events, min(timestamp) AS first, max(timestamp) AS last`,
    where: [...conditions.where, ...where],
    parameters: conditions.parameters,
    groupBy: name,
    isPerContact: true,
    outer: {
      columns: `contact_id, name, argMaxMerge(latest_title) AS title, sum(events) AS count,
        toUnixTimestamp64Milli(min(first)) AS first_ms, toUnixTimestamp64Milli(max(last)) AS last_ms`,
      groupBy: 'contact_id, name',
      orderBy: 'count DESC, last_ms DESC, name',
      limitBy: { rows, columns: 'contact_id' },
    },
  })
}

function spanOf({ count, first_ms, last_ms }: Row): Span {
  return {
    count: Number(count),
    first: new Date(Number(first_ms)).toISOString(),
    last: new Date(Number(last_ms)).toISOString(),
  }
}
