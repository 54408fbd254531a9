import Type from 'typebox'
import { eventMatchesOf, propertiesOf, type SegmentFilter } from '../conditions/language.ts'
import { selectNames } from '../contacts/names.ts'
import { ContactProperties, type Properties } from '../contacts/properties.ts'
import { conditionsOf } from '../events/conditions.ts'
import { isoOf, JoinedContact, textOrNull } from '../events/event-object.ts'
import { EVENT_ID_ORDER } from '../events/table.ts'
import { contactsOf, type Owned } from '../owners/owners.ts'
import type { EventSelect } from '../platform/clickhouse/tenant-events.ts'
import { offsetOf, type Page } from '../platform/http/pagination.ts'
import { ContactId, Nullable, Timestamp } from '../platform/http/responses.ts'
import { isObject } from '../platform/is-object.ts'
import { LABEL, TEXT } from '../platform/personal.ts'
import type { Tenant } from '../platform/tenant.ts'
import { readSegment } from './segments.ts'

/** Membership follows within ten seconds; a check of a busy service may take longer. */
const CAUSE_WITHIN_SECONDS = 60

const Cause = Type.Object(
  {
    event: Type.String(LABEL),
    timestamp: Timestamp,
    url: Nullable(Type.String(TEXT)),
    title: Nullable(Type.String(TEXT)),
    properties: Type.Array(Type.String(LABEL), { description: 'The properties that changed, of `contact_updated`.' }),
    values: ContactProperties,
  },
  {
    title: 'SegmentChangeCause',
    description:
      'What the contact did, or what changed, in the minute before; null if nothing is known: time may have passed, or an event arrived late.',
  },
)

/** A contact that entered or left a segment. */
export const SegmentChange = Type.Object(
  {
    change: Type.Enum(['entered', 'left']),
    timestamp: Timestamp,
    contact_id: Nullable(ContactId, 'null if the contact was deleted.'),
    contact: Nullable(JoinedContact),
    after: Nullable(Cause),
  },
  { title: 'SegmentChange' },
)
export type SegmentChange = Type.Static<typeof SegmentChange>

interface Row extends Owned {
  event: string
  timestamp_ms: number
  total: number
}

interface CauseRow extends Owned {
  event: string
  timestamp_ms: number
  url: string
  title: string
  data: string
}

/**
 * Who entered and left a segment since its creation, the latest first, each with what happened just before. Contacts
 * that a new or changed filter added or removed record no event, so they are not listed.
 * @throws ServiceError 404.
 */
export async function segmentChanges(
  tenant: Tenant,
  segmentId: string,
  page: Page,
): Promise<{ changes: SegmentChange[]; total: number }> {
  const { created_at: since, filter } = await readSegment(tenant, segmentId)
  const selection = {
    lane: 'heavy' as const,
    where: [
      'is_system = 1',
      "event IN ('segment_entered', 'segment_exited')",
      "timestamp >= parseDateTime64BestEffort({since: String}, 3, 'UTC')",
      "JSONExtractString(data, 'segment_id') = {segment_id: String}",
    ],
    parameters: { since, segment_id: segmentId },
  }
  const rows = await tenant.events.select<Row>({
    ...selection,
    name: 'segments.changes',
    columns:
      'event, owner_id, is_anonymous, toUnixTimestamp64Milli(timestamp) AS timestamp_ms, count() OVER () AS total',
    orderBy: `timestamp DESC, ${EVENT_ID_ORDER} DESC`,
    limit: page.limit,
    offset: offsetOf(page),
  })
  const contacts = await contactsOf(tenant, rows)
  const ids = [...new Set(contacts.values())]
  const [named, causes] = await Promise.all([namesOf(tenant, ids), causesOf(tenant, ids, rows)])
  const matters = relevanceIn(filter)
  const changes = rows.map((row): SegmentChange => {
    const contactId = contacts.get(row.owner_id) ?? null
    const contact = (contactId && named.get(contactId)) || null
    return {
      change: row.event === 'segment_entered' ? 'entered' : 'left',
      timestamp: isoOf(row.timestamp_ms),
      contact_id: contact && contactId,
      contact,
      after: (contactId && causeOf(causes.get(contactId) ?? [], Number(row.timestamp_ms), matters)) || null,
    }
  })
  return { changes, total: Number(rows[0]?.total ?? (page.page === 1 ? 0 : await countChanges(tenant, selection))) }
}

type Selection = Pick<EventSelect, 'lane' | 'where' | 'parameters'>

