import { setTimeout as sleep } from 'node:timers/promises'
import { sql } from 'kysely'
import { afterAll, afterEach, beforeAll, expect, test } from 'vitest'
import { createTestTenant, type TestTenant } from '../../../test/service.ts'
import { arrived, deliveriesOf, startWebhookBench, until, type WebhookBench } from '../../../test/webhooks.ts'
import { EMPTY_RECORD, type EventRecord } from '../../journal/event-record.ts'
import { newId } from '../../platform/ids.ts'
import { createMetrics } from '../../platform/metrics.ts'
import { repeatOnCollision } from '../../platform/postgres/collisions.ts'
import { openTenant } from '../../platform/tenant.ts'
import { activeSubscriptions, deliveriesOf as deliveriesFor } from '../match.ts'
import { resendDelivery } from '../resend.ts'
import type { WebhookDelivery } from '../schema.ts'
import { addDeliveries } from './add.ts'
import { type Claimed, claimDeliveries } from './claim.ts'
import { deleteDeliveries } from './delete.ts'
import { giveBack, type Outcome, recordAttempts } from './finish.ts'
import { startDeliveryWorker } from './worker.ts'

let bench: WebhookBench
beforeAll(async () => {
  bench = await startWebhookBench()
})
afterEach(() => {
  bench.receiver.answer = (response) => response.end('ok')
  bench.receiver.received.length = 0
})
afterAll(() => bench.close())

/** Queues deliveries as if so many events had just been recorded. */
async function queue(
  tenant: Pick<TestTenant, 'id' | 'handle'>,
  event: string,
  count: number,
  more: Partial<EventRecord> = {},
): Promise<void> {
  const at = bench.now().getTime()
  const common = { ...EMPTY_RECORD, tenant_id: tenant.id, event, timestamp: at, received_at: at, ...more }
  const events = Array.from({ length: count }, () => ({ ...common, event_id: newId() }))
  await addDeliveries(tenant.handle, deliveriesFor(events, await activeSubscriptions(tenant.handle)))
}

/** Deletes deliveries as features do, by default all of a tenant. */
async function remove({ handle }: TestTenant, deliveryIds?: readonly string[]): Promise<void> {
  const ids =
    deliveryIds ??
    (await handle.db.selectFrom('webhook_deliveries').select('delivery_id').execute()).map((row) => row.delivery_id)
  const keys = ids.map((delivery_id) => ({ tenant_id: handle.id, delivery_id }))
  await repeatOnCollision(() => handle.transaction((tx) => deleteDeliveries(tx.unrestricted, keys)))
}

function secondWorker() {
  const { stores, postgres, projector, secrets, outbound, log } = bench.service
  return startDeliveryWorker({
    stores,
    outbound,
    secrets,
    clock: bench.now,
    log,
    metrics: createMetrics(postgres.pool, stores.reads, projector.counts),
  })
}

test('two workers share a queue and send each delivery once', async () => {
  const tenant = await createTestTenant(bench.service)
  const { subscriptionId } = await bench.subscribe(tenant, { event: 'shared', url: bench.receiver.url('/shared') })
  bench.receiver.answer = (response) => setTimeout(() => response.end(), 5)
  const other = secondWorker()
  try {
    await queue(tenant, 'shared', 600)
    other.wake()
    const requests = await arrived(bench.receiver, '/shared', 600)
    await sleep(200)
    expect(new Set(requests.map(({ headers }) => headers['webhook-id'])).size).toBe(600)
    expect(bench.receiver.received).toHaveLength(600)
    // What came of a request is written down after its answer.
    await until(async () => {
      const deliveries = await deliveriesOf(tenant.handle, subscriptionId)
      expect(deliveries.every(({ status, attempt_count }) => status === 'succeeded' && attempt_count === 1)).toBe(true)
    })
  } finally {
    await other.stop()
  }
})

