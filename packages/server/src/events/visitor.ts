import Type from 'typebox'
import { contactsOf } from '../owners/owners.ts'
import { hasMoreCharacters } from '../platform/characters.ts'
import { notFound } from '../platform/errors.ts'
import { isStorableText } from '../platform/http/json-body.ts'
import { Nullable, Timestamp } from '../platform/http/responses.ts'
import { TEXT, WORD } from '../platform/personal.ts'
import type { Tenant } from '../platform/tenant.ts'
import { isoOf, JoinedContact, markOfColumn, textOrNull } from './event-object.ts'
import type { People } from './people.ts'
import { EVENT_ID_ORDER } from './table.ts'

const ID_LENGTH_MAX = 200
const Text = Nullable(Type.String(TEXT))
const Word = Nullable(Type.String(WORD))

/** A browser or a device, as its events describe it. */
export const Visitor = Type.Object(
  {
    visitor_id: Type.String(TEXT),
    contact: Nullable(JoinedContact, 'The contact that the latest event belongs to.'),
    first_seen_at: Timestamp,
    last_seen_at: Timestamp,
    events: Type.Integer(),
    sessions: Type.Integer(),
    first_url: Text,
    first_referrer: Text,
    country: Nullable(Type.String(WORD), 'Of the latest event whose place is known, like region and city.'),
    region: Word,
    city: Nullable(Type.String(markOfColumn('city'))),
    browser: Word,
    os: Word,
    device_type: Word,
    screen: Word,
    is_bot: Type.Boolean({ description: 'Whether all its events are from a bot.' }),
  },
  { title: 'Visitor' },
)
export type Visitor = Type.Static<typeof Visitor>

interface Row {
  events: number
  sessions: number
  first_ms: number
  last_ms: number
  first_page: [url: string, referrer: string]
  place: [country: string, region: string, city: string]
  device: [browser: string, os: string, deviceType: string, screen: string]
  is_bot: number | boolean
  owner: [id: string, isAnonymous: number | boolean]
}

/** Summarizes the events of a visitor. @throws ServiceError 404 for a visitor without events. */
export async function readVisitor(
  tenant: Tenant,
  people: Pick<People, 'withCompanies'>,
  visitorId: string,
): Promise<Visitor> {
  const isId = visitorId !== '' && !hasMoreCharacters(visitorId, ID_LENGTH_MAX) && isStorableText(visitorId)
  const [row] = isId ? await selectVisitor(tenant, visitorId) : []
  if (!row || Number(row.events) === 0) throw notFound('visitor')
  const [ownerId, isAnonymous] = row.owner
  const contactId = (await contactsOf(tenant, [{ owner_id: ownerId, is_anonymous: isAnonymous }])).get(ownerId)
  const found = contactId && (await people.withCompanies(tenant, [contactId])).get(contactId)
  const [firstUrl, firstReferrer] = row.first_page
  const [country, region, city] = row.place
  const [browser, os, deviceType, screen] = row.device
  return {
    visitor_id: visitorId,
    contact: found ? found.contact : null,
    first_seen_at: isoOf(row.first_ms),
    last_seen_at: isoOf(row.last_ms),
    events: Number(row.events),
    sessions: Number(row.sessions),
    first_url: textOrNull(firstUrl),
    first_referrer: textOrNull(firstReferrer),
    country: textOrNull(country),
    region: textOrNull(region),
    city: textOrNull(city),
    browser: textOrNull(browser),
    os: textOrNull(os),
    device_type: textOrNull(deviceType),
    screen: textOrNull(screen),
    is_bot: Boolean(row.is_bot),
  }
}

/** One pass over the visitor's events. */
function selectVisitor(tenant: Tenant, visitorId: string): Promise<Row[]> {
  const order = `(timestamp, ${EVENT_ID_ORDER})`
  return tenant.events.select<Row>({
    name: 'events.visitor',
    lane: 'light',
    columns: `count() AS events, uniqIf(session_id, session_id != '') AS sessions,
      toUnixTimestamp64Milli(min(timestamp)) AS first_ms, toUnixTimestamp64Milli(max(timestamp)) AS last_ms,
      argMinIf((url, referrer), ${order}, url != '') AS first_page,
      argMaxIf((country, region, city), ${order}, country != '') AS place,
      argMaxIf((browser, os, device_type, screen), ${order}, browser != '') AS device,
      min(is_bot) AS is_bot, argMax((owner_id, is_anonymous), ${order}) AS owner`,
    where: ['is_system = 0', 'visitor_id = {visitor_id: String}'],
    parameters: { visitor_id: visitorId },
  })
}
