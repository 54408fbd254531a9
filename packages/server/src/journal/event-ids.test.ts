import { afterAll, beforeAll, expect, test } from 'vitest'
import { createTestTenant, startTestService, type TestService } from '../../test/service.ts'
import { newId } from '../platform/ids.ts'
import { DAY_MS } from '../platform/time.ts'
import { deleteOldEventIds } from './event-ids.ts'

let service: TestService
let aheadMs = 0
beforeAll(async () => {
  service = await startTestService({}, { clock: () => new Date(Date.now() + aheadMs) })
})
afterAll(() => service.close())

const deleteOld = (now = new Date(Date.now() + aheadMs)) => deleteOldEventIds(service.stores.database, now)

/** Sends an event with each id. @returns how many events the service recorded. */
async function record(...eventIds: string[]): Promise<number> {
  const tenant = await tenantOnce()
  const recorded = async () => (await tenant.call('GET', '/v1/events?count_only=true')).body.count as number
  const before = await recorded()
  const events = eventIds.map((event_id) => ({ event_id, event: 'x' }))
  expect((await tenant.track({ visitor_id: 'v', events })).status).toBe(200)
  return (await recorded()) - before
}

let tenant: ReturnType<typeof createTestTenant> | undefined
function tenantOnce() {
  tenant ??= createTestTenant(service)
  return tenant
}

test.each([1, 2, 3, 30])('a clock that is %i days behind does not delete ids recorded today', async (days) => {
  const id = newId()
  await deleteOld()
  expect(await record(id)).toBe(1)
  await deleteOld(new Date(Date.now() - days * DAY_MS))
  expect(await record(id)).toBe(0)
})

test('a process whose clock is a day behind recognizes ids that others have recorded', async () => {
  const id = newId()
  expect(await record(id)).toBe(1)
  aheadMs = -DAY_MS
  expect(await record(id)).toBe(0)
  aheadMs = 0
})

test('a clock that is behind is reported, because ids are then kept for longer', async () => {
  await deleteOld()
  expect(await deleteOld()).toBe(0)
  expect(await deleteOld(new Date(Date.now() - 5 * DAY_MS))).toBe(5)
})

test('ids are remembered for at least a day, and deleted after three', async () => {
  const id = crypto.randomUUID()
  expect(await record(id)).toBe(1)
  const stored = async () => {
    const tables = ['event_ids_0', 'event_ids_1', 'event_ids_2'] as const
    const { database } = service.stores
    const found = await Promise.all(
      tables.map((table) => database.selectFrom(table).selectAll().where('key', '=', id).execute()),
    )
    return found.flat().length
  }
  for (const [days, remembered] of [
    [0, 1],
    [1, 1],
    [2, 0],
  ] as const) {
    aheadMs = days * DAY_MS
    await deleteOld()
    expect(await stored(), `after ${days} days`).toBe(remembered)
    if (remembered === 1) expect(await record(id), `after ${days} days`).toBe(0)
  }
  aheadMs = 0
})

test('an id that is sent again after it was deleted remains the id of the first event', async () => {
  const tenant = await tenantOnce()
  const id = crypto.randomUUID()
  const timestamp = new Date().toISOString()
  const send = (event: string) => tenant.track({ visitor_id: 'v', events: [{ event_id: id, event, timestamp }] })
  const read = async () => (await tenant.call('GET', `/v1/events/${id}`)).body.event.event
  await send('first')
  // The tests above have advanced the tables by three days.
  for (const days of [4, 5, 6]) {
    aheadMs = days * DAY_MS
    await deleteOld()
  }
  await send('second')
  expect((await tenant.call('GET', '/v1/events?event_type=second&count_only=1')).body.count).toBe(1)
  expect(await read()).toBe('first')
  aheadMs = 0
})