/** Of a page past the end, whose rows cannot say it. */
async function countChanges(tenant: Tenant, selection: Selection): Promise<number> {
  const [row] = await tenant.events.select<{ total: number }>({
    ...selection,
    name: 'segments.count_changes',
    columns: 'count() AS total',
  })
  return Number(row?.total ?? 0)
}

async function namesOf(tenant: Tenant, ids: readonly string[]): Promise<Map<string, JoinedContact>> {
  if (ids.length === 0) return new Map()
  const rows = await tenant.db
    .selectFrom(selectNames(tenant, ids).as('contact'))
    .select(['contact_id', 'email', 'firstname', 'lastname'])
    .execute()
  return new Map(rows.map(({ contact_id, ...names }) => [contact_id, { _id: contact_id, ...names }]))
}

/** The events of some contacts within a minute before one of some moments, by contact, the latest first. */
async function causesOf(
  tenant: Tenant,
  ids: readonly string[],
  moments: readonly Row[],
): Promise<Map<string, CauseRow[]>> {
  if (ids.length === 0) return new Map()
  const { where, parameters } = await conditionsOf(tenant, { contact_ids: [...ids], includeSystem: true })
  const times = moments.map(({ timestamp_ms }) => Number(timestamp_ms))
  const rows = await tenant.events.select<CauseRow>({
    name: 'segments.causes',
    lane: 'light',
    columns: 'event, owner_id, is_anonymous, toUnixTimestamp64Milli(timestamp) AS timestamp_ms, url, title, data',
    where: [
      ...where,
      "event NOT IN ('segment_entered', 'segment_exited')",
      `arrayExists(moment -> toUnixTimestamp64Milli(timestamp) BETWEEN toInt64(moment) - ${CAUSE_WITHIN_SECONDS * 1_000} AND toInt64(moment),
        {moments: Array(String)})`,
    ],
    parameters: { ...parameters, moments: times.map(String) },
    orderBy: `timestamp DESC, ${EVENT_ID_ORDER} DESC`,
    limit: 1_000,
  })
  const contacts = await contactsOf(tenant, rows)
  return Map.groupBy(rows, ({ owner_id }) => contacts.get(owner_id) ?? '')
}

/** The latest of the events before a moment that the filter is about; without one, the latest of all. */
function causeOf(
  events: readonly CauseRow[],
  moment: number,
  matters: (event: CauseRow) => boolean,
): Type.Static<typeof Cause> | null {
  const before = events.filter(
    ({ timestamp_ms: at }) => Number(at) <= moment && Number(at) >= moment - CAUSE_WITHIN_SECONDS * 1_000,
  )
  const found = before.find(matters) ?? before[0]
  if (!found) return null
  return {
    event: found.event,
    timestamp: isoOf(found.timestamp_ms),
    url: textOrNull(found.url),
    title: textOrNull(found.title),
    properties: found.event === 'contact_updated' ? changedIn(found.data) : [],
    values: found.event === 'contact_updated' ? valuesIn(found.data) : {},
  }
}

/** Whether an event can change what a filter says of its contact. */
function relevanceIn(filter: SegmentFilter): (event: CauseRow) => boolean {
  const properties = new Set(propertiesOf(filter))
  const matches = eventMatchesOf(filter)
  return ({ event, url, data }) => {
    if (event === 'contact_updated') return changedIn(data).some((name) => properties.has(name))
    if (event === 'contact_created') return true
    return matches.some(
      ({ type, types, url_contains: part }) =>
        (type === undefined || type === event) &&
        (types === undefined || types.includes(event)) &&
        (part === undefined || url.toLowerCase().includes(part.toLowerCase())),
    )
  }
}

/** The properties that a `contact_updated` names. */
function changedIn(data: string): string[] {
  const parsed: unknown = JSON.parse(data)
  if (!isObject(parsed)) return []
  const { changed } = parsed
  return Array.isArray(changed) ? changed.map(String) : isObject(changed) ? Object.keys(changed) : []
}

/** The values that a `contact_updated` gave those properties; none of those that it removed. */
function valuesIn(data: string): Properties {
  const parsed: unknown = JSON.parse(data)
  const after: unknown = isObject(parsed) ? parsed.properties : undefined
  if (!isObject(after)) return {}
  return Object.fromEntries(
    changedIn(data).flatMap((name) => (Object.hasOwn(after, name) ? [[name, after[name]]] : [])),
  ) as Properties
}