/** The second is the worst case: receivers that were quick, and so get many requests at once, begin to hang together. */
test.each([
  ['that hangs', 0, 80],
  ['that was quick and begins to hang', 150, 300],
])('a receiver %s holds up neither another subscription nor another tenant', async (_, before, stuck) => {
  const [hanging, fast] = [await createTestTenant(bench.service), await createTestTenant(bench.service)]
  for (let n = 0; n < 20; n++) {
    await bench.subscribe(hanging, { event: 'stuck', url: bench.receiver.url(`/stuck/${before}/${n}`) })
  }
  await bench.subscribe(hanging, { event: 'page_view', url: bench.receiver.url(`/beside/${before}`) })
  await bench.subscribe(fast, { event: 'page_view', url: bench.receiver.url(`/fast/${before}`) })
  if (before > 0) {
    // As from afar: a receiver that takes as long for many as for one gets many.
    bench.receiver.answer = (response) => setTimeout(() => response.end(), 200)
    await queue(hanging, 'stuck', before)
    const quick = () => bench.receiver.received.filter(({ path }) => path.startsWith(`/stuck/${before}/`))
    await until(() => expect(quick()).toHaveLength(20 * before), 60_000)
    bench.receiver.received.length = 0
  }
  const open: (() => void)[] = []
  let givenUp = 0
  bench.receiver.answer = (response, { path }) => {
    if (!path.startsWith('/stuck')) return response.end()
    open.push(() => response.end())
    response.once('close', () => givenUp++)
  }
  await queue(hanging, 'stuck', 50)
  await until(() => expect(open.length).toBeGreaterThanOrEqual(stuck))
  for (let n = 0; n < 5; n++) {
    for (const tenant of [hanging, fast]) await tenant.track({ visitor_id: 'v', events: [{ event: 'page_view' }] })
    await arrived(bench.receiver, `/beside/${before}`, n + 1)
    await arrived(bench.receiver, `/fast/${before}`, n + 1)
    // It came while every one that hangs was still being waited for.
    expect(givenUp).toBe(0)
  }
  // Nobody is sent more at once than a receiver gets.
  const perPath = Map.groupBy(bench.receiver.received, ({ path }) => path)
  for (const [path, requests] of perPath) if (path.startsWith('/stuck')) expect(requests.length).toBeLessThanOrEqual(32)
  bench.receiver.answer = (response) => response.end()
  for (const end of open) end()
})

test("a small queue is not behind another tenant's large one", async () => {
  const [large, small] = [await createTestTenant(bench.service), await createTestTenant(bench.service)]
  await bench.subscribe(large, { event: 'burst', url: bench.receiver.url('/large') })
  await bench.subscribe(small, { event: 'burst', url: bench.receiver.url('/small') })
  bench.receiver.answer = (response) => setTimeout(() => response.end(), 10)
  const { stores } = bench.service
  // Both at once: how much of the large one goes out before the small one is there is nobody's doing.
  await stores.database.transaction().execute(async (database) => {
    for (const [{ id }, count] of [[large, 1_500] as const, [small, 20] as const]) {
      await queue({ id, handle: openTenant({ ...stores, database }, id) }, 'burst', count)
    }
  })
  await arrived(bench.receiver, '/large', 1_500)
  const paths = bench.receiver.received.map(({ path }) => path).filter((path) => /large|small/.test(path))
  expect(paths).toHaveLength(1_520)
  expect(paths.lastIndexOf('/small')).toBeLessThan(1_000)
})

const room = { slots: 1_000, perSubscription: 10, free: new Map<string, number>(), fullTenants: [] }

async function queued(tenant: TestTenant): Promise<number> {
  const rows = await tenant.handle.db.selectFrom('webhook_queue').select('delivery_ids').execute()
  return rows.flatMap(({ delivery_ids }) => delivery_ids).length
}

