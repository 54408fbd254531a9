import { randomUUID } from 'node:crypto'
import { beforeAll, describe, expect, test } from 'vitest'
import { createTestTenant, sharedService, type TestService, type TestTenant } from '../../test/service.ts'
import { EMPTY_RECORD, JOURNAL_FORMAT, serializeEvents } from '../journal/event-record.ts'
import { newId } from '../platform/ids.ts'
import { eventRows } from '../tenant-export/rows.ts'
import { eventPages } from './pages.ts'

const AT = '2026-03-01T12:00:00.000Z'

let service: TestService
let tenant: TestTenant
let contactId: string
/** Of events at one and the same moment, in ascending order; the ids are the callers', as a tracker makes them. */
let ids: string[]

beforeAll(async () => {
  service = await sharedService()
  tenant = await createTestTenant(service)
  contactId = await tenant.contact('c@example.com', {}, { visitor_id: 'v' })
  const sent = Array.from({ length: 40 }, () => randomUUID())
  for (let from = 0; from < sent.length; from += 10) {
    const events = sent.slice(from, from + 10).map((event_id) => ({ event: 'same', event_id, timestamp: AT }))
    await tenant.track({ visitor_id: 'v', events })
  }
  ids = sent.toSorted()
})

const inOrder = (direction: string) => (direction === 'asc' ? ids : ids.toReversed())
const idsOf = (events: { event_id?: string; id?: string }[]) => events.map(({ event_id, id }) => event_id ?? id)

describe('events at the same moment are in the order of their ids', () => {
  test.each([
    ['asc', ''],
    ['desc', ''],
    ['asc', '&fields=summary'],
    ['desc', '&sort_by=event'],
    ['asc', '&sort_by=event'],
  ])('on every page of the list, %s%s', async (direction, more) => {
    const seen = []
    for (let page = 1; page <= 6; page++) {
      const { body } = await tenant.call('GET', `/v1/events?sort_dir=${direction}&limit=7&page=${page}${more}`)
      seen.push(...idsOf(body.events))
    }
    expect(seen).toEqual(inOrder(direction))
  })

  test.each(['asc', 'desc'])("in a contact's events, %s", async (direction) => {
    const { body } = await tenant.call('GET', `/v1/contacts/events/${contactId}?sort_dir=${direction}`)
    expect(idsOf(body.events)).toEqual(inOrder(direction))
  })

  test('in a contact and in the activity of several, newest first', async () => {
    const { body } = await tenant.call('GET', `/v1/contacts/${contactId}?events_limit=15`)
    expect(idsOf(body.events)).toEqual(inOrder('desc').slice(0, 15))
    const answer = await tenant.call('POST', '/v1/batch/activity', { contact_ids: [contactId], events_limit: 15 })
    expect(idsOf(answer.body.activity[contactId].events)).toEqual(inOrder('desc').slice(0, 15))
  })

  test('in what is exported, each once however many pages it is read in', async () => {
    const own = await createTestTenant(service)
    const sent = Array.from({ length: 20_500 }, () => randomUUID())
    const records = sent.map((event_id) => ({
      ...EMPTY_RECORD,
      tenant_id: own.id,
      event_id,
      event: 'same',
      timestamp: Date.parse(AT),
      received_at: Date.parse(AT),
    }))
    await service.stores.clickhouse.insert('events', JOURNAL_FORMAT, serializeEvents(records), newId())
    const listed = await Array.fromAsync(eventPages(own.handle, {}))
    // Compared as a whole: showing how lists of this length differ would take minutes.
    expect(idsOf(listed.flat()).join() === sent.toSorted().reverse().join()).toBe(true)
    const exported = await Array.fromAsync(eventRows(own.handle))
    expect(idsOf(exported.flat()).join() === sent.toSorted().join()).toBe(true)
  })
})
