import { randomUUID } from 'node:crypto'
import { v7 } from 'uuid'
import { beforeAll, beforeEach, expect, test } from 'vitest'
import { createTestTenant, sharedService, type TestService, type TestTenant } from '../../test/service.ts'
import { newId } from '../platform/ids.ts'
import { HOUR_MS } from '../platform/time.ts'
import { canBeEventId, eventIdOf } from './sent-ids.ts'

let service: TestService
let tenant: TestTenant

beforeAll(async () => {
  service = await sharedService()
})
beforeEach(async () => {
  tenant = await createTestTenant(service)
})

interface Recorded {
  event_id: string
  event: string
  visitor_id: string | null
}

/** Sends one event as a visitor's page would, or without a visitor. */
async function send(event_id: string | undefined, event: string, visitor_id?: string): Promise<void> {
  const { status, body } = await tenant.track({ visitor_id, events: [{ event_id, event }] })
  expect([status, body.accepted]).toEqual([200, 1])
}

async function recorded(query = ''): Promise<Recorded[]> {
  return (await tenant.call('GET', `/v1/events?limit=100&include=system&${query}`)).body.events
}

async function read(eventId: string): Promise<Recorded> {
  return (await tenant.call('GET', `/v1/events/${eventId}`)).body.event
}

test('a page that sends the id of a system event, or an id that the service generated, shadows neither', async () => {
  await tenant.contact('ada@example.com')
  await send(undefined, 'page_view', 'victim')
  const before = await recorded()
  expect(before.map(({ event }) => event).sort()).toEqual(['contact_created', 'page_view'])
  for (const { event_id } of before) {
    await send(event_id, 'impostor', 'victim')
    await send(event_id.toUpperCase(), 'impostor', 'other')
    await send(event_id, 'impostor')
  }
  for (const event of before) expect(await read(event.event_id)).toEqual(event)
  const after = await recorded()
  expect(new Set(after.map(({ event_id }) => event_id)).size).toBe(after.length)
  expect(after.filter(({ event }) => event === 'impostor')).toHaveLength(6)
})

test('the id that a page sends becomes the id of its event', async () => {
  for (const id of [randomUUID(), v7(), v7({ msecs: Date.now() - 10 * HOUR_MS })]) {
    await send(id.toUpperCase(), 'page_view', 'v')
    expect(await read(id)).toMatchObject({ event_id: id, event: 'page_view', visitor_id: 'v' })
  }
})

test('a UUIDv7 of another day, which may have been deleted, counts the event once but is not its id', async () => {
  for (const hours of [-13, -100, 13, 100]) {
    const id = v7({ msecs: Date.now() + hours * HOUR_MS })
    for (const visitor of ['a', 'a', 'b']) await send(id, id, visitor)
    const events = await recorded(`event_type=${id}`)
    expect(events.map(({ visitor_id }) => visitor_id).sort()).toEqual(['a', 'b'])
    expect(events.map(({ event_id }) => event_id)).not.toContain(id)
  }
})

test("an id used by another visitor's event counts once for each visitor, and only the first event has it", async () => {
  for (const id of [randomUUID(), v7(), newId()]) {
    for (const visitor of ['a', 'b', 'a', 'b', undefined, undefined]) await send(id, id, visitor)
    const events = await recorded(`event_type=${id}`)
    expect(
      events.map(({ visitor_id }) => visitor_id).filter((visitor) => visitor === 'a' || visitor === 'b'),
    ).toHaveLength(2)
    expect(new Set(events.map(({ visitor_id }) => visitor_id)).size).toBe(3)
    expect(new Set(events.map(({ event_id }) => event_id)).size).toBe(3)
    expect(events.filter(({ event_id, visitor_id }) => event_id === id && visitor_id !== 'a')).toEqual([])
  }
})

test('if visitors send one id at once, each has its event once, and one of them has the id', async () => {
  const id = randomUUID()
  const visitors = Array.from({ length: 15 }, (_, number) => `v${number}`)
  await Promise.all([...visitors, ...visitors].map((visitor) => send(id, 'x', visitor)))
  const events = await recorded()
  expect(events.map(({ visitor_id }) => visitor_id).sort()).toEqual([...visitors].sort())
  expect(new Set(events.map(({ event_id }) => event_id)).size).toBe(visitors.length)
  expect(events.filter(({ event_id }) => event_id === id)).toHaveLength(1)
})

test('one batch may have a used id, a repeated one, a new one, and events without ids', async () => {
  const [taken, twice, fresh] = [randomUUID(), randomUUID(), randomUUID()]
  await send(taken, 'first', 'a')
  const events = [
    { event_id: taken, event: 'taken' },
    { event_id: twice, event: 'twice' },
    { event_id: twice, event: 'twice' },
    { event_id: fresh, event: 'fresh' },
    { event: 'none' },
    { event_id: taken, event: 'taken' },
  ]
  for (const _ of [1, 2])
    await tenant.track({ visitor_id: 'b', events: events.filter(({ event }) => event !== 'none') })
  await tenant.track({ visitor_id: 'b', events })
  const names = (await recorded()).map(({ event }) => event)
  expect(names.sort()).toEqual(['first', 'fresh', 'none', 'taken', 'twice'])
  expect(await read(taken)).toMatchObject({ event: 'first' })
  expect(await read(fresh)).toMatchObject({ event: 'fresh' })
})

test('the id made of any text is always the id of its event, so that a later read finds the event again', () => {
  // One text in a million would make an id like the service's own: these were found by trying.
  const texts = ['m990327', 'm1052556', 'm2178801']
  const ids = texts.map((text) => eventIdOf('posthog eu.posthog.com 7', text))
  expect(ids.map((id) => canBeEventId(id, new Date()))).toEqual([true, true, true])
  expect(ids[0]).toMatch(/^81c1960c-2284-8bcf-8b62-e4f99fc159d/)
})