test('a delivery whose lease ended belongs to who took it over, and what the first one writes is void', async () => {
  const tenant = await createTestTenant(bench.service)
  const { stores, deliveryWorker } = bench.service
  const { subscriptionId } = await bench.subscribe(tenant, { event: 'leased', url: bench.receiver.url('/leased') })
  await deliveryWorker.stop()
  const contactId = await tenant.contact('ada@example.com', { firstname: 'Ada' })
  await queue(tenant, 'leased', 1, { owner_id: contactId, is_anonymous: false })
  const start = bench.now()
  const later = (seconds: number) => new Date(start.getTime() + seconds * 1_000)
  /** Other tests may have left something in the queue. */
  const claim = async (at: Date) =>
    (await claimDeliveries(stores, room, at, 20_000)).deliveries.filter(
      ({ batch }) => batch.subscriptionId === subscriptionId,
    )
  const [first] = await claim(start)
  expect(JSON.parse(first?.payload ?? '')).toMatchObject({ data: { contact: { firstname: 'Ada' } } })
  // What a later look would join is another thing.
  await tenant.call('PUT', `/v1/contacts/${contactId}`, { properties: { firstname: 'Augusta' } })
  expect(await claim(later(19))).toEqual([])
  const [second] = await claim(later(21))
  if (!first || !second) throw new Error('not claimed')
  expect(second.payload).toBe(first.payload)
  const outcome = { ...OUTCOME, at: start, endedAt: start }
  await recordAttempts(stores.database, [{ delivery: first, outcome }])
  expect(await deliveriesOf(tenant.handle, subscriptionId)).toMatchObject([{ status: 'pending', attempt_count: 0 }])
  const listed = async (status: WebhookDelivery['status']) =>
    (await deliveriesOf(tenant.handle, subscriptionId, status)).length
  expect([await listed('pending'), await listed('succeeded'), await listed('failed')]).toEqual([1, 0, 0])
  await recordAttempts(stores.database, [{ delivery: second, outcome }])
  expect(await deliveriesOf(tenant.handle, subscriptionId)).toMatchObject([
    { status: 'succeeded', attempt_count: 1, attempts: [{ attempt: 1 }] },
  ])
  expect([await listed('pending'), await listed('succeeded'), await listed('failed')]).toEqual([0, 1, 0])
  expect(await queued(tenant)).toBe(0)
  await resendDelivery(tenant.handle, second.deliveryId, later(22))
  expect([await listed('pending'), await queued(tenant)]).toEqual([1, 1])
})

const OUTCOME = { statusCode: 200, body: '', error: null, address: null, succeeded: true }

/** Stops the worker and takes what is due of a subscription, as a worker would. */
async function taker(tenant: TestTenant, event: string, count: number) {
  const { stores, deliveryWorker } = bench.service
  const { subscriptionId } = await bench.subscribe(tenant, { event, url: bench.receiver.url(`/${event}`) })
  await deliveryWorker.stop()
  await queue(tenant, event, count)
  const start = bench.now()
  const at = (seconds: number) => new Date(start.getTime() + seconds * 1_000)
  const take = async (seconds: number, most = 1_000) => {
    const free = new Map([[subscriptionId, most]])
    const { deliveries } = await claimDeliveries(stores, { ...room, free }, at(seconds), 20_000)
    return deliveries.filter(({ batch }) => batch.subscriptionId === subscriptionId)
  }
  const answer = (deliveries: readonly Claimed[], more: Partial<Outcome> = {}) => {
    const outcome = { ...OUTCOME, at: at(0), endedAt: at(0), ...more }
    return recordAttempts(
      stores.database,
      deliveries.map((delivery) => ({ delivery, outcome })),
    )
  }
  const states = async () => {
    const all = await deliveriesOf(tenant.handle, subscriptionId)
    return Object.entries(Object.groupBy(all, ({ status }) => status)).map(([status, some]) => [status, some?.length])
  }
  return { subscriptionId, at, take, answer, states, database: stores.database }
}

const idsOf = (deliveries: readonly Claimed[]) => new Set(deliveries.map(({ deliveryId }) => deliveryId))

test('many deliveries share a row of the queue: part of it is taken, part is written down, the rest is taken over', async () => {
  const tenant = await createTestTenant(bench.service)
  const { at, take, answer, states, database } = await taker(tenant, 'shared_row', 100)
  const rows = () => tenant.handle.db.selectFrom('webhook_queue').selectAll().execute()
  expect((await rows()).map(({ delivery_ids }) => delivery_ids.length).sort()).toEqual([36, 64])
  // Not more than there is room for, from however many rows; and each one once.
  const first = await take(0, 10)
  const second = await take(0, 60)
  expect([first.length, second.length]).toEqual([10, 60])
  expect(idsOf([...first, ...second]).size).toBe(70)
  expect(await take(0)).toHaveLength(30)
  expect(await take(19)).toEqual([])

  await answer(first.slice(0, 3))
  await answer(first.slice(3, 5), { succeeded: false, error: 'no', statusCode: 500 })
  expect(await states()).toEqual(expect.arrayContaining([['succeeded', 3]]))
  expect(await queued(tenant)).toBe(97)
  // Given back, it is there at once, and what is under way is not.
  await giveBack(database, first.slice(5, 7), at(1))
  expect(idsOf(await take(1))).toEqual(idsOf(first.slice(5, 7)))
  // The rest of a killed process: neither what it had written down nor what waits for its second attempt.
  const rest = await take(20.5)
  expect(idsOf(rest).isDisjointFrom(idsOf(first.slice(0, 7)))).toBe(true)
  expect(rest).toHaveLength(93)
  expect(rest.every(({ batch }) => batch.attempt === 1)).toBe(true)
  await answer(rest)
  // By the process that was thought to be dead.
  await answer(first.slice(7))
  const retried = await take(61)
  expect(retried.map(({ batch, deliveryId }) => [batch.attempt, deliveryId]).sort()).toEqual(
    [
      ...first.slice(3, 5).map(({ deliveryId }) => [2, deliveryId]),
      ...[...idsOf(first.slice(5, 7))].map((id) => [1, id]),
    ].sort(),
  )
  await answer(retried)
  expect(await states()).toEqual([['succeeded', 100]])
  expect(await rows()).toEqual([])
  const attempts = await tenant.handle.db.selectFrom('webhook_attempts').select(['attempt', 'is_last']).execute()
  expect(attempts).toHaveLength(102)
  expect(attempts.filter(({ is_last }) => !is_last)).toEqual([
    { attempt: 1, is_last: false },
    { attempt: 1, is_last: false },
  ])
})

