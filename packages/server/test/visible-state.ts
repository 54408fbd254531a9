import { expect } from 'vitest'
import { CONTACT_COLUMNS } from '../src/contacts/contact-row.ts'
import { episodeId } from '../src/journal/episodes.ts'
import type { TestTenant } from './service.ts'

const UUIDS = /[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}/gi

/** A tenant's people and everything that belongs to them. */
export type State = Awaited<ReturnType<typeof readState>>

/** Reads the tables that writes of contacts change. */
export async function readState({ id, handle: { db } }: Pick<TestTenant, 'id' | 'handle'>) {
  const contacts = await db.selectFrom('contacts').select(CONTACT_COLUMNS).orderBy('contact_id').execute()
  const records = await db.selectFrom('contact_sources').selectAll().orderBy('contact_id').orderBy('source').execute()
  const furtherIds = await db
    .selectFrom('contact_source_ids')
    .selectAll()
    .orderBy('source')
    .orderBy('external_id')
    .execute()
  const merges = await db
    .selectFrom('contact_merges')
    .select(['contact_id', 'survivor_id'])
    .orderBy('contact_id')
    .execute()
  const aliases = await db
    .selectFrom('contact_aliases')
    .selectAll()
    .orderBy('kind')
    .orderBy('source')
    .orderBy('key')
    .execute()
  const visitors = await db.selectFrom('visitors').selectAll().orderBy('visitor_id').execute()
  const visitorLinks = await db.selectFrom('visitor_links').selectAll().orderBy('link_id').execute()
  const ownerLinks = await db.selectFrom('owner_links').selectAll().orderBy('owner_id').execute()
  const companies = await db.selectFrom('companies').selectAll().orderBy('company_id').execute()
  return { id, contacts, records, furtherIds, merges, aliases, visitors, visitorLinks, ownerLinks, companies }
}

export interface SystemEvent {
  event: string
  contactId: string | null
  timestamp: string
  data: Record<string, unknown>
}

/** A tenant's system events and form submissions, in the order in which they were recorded. */
export async function readEvents(tenant: TestTenant): Promise<SystemEvent[]> {
  const events: (SystemEvent & { id: string })[] = []
  for (let page = 1; ; page++) {
    const path = `/v1/events?include=system&sort_dir=asc&limit=100&page=${page}`
    const { status, body } = await tenant.call('GET', path)
    expect(status, JSON.stringify(body)).toBe(200)
    for (const { event_id: id, event, timestamp, data, internal_contact_id } of body.events) {
      events.push({ id, event, timestamp, data, contactId: internal_contact_id ?? null })
    }
    if (body.events.length < 100) break
  }
  events.sort((a, b) => (a.id < b.id ? -1 : 1))
  return events.map(({ id: _, ...event }) => event)
}

/** Every contact of a tenant that ever was, in the order of their creation, which is that of their ids. */
export function everyContact(events: readonly SystemEvent[], { contacts, merges }: State): string[] {
  const created = events.filter(({ event }) => event === 'contact_created').flatMap(({ contactId }) => contactId ?? [])
  const rows = [...contacts, ...merges].map(({ contact_id }) => contact_id)
  return [...new Set([...created, ...rows])].sort()
}

/** Replaces ids by names, because they differ between tenants, and long texts. */
export function named(tenantId: string, contactIds: readonly string[], state: State) {
  const names = new Map([[tenantId, 'tenant']])
  for (const [index, id] of contactIds.entries()) names.set(id, `contact ${index}`)
  for (const { company_id, domain, external_id } of state.companies) {
    names.set(company_id, `company ${domain ?? external_id}`)
  }
  for (const { visitor_id } of state.visitors) {
    for (let episode = 0; episode < 20; episode++) {
      names.set(episodeId(tenantId, visitor_id, episode), `${visitor_id}, episode ${episode}`)
    }
  }
  return <Value>(value: Value): Value => {
    const text = JSON.stringify(value)
      .replaceAll(UUIDS, (id) => names.get(id) ?? 'an id')
      .replaceAll(/x{1000,}/g, 'long')
    return JSON.parse(text) as Value
  }
}

/** What must hold of the tables, whatever was written. */
export function requireConsistent({ id, contacts, merges, aliases, visitors, visitorLinks, ownerLinks }: State): void {
  const existing = new Set(contacts.map(({ contact_id }) => contact_id))
  for (const { kind, key, contact_id } of aliases) {
    const survivor = merges.find((merge) => merge.contact_id === contact_id)?.survivor_id
    const holder = contacts.find((each) => kind !== 'source' && each[kind as 'email' | 'external_id'] === key)
    expect([survivor, undefined], `who has ${key}, which leads to another`).toContain(holder?.contact_id)
  }
  for (const { visitor_id, contact_id, episode } of visitors) {
    const links = visitorLinks.filter((link) => link.visitor_id === visitor_id)
    expect(links.at(-1)?.contact_id ?? null, `the last link of ${visitor_id}`).toBe(contact_id)
    if (contact_id !== null) expect(existing, visitor_id).toContain(contact_id)
    for (const [index, link] of links.entries()) {
      const before = links[index - 1]?.contact_id ?? null
      expect(link.previous_contact_id, `whose ${visitor_id} was before link ${index}`).toBe(before)
      expect(link.contact_id, `link ${index} of ${visitor_id} changes nothing`).not.toBe(before)
    }
    const owners = ownerLinks.map(({ owner_id }) => owner_id)
    for (let each = 0; each <= episode; each++) {
      const isLinked = each < episode || contact_id !== null
      const episodeOf = `episode ${each} of ${visitor_id}`
      expect(owners.includes(episodeId(id, visitor_id, each)), episodeOf).toBe(isLinked)
    }
  }
}
