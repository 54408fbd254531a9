import {
  EMPTY_RECORD,
  type EventRecord,
  JOURNAL_FORMAT,
  serializeEvents,
  serializeRows,
} from '../src/journal/event-record.ts'
import { newId } from '../src/platform/ids.ts'
import type { TestService, TestTenant } from './service.ts'

/*
 * Random events of contacts and anonymous visitors, for questions of insights. What a question answers is computed from
 * them naively, with no code of the service.
 */

/** An event as a naive computation sees it. */
export interface StreamEvent {
  id: string
  name: string
  at: number
  /** The contact, followed through merges, or the anonymous visitor; null for an event of nobody. */
  person: string | null
  isContact: boolean
  owner: string
  session: string
  path: string
  country: string
  isBot: boolean
  isSystem: boolean
  data: Record<string, unknown>
  /** Further columns. */
  more: Partial<EventRecord>
}

export interface Stream {
  events: StreamEvent[]
  contacts: string[]
  /** What a person's contact, or its company, has as a value now. */
  valueOf(person: string | null, name: 'contact.tags' | 'company.industry'): unknown
}

/** Numbers from 0 to 1 that are the same in each run. */
export function randomFrom(seed: number): () => number {
  let state = seed
  return () => {
    state = (state * 1_664_525 + 1_013_904_223) % 2 ** 32
    return state / 2 ** 32
  }
}

export interface StreamOptions {
  seed: number
  events: number
  /** The first and the last moment of the events, in milliseconds. */
  from: number
  until: number
  /** How many different moments there are: few of them make events of equal times. */
  moments?: number
  names?: readonly string[]
  /** Further columns of an event. */
  more?: (pick: <Item>(items: readonly Item[]) => Item) => Partial<EventRecord>
}

const PATHS = ['/', '/pricing', '/docs', '/signup', '/blog/a?b']
const COUNTRIES = ['DE', 'FR', '', 'US']
const PLANS = ['pro', 'free', 5, true, null, ['pro', 'team'], [], { a: 1 }]

/**
 * Writes a random stream into a tenant: 12 contacts, of which one was merged into another, and 24 visitors, of whom half were
 * identified, some of them as the same contact.
 */
export async function writeStream(
  { stores }: TestService,
  { id: tenantId, handle }: TestTenant,
  {
    seed,
    events: count,
    from,
    until,
    moments = 400,
    names = ['view', 'click', 'signup', 'paid'],
    more = () => ({}),
  }: StreamOptions,
): Promise<Stream> {
  const random = randomFrom(seed)
  const pick = <Item>(items: readonly Item[]): Item => items[Math.floor(random() * items.length)] as Item
  const contacts = Array.from({ length: 12 }, newId)
  const visitors = Array.from({ length: 24 }, newId)
  const links = new Map(visitors.slice(0, 12).map((visitor) => [visitor, pick(contacts.slice(1))]))
  links.set(String(contacts[0]), String(contacts[1]))
  const rows = [...links].map(([owner_id, contact_id]) => ({ owner_id, contact_id }))
  // The row of a merged contact is gone.
  await insertContacts({ handle }, contacts.slice(1))
  await handle.db.insertInto('owner_links').values(rows).execute()
  const copies = rows.map((row) => ({ tenant_id: tenantId, ...row, version: 1 }))
  await stores.clickhouse.insert('owner_links', JOURNAL_FORMAT, serializeRows(copies), newId())
  const nobody = EMPTY_RECORD.owner_id
  const events = Array.from({ length: count }, (): StreamEvent => {
    const owner = random() < 0.03 ? nobody : pick([...contacts, ...visitors])
    const person = owner === nobody ? null : (links.get(owner) ?? owner)
    return {
      id: newId(),
      name: pick(names),
      at: from + Math.floor((Math.floor(random() * moments) / (moments - 1)) * (until - from)),
      person,
      isContact: person !== null && contacts.includes(person),
      owner,
      session: random() < 0.1 ? '' : `${owner.slice(-4)}-${Math.floor(random() * 3)}`,
      path: pick(PATHS),
      country: pick(COUNTRIES),
      isBot: random() < 0.05,
      isSystem: random() < 0.05,
      data: { plan: pick(PLANS), amount: pick([0.1, 0.2, 7, '12.5', 'none', null]) },
      more: more(pick),
    }
  })
  await writeEvents({ stores }, tenantId, events, contacts)
  const valueNamed: Stream['valueOf'] = (person, name) => {
    const index = contacts.indexOf(person ?? '') - 1
    if (index < 0) return undefined
    return name === 'contact.tags' ? tagsAt(index) : COMPANIES[index % COMPANIES.length]?.industry
  }
  return { events, contacts, valueOf: valueNamed }
}

/** Several values, lists of some, and none. */
const TAGS = ['vip', ['vip', 'beta', 7], 7, [], true, undefined, ['beta', 'beta'], '']
const tagsAt = (index: number) => TAGS[index % TAGS.length]

/** The companies of the contacts, in turn; the last contact of each turn has none. */
const COMPANIES: readonly ({ industry?: string } | null)[] = [{ industry: 'Tea' }, { industry: 'Rail' }, {}, null]

/** An event of an anonymous visitor, for `writeEvents`. */
export function visitorEvent(owner: string, name: string, at: number, more: Partial<StreamEvent> = {}): StreamEvent {
  const event = { id: newId(), name, at, person: owner, isContact: false, owner, session: '', path: '/', country: '' }
  return { ...event, isBot: false, isSystem: false, data: {}, more: {}, ...more }
}

async function insertContacts({ handle }: Pick<TestTenant, 'handle'>, contacts: readonly string[]): Promise<void> {
  const moment = new Date('2026-01-01T00:00:00Z')
  const companies = COMPANIES.map((properties) => (properties === null ? null : { company_id: newId(), ...properties }))
  const ofCompanies = companies.flatMap((company) => {
    if (company === null) return []
    const { company_id, ...properties } = company
    return [{ company_id, properties: JSON.stringify(properties), created_at: moment, updated_at: moment }]
  })
  await handle.db.insertInto('companies').values(ofCompanies).execute()
  const rows = contacts.map((contact_id, index) => ({
    contact_id,
    email: `person${index}@${contact_id}.example`,
    company_id: companies[index % companies.length]?.company_id ?? null,
    properties: JSON.stringify({ plan: index % 2 === 0 ? 'pro' : 'free', tags: tagsAt(index) }),
    creation_source: 'manual',
    ...{ first_seen_at: moment, created_at: moment, updated_at: moment },
  }))
  await handle.db.insertInto('contacts').values(rows).execute()
}

/** Writes events as the projector does. */
export async function writeEvents(
  { stores }: Pick<TestService, 'stores'>,
  tenantId: string,
  events: readonly StreamEvent[],
  contacts: readonly string[],
): Promise<void> {
  const records = events.map((event) => ({
    ...EMPTY_RECORD,
    ...{ tenant_id: tenantId, event_id: event.id, event: event.name, timestamp: event.at, received_at: event.at },
    ...{ owner_id: event.owner, is_anonymous: !contacts.includes(event.owner), session_id: event.session },
    visitor_id: event.owner === EMPTY_RECORD.owner_id ? '' : event.owner,
    ...{ url_path: event.path, country: event.country, is_bot: event.isBot, is_system: event.isSystem },
    data: JSON.stringify(event.data),
    ...event.more,
  }))
  await stores.clickhouse.insert('events', JOURNAL_FORMAT, serializeEvents(records), newId())
}