test('a delivery that is deleted while it is under way leaves no attempt behind, and the others of its row stay', async () => {
  const tenant = await createTestTenant(bench.service)
  const { take, answer, states } = await taker(tenant, 'half_erased', 5)
  const taken = await take(0)
  const [gone] = taken
  if (!gone) throw new Error('nothing was taken')
  await remove(tenant, [gone.deliveryId])
  expect(await queued(tenant)).toBe(4)
  await answer(taken)
  expect(await states()).toEqual([['succeeded', 4]])
  const logged = await tenant.handle.db.selectFrom('webhook_attempts').select('delivery_id').execute()
  expect(logged.map(({ delivery_id }) => delivery_id).sort()).toEqual([...idsOf(taken.slice(1))].sort())
  expect(await queued(tenant)).toBe(0)
})

test('attempts that are being written down while their deliveries are deleted go with them', async () => {
  const tenant = await createTestTenant(bench.service)
  const { take, answer, database } = await taker(tenant, 'raced', 320)
  // From all rows of the queue, so that two who lock several of them meet.
  const taken = (await take(0)).sort((a, b) => (a.deliveryId.slice(-4) < b.deliveryId.slice(-4) ? -1 : 1))
  expect(taken).toHaveLength(320)
  for (let start = 0; start < taken.length; start += 16) {
    const some = taken.slice(start, start + 16)
    const erase = (part: readonly Claimed[]) => remove(tenant, [...idsOf(part)])
    const [left, right] = [some.slice(0, 8), some.slice(8)]
    await Promise.all([answer(left), erase(left), answer(right), erase(right), giveBack(database, right, bench.now())])
  }
  expect(await tenant.handle.db.selectFrom('webhook_attempts').selectAll().execute()).toEqual([])
  expect(await queued(tenant)).toBe(0)
})

test('deliveries that were recorded one by one are taken together, and share rows from then on', async () => {
  const tenant = await createTestTenant(bench.service)
  const { at, take, answer, states, database } = await taker(tenant, 'one_by_one', 0)
  for (let n = 0; n < 150; n++) await queue(tenant, 'one_by_one', 1)
  const sizes = async () => {
    const rows = await tenant.handle.db.selectFrom('webhook_queue').select('delivery_ids').execute()
    return rows.map(({ delivery_ids }) => delivery_ids.length).sort((a, b) => b - a)
  }
  expect(await sizes()).toEqual(Array.from({ length: 150 }, () => 1))
  const taken = await take(60, 140)
  expect(taken).toHaveLength(140)
  expect(await sizes()).toEqual([64, 64, 12, ...Array.from({ length: 10 }, () => 1)])
  await answer(taken.slice(0, 100))
  await giveBack(database, taken.slice(100), at(60))
  const rest = await take(60)
  expect(idsOf(rest).isDisjointFrom(idsOf(taken.slice(0, 100)))).toBe(true)
  expect(rest).toHaveLength(50)
  await answer(rest)
  expect(await states()).toEqual([['succeeded', 100]])
  expect(await sizes()).toEqual([])
})

