import { parse } from 'csv-parse/sync'
import { expect } from 'vitest'
import type { TestTenant } from './service.ts'
import { until } from './webhooks.ts'

/** The events of a tenant that `expectReads` expects, besides one of an anonymous visitor, which is named `looked`. */
interface KnownEvents {
  /** The contact that has them now. */
  contactId: string
  /** Its visitor, who had two sessions, each with the events `looked` and `bought`. */
  visitorId: string
  /** In the order of their times. */
  sessionIds: string[]
  /** One of the events named `bought`. */
  eventId: string
  /** A segment of those who bought. */
  segmentId: string
}

interface Read {
  path: string
  body?: object
  /** A part of the response; of a file, its rows. */
  expected: object
}

/** Expects that every kind of read returns the events with their current contact. */
export async function expectReads(reader: TestTenant, known: KnownEvents): Promise<void> {
  for (const { path, body, expected } of readsOf(known)) {
    const response = await reader.call(body ? 'POST' : 'GET', path, body)
    expect(response.status, `${path}: ${JSON.stringify(response.body)}`).toBe(200)
    const content =
      typeof response.body === 'string' ? parse(response.body, { columns: true, bom: true }) : response.body
    expect(content, path).toMatchObject(expected)
  }
  // Members of a segment are counted in the background.
  await until(async () => {
    const { body } = await reader.call('GET', `/v1/segments/${known.segmentId}/contacts`)
    expect(body).toMatchObject({ counting: false, contacts: [{ contact_id: known.contactId }] })
  })
}

function readsOf({ contactId, visitorId, sessionIds, eventId }: KnownEvents): Read[] {
  const four = <Each>(each: Each) => [each, each, each, each]
  const owned = { internal_contact_id: contactId, contact: { _id: contactId } }
  // The latest first.
  const visits = sessionIds
    .map((session_id) => ({ session_id, visitor_id: visitorId, event_count: 2, ...owned }))
    .reverse()
  const byType = [
    { type: 'bought', count: 2 },
    { type: 'looked', count: 2 },
  ]
  const bought = { match: 'all', conditions: [{ event: { type: 'bought' }, operator: 'did' }] }
  return [
    { path: '/v1/events?count_only=true&identified_only=true', expected: { count: 4 } },
    { path: '/v1/events?count_only=true', expected: { count: 5 } },
    { path: `/v1/events?count_only=true&contact_id=${contactId}`, expected: { count: 4 } },
    { path: '/v1/events?identified_only=true', expected: { events: four(owned), pagination: { total_items: 4 } } },
    { path: `/v1/events?contact_id=${contactId}`, expected: { events: four(owned), pagination: { total_items: 4 } } },
    { path: `/v1/events/${eventId}`, expected: { event: { event_id: eventId, event: 'bought', ...owned } } },
    { path: '/v1/events/types', expected: { types: ['bought', 'looked'], total_items: 2 } },
    {
      path: '/v1/events/stats?identified_only=true',
      expected: { stats: { total: 4, by_type: byType } },
    },
    {
      path: '/v1/aggregate',
      body: { entity: 'events', group_by: 'contact_id' },
      expected: { buckets: [{ key: contactId, value: 4, contact: { _id: contactId } }], total: 5 },
    },
    {
      path: '/v1/aggregate',
      body: { entity: 'events', group_by: 'contact.email', metric: 'unique_sessions' },
      expected: { buckets: [{ value: 2 }, { key: null, value: 1 }], total: 5, distinct_groups: 1 },
    },
    { path: '/v1/contacts?has_event_type=bought', expected: { contacts: [{ contact_id: contactId }] } },
    {
      path: `/v1/contacts/${contactId}`,
      expected: { total_events: 4, events: four({ event_id: expect.any(String) }) },
    },
    {
      path: `/v1/contacts/events/${contactId}`,
      expected: { total_items: 4, events: four({ internal_contact_id: contactId }) },
    },
    {
      path: '/v1/batch/activity',
      body: { contact_ids: [contactId] },
      expected: { activity: { [contactId]: { total_events: 4, events: four({ id: expect.any(String) }) } } },
    },
    { path: `/v1/visits?contact_id=${contactId}`, expected: { visits, pagination: { total_items: 2 } } },
    {
      path: `/v1/timeline?contact_id=${contactId}`,
      expected: { items: visits.map((visit) => ({ kind: 'visit', visit })), pagination: { total_items: 2 } },
    },
    {
      path: `/v1/visitors/${visitorId}`,
      expected: { visitor: { events: 4, sessions: 2, contact: { _id: contactId } } },
    },
    { path: '/v1/overview', expected: { events: 5, visitors: 2, identified_contacts: 1 } },
    {
      path: '/v1/segments/preview',
      body: { filter: bought },
      expected: { count: 1, sample: [{ contact_id: contactId }] },
    },
    {
      path: '/v1/events/export.csv?identified_only=true&columns=event,contact_id',
      expected: four({ contact_id: contactId }),
    },
  ]
}