test('a delivery that is taken while it is being deleted leaves the queue too, and what it is answered is not kept', async () => {
  const tenant = await createTestTenant(bench.service)
  const { subscriptionId, at, answer, database } = await taker(tenant, 'moved', 3)
  const { stores } = bench.service
  const waitForLock = () =>
    until(async () => {
      const { rows } = await sql<{ waits: number }>`SELECT count(*) AS waits FROM pg_stat_activity
        WHERE datname = current_database() AND wait_event_type = 'Lock'`.execute(database)
      expect(rows).toEqual([{ waits: 1 }])
    })
  const [taken, erased] = await database.transaction().execute(async (tx) => {
    const free = new Map([[subscriptionId, 1_000]])
    const { deliveries } = await claimDeliveries({ ...stores, database: tx }, { ...room, free }, at(0), 20_000)
    const deletion = remove(tenant)
    await waitForLock()
    return [deliveries.filter(({ batch }) => batch.subscriptionId === subscriptionId), { deletion }] as const
  })
  await erased.deletion
  expect(taken).toHaveLength(3)
  expect(await queued(tenant)).toBe(0)
  await answer(taken)
  expect(await tenant.handle.db.selectFrom('webhook_attempts').selectAll().execute()).toEqual([])
  expect(await tenant.handle.db.selectFrom('webhook_queue').selectAll().execute()).toEqual([])
})

test('what the queue lists although it does not exist any more is dropped when it is taken', async () => {
  const tenant = await createTestTenant(bench.service)
  const { subscriptionId, at, take, database } = await taker(tenant, 'no_more', 2)
  await database
    .insertInto('webhook_queue')
    .values({
      tenant_id: tenant.id,
      subscription_id: subscriptionId,
      due_at: at(0),
      batch_id: newId(),
      attempt: 1,
      delivery_ids: [newId(), newId()],
    })
    .execute()
  expect(await take(0)).toHaveLength(2)
  expect(await queued(tenant)).toBe(2)
})

test('a row of the queue that somebody else has locked is passed over', async () => {
  const tenant = await createTestTenant(bench.service)
  const { take, database } = await taker(tenant, 'passed_over', 130)
  await database.transaction().execute(async (tx) => {
    const rows = tx.selectFrom('webhook_queue').selectAll().where('tenant_id', '=', tenant.id)
    const first = await rows.orderBy('due_at').orderBy('batch_id').limit(1).forUpdate().executeTakeFirstOrThrow()
    const taken = await take(0, 32)
    expect(taken).toHaveLength(32)
    expect(idsOf(taken).isDisjointFrom(new Set(first.delivery_ids))).toBe(true)
  })
})

test('the body of an event without a contact is there at once; a pending delivery that is deleted is not sent', async () => {
  const tenant = await createTestTenant(bench.service)
  const { stores } = bench.service
  const { subscriptionId } = await bench.subscribe(tenant, { event: 'erased', url: bench.receiver.url('/erased') })
  await queue(tenant, 'erased', 1)
  const [delivery] = await deliveriesOf(tenant.handle, subscriptionId)
  expect(JSON.parse(delivery?.payload ?? '')).toMatchObject({ event: 'erased', data: { contact: null } })
  await remove(tenant)
  const { deliveries } = await claimDeliveries(stores, room, bench.now(), 20_000)
  expect(deliveries.filter(({ batch }) => batch.subscriptionId === subscriptionId)).toEqual([])
  expect(await tenant.handle.db.selectFrom('webhook_queue').selectAll().execute()).toEqual([])
})

test('a worker that is told to stop finishes what it can and gives the rest back at once', async () => {
  const tenant = await createTestTenant(bench.service)
  const { subscriptionId } = await bench.subscribe(tenant, { event: 'given', url: bench.receiver.url('/given') })
  bench.receiver.answer = () => {}
  const worker = secondWorker()
  await queue(tenant, 'given', 1)
  worker.wake()
  await arrived(bench.receiver, '/given', 1)
  await worker.stop()
  const [delivery] = await deliveriesOf(tenant.handle, subscriptionId)
  expect(delivery).toMatchObject({ status: 'pending', attempt_count: 0, attempts: [] })
  expect(Date.parse(delivery?.next_attempt_at ?? '')).toBeLessThanOrEqual(bench.now().getTime())
  bench.receiver.answer = (response) => response.end()
  const next = secondWorker()
  await arrived(bench.receiver, '/given', 2)
  await next.stop()
  expect(await deliveriesOf(tenant.handle, subscriptionId)).toMatchObject([{ status: 'succeeded', attempt_count: 1 }])
})
