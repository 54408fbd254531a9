import type { ServerResponse } from 'node:http'
import { setTimeout as sleep } from 'node:timers/promises'
import { sql } from 'kysely'
import { afterAll, afterEach, beforeAll, expect, test } from 'vitest'
import { createTestTenant, type TestTenant } from '../../../test/service.ts'
import { arrived, deliveriesOf, startWebhookBench, until, type WebhookBench } from '../../../test/webhooks.ts'
import { people } from '../../companies/people.ts'
import { EMPTY_RECORD, type EventRecord } from '../../journal/event-record.ts'
import { newId } from '../../platform/ids.ts'
import { createMetrics } from '../../platform/metrics.ts'
import { changeTogether } from '../../platform/postgres/collisions.ts'
import { openTenant } from '../../platform/tenant.ts'
import { activeSubscriptions, deliveriesOf as deliveriesFor } from '../match.ts'
import { resendDelivery } from '../resend.ts'
import type { WebhookDelivery } from '../schema.ts'
import { addDeliveries } from './add.ts'
import { type Claimed, claimDeliveries } from './claim.ts'
import { deleteDeliveriesById } from './delete.ts'
import { finishAttempts, type Outcome, releaseDeliveries } from './finish.ts'
import { startDeliveryWorker } from './worker.ts'

let bench: WebhookBench
beforeAll(async () => {
  bench = await startWebhookBench()
})
afterEach(() => {
  bench.receiver.respond = (response) => response.end('ok')
  bench.receiver.received.length = 0
})
afterAll(() => bench.close())

/** Queues deliveries as if this many events had just been recorded. */
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
  await changeTogether(handle, (tx) => deleteDeliveriesById(tx, ids))
}

function secondWorker() {
  const { stores, postgres, projector, secrets, outbound, log } = bench.service
  return startDeliveryWorker({
    stores,
    people,
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
  bench.receiver.respond = (response) => setTimeout(() => response.end(), 5)
  const other = secondWorker()
  try {
    await queue(tenant, 'shared', 600)
    other.wake()
    const requests = await arrived(bench.receiver, '/shared', 600)
    await sleep(200)
    expect(new Set(requests.map(({ headers }) => headers['webhook-id'])).size).toBe(600)
    expect(bench.receiver.received).toHaveLength(600)
    // An outcome is recorded after the response.
    await until(async () => {
      const deliveries = await deliveriesOf(tenant.handle, subscriptionId)
      expect(deliveries.every(({ status, attempt_count }) => status === 'succeeded' && attempt_count === 1)).toBe(true)
    })
  } finally {
    await other.stop()
  }
})

/** The second is the worst case: receivers that were quick, and so get many concurrent requests, begin to hang together. */
test.each([
  ['that hangs', 'hung', 80],
  ['that was quick and begins to hang', 'quick', 160],
])('a receiver %s delays neither another subscription nor another tenant', async (_, name, stuck) => {
  const [hanging, fast] = [await createTestTenant(bench.service), await createTestTenant(bench.service)]
  for (let n = 0; n < 20; n++) {
    await bench.subscribe(hanging, { event: 'stuck', url: bench.receiver.url(`/stuck/${name}/${n}`) })
  }
  await bench.subscribe(hanging, { event: 'page_view', url: bench.receiver.url(`/beside/${name}`) })
  await bench.subscribe(fast, { event: 'page_view', url: bench.receiver.url(`/fast/${name}`) })
  const open = new Map<ServerResponse, string>()
  let isQuick = false
  let responses = 0
  let givenUp = 0
  let mostPerPath = 0
  bench.receiver.respond = (response, { path }) => {
    if (!path.startsWith('/stuck')) return response.end()
    open.set(response, path)
    mostPerPath = Math.max(mostPerPath, [...open.values()].filter((each) => each === path).length)
    response.once('close', () => {
      open.delete(response)
      if (response.writableFinished) responses++
      else givenUp++
    })
    // Like a distant receiver: it takes as long for many requests as for one, so it gets many.
    if (isQuick) setTimeout(() => response.end(), 200)
  }
  const hang = async () => {
    if (name === 'quick') {
      isQuick = true
      const expected = responses + 20 * 40
      await queue(hanging, 'stuck', 40)
      await until(() => expect(responses).toBeGreaterThanOrEqual(expected))
      isQuick = false
    }
    await queue(hanging, 'stuck', 20)
    await until(() => expect(open.size).toBeGreaterThanOrEqual(stuck), 20_000)
  }
  // A busy machine makes the receivers look slow, so that they get fewer requests: then they are quick once more.
  await until(
    () =>
      hang().catch((error: unknown) => {
        for (const response of open.keys()) response.end()
        throw error
      }),
    600_000,
  )
  const events = Array.from({ length: 5 }, () => ({ event: 'page_view' }))
  await Promise.all([hanging, fast].map((tenant) => tenant.track({ visitor_id: 'v', events })))
  await arrived(bench.receiver, `/beside/${name}`, events.length)
  await arrived(bench.receiver, `/fast/${name}`, events.length)
  // The deliveries arrived while all requests that hang were still in flight.
  expect(givenUp).toBe(0)
  expect(open.size).toBeGreaterThanOrEqual(stuck)
  // No receiver gets more concurrent requests than the maximum.
  expect(mostPerPath).toBeLessThanOrEqual(32)
  bench.receiver.respond = (response) => response.end()
  for (const response of open.keys()) response.end()
})

test("a small queue does not wait for another tenant's large one", async () => {
  const [large, small] = [await createTestTenant(bench.service), await createTestTenant(bench.service)]
  await bench.subscribe(large, { event: 'burst', url: bench.receiver.url('/large') })
  await bench.subscribe(small, { event: 'burst', url: bench.receiver.url('/small') })
  bench.receiver.respond = (response) => setTimeout(() => response.end(), 10)
  const { stores } = bench.service
  // In one transaction, so that the small queue is due as early as the large one.
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

const capacity = { slots: 1_000, perSubscription: 10, free: new Map<string, number>(), fullTenants: [] }

async function queued(tenant: TestTenant): Promise<number> {
  const rows = await tenant.handle.db.selectFrom('webhook_queue').select('delivery_ids').execute()
  return rows.flatMap(({ delivery_ids }) => delivery_ids).length
}

test('after a lease has ended, only the process that claimed the delivery again can record an attempt', async () => {
  const tenant = await createTestTenant(bench.service)
  const { stores, deliveryWorker } = bench.service
  const { subscriptionId } = await bench.subscribe(tenant, { event: 'leased', url: bench.receiver.url('/leased') })
  await deliveryWorker.stop()
  const contactId = await tenant.contact('ada@example.com', { firstname: 'Ada' })
  await queue(tenant, 'leased', 1, { owner_id: contactId, is_anonymous: false })
  const start = bench.now()
  const later = (seconds: number) => new Date(start.getTime() + seconds * 1_000)
  /** Other tests may have left deliveries in the queue. */
  const claim = async (at: Date) =>
    (await claimDeliveries({ stores, people }, capacity, at)).deliveries.filter(
      ({ batch }) => batch.subscriptionId === subscriptionId,
    )
  const [first] = await claim(start)
  expect(JSON.parse(first?.payload ?? '')).toMatchObject({ data: { contact: { firstname: 'Ada' } } })
  // The payload was created with the contact as it was then.
  await tenant.call('PUT', `/v1/contacts/${contactId}`, { properties: { firstname: 'Augusta' } })
  expect(await claim(later(19))).toEqual([])
  const [second] = await claim(later(21))
  if (!first || !second) throw new Error('not claimed')
  expect(second.payload).toBe(first.payload)
  const outcome = { ...OUTCOME, at: start, endedAt: start }
  await finishAttempts(stores.database, [{ delivery: first, outcome }])
  expect(await deliveriesOf(tenant.handle, subscriptionId)).toMatchObject([{ status: 'pending', attempt_count: 0 }])
  const listed = async (status: WebhookDelivery['status']) =>
    (await deliveriesOf(tenant.handle, subscriptionId, status)).length
  expect([await listed('pending'), await listed('succeeded'), await listed('failed')]).toEqual([1, 0, 0])
  await finishAttempts(stores.database, [{ delivery: second, outcome }])
  expect(await deliveriesOf(tenant.handle, subscriptionId)).toMatchObject([
    { status: 'succeeded', attempt_count: 1, attempts: [{ attempt: 1 }] },
  ])
  expect([await listed('pending'), await listed('succeeded'), await listed('failed')]).toEqual([0, 1, 0])
  expect(await queued(tenant)).toBe(0)
  await resendDelivery(tenant.handle, second.deliveryId, later(22))
  expect([await listed('pending'), await queued(tenant)]).toEqual([1, 1])
})

const OUTCOME = { statusCode: 200, body: '', error: null, address: null, succeeded: true }

/** Stops the worker and claims the due deliveries of a subscription as a worker does. */
async function claimer(tenant: TestTenant, event: string, count: number) {
  const { stores, deliveryWorker } = bench.service
  const { subscriptionId } = await bench.subscribe(tenant, { event, url: bench.receiver.url(`/${event}`) })
  await deliveryWorker.stop()
  await queue(tenant, event, count)
  const start = bench.now()
  const at = (seconds: number) => new Date(start.getTime() + seconds * 1_000)
  const claim = async (seconds: number, most = 1_000) => {
    const free = new Map([[subscriptionId, most]])
    const { deliveries } = await claimDeliveries({ stores, people }, { ...capacity, free }, at(seconds))
    return deliveries.filter(({ batch }) => batch.subscriptionId === subscriptionId)
  }
  const finish = (deliveries: readonly Claimed[], more: Partial<Outcome> = {}) => {
    const outcome = { ...OUTCOME, at: at(0), endedAt: at(0), ...more }
    return finishAttempts(
      stores.database,
      deliveries.map((delivery) => ({ delivery, outcome })),
    )
  }
  const states = async () => {
    const all = await deliveriesOf(tenant.handle, subscriptionId)
    return Object.entries(Object.groupBy(all, ({ status }) => status)).map(([status, some]) => [status, some?.length])
  }
  return { subscriptionId, at, claim, finish, states, database: stores.database }
}

const idsOf = (deliveries: readonly Claimed[]) => new Set(deliveries.map(({ deliveryId }) => deliveryId))

test('many deliveries share a queue row: some are claimed, some of these finished, and the rest is claimed again', async () => {
  const tenant = await createTestTenant(bench.service)
  const { at, claim, finish, states, database } = await claimer(tenant, 'shared_row', 100)
  const rows = () => tenant.handle.db.selectFrom('webhook_queue').selectAll().execute()
  expect((await rows()).map(({ delivery_ids }) => delivery_ids.length).sort()).toEqual([36, 64])
  // As many as there is capacity for, from however many rows, and each once.
  const first = await claim(0, 10)
  const second = await claim(0, 60)
  expect([first.length, second.length]).toEqual([10, 60])
  expect(idsOf([...first, ...second]).size).toBe(70)
  expect(await claim(0)).toHaveLength(30)
  expect(await claim(19)).toEqual([])

  await finish(first.slice(0, 3))
  await finish(first.slice(3, 5), { succeeded: false, error: 'no', statusCode: 500 })
  expect(await states()).toEqual(expect.arrayContaining([['succeeded', 3]]))
  expect(await queued(tenant)).toBe(97)
  // Released deliveries are due at once, those in flight are not.
  await releaseDeliveries(database, first.slice(5, 7), at(1))
  expect(idsOf(await claim(1))).toEqual(idsOf(first.slice(5, 7)))
  // The rest of a killed process: without those that it finished and those that wait for their second attempt.
  const rest = await claim(20.5)
  expect(idsOf(rest).isDisjointFrom(idsOf(first.slice(0, 7)))).toBe(true)
  expect(rest).toHaveLength(93)
  expect(rest.every(({ batch }) => batch.attempt === 1)).toBe(true)
  await finish(rest)
  // Recorded late, by the process that seemed to be dead.
  await finish(first.slice(7))
  const retried = await claim(61)
  expect(retried.map(({ batch, deliveryId }) => [batch.attempt, deliveryId]).sort()).toEqual(
    [
      ...first.slice(3, 5).map(({ deliveryId }) => [2, deliveryId]),
      ...[...idsOf(first.slice(5, 7))].map((id) => [1, id]),
    ].sort(),
  )
  await finish(retried)
  expect(await states()).toEqual([['succeeded', 100]])
  expect(await rows()).toEqual([])
  const attempts = await tenant.handle.db.selectFrom('webhook_attempts').select(['attempt', 'is_last']).execute()
  expect(attempts).toHaveLength(102)
  expect(attempts.filter(({ is_last }) => !is_last)).toEqual([
    { attempt: 1, is_last: false },
    { attempt: 1, is_last: false },
  ])
})

test('a delivery that is deleted while it is in flight leaves no attempt, and the others of its row stay', async () => {
  const tenant = await createTestTenant(bench.service)
  const { claim, finish, states } = await claimer(tenant, 'half_erased', 5)
  const claimed = await claim(0)
  const [gone] = claimed
  if (!gone) throw new Error('nothing was claimed')
  await remove(tenant, [gone.deliveryId])
  expect(await queued(tenant)).toBe(4)
  await finish(claimed)
  expect(await states()).toEqual([['succeeded', 4]])
  const logged = await tenant.handle.db.selectFrom('webhook_attempts').select('delivery_id').execute()
  expect(logged.map(({ delivery_id }) => delivery_id).sort()).toEqual([...idsOf(claimed.slice(1))].sort())
  expect(await queued(tenant)).toBe(0)
})

test('attempts that are recorded while their deliveries are deleted are deleted too', async () => {
  const tenant = await createTestTenant(bench.service)
  const { claim, finish, database } = await claimer(tenant, 'raced', 320)
  // In an order that mixes the queue rows, so that concurrent transactions lock several of the same ones.
  const claimed = (await claim(0)).sort((a, b) => (a.deliveryId.slice(-4) < b.deliveryId.slice(-4) ? -1 : 1))
  expect(claimed).toHaveLength(320)
  for (let start = 0; start < claimed.length; start += 16) {
    const some = claimed.slice(start, start + 16)
    const erase = (part: readonly Claimed[]) => remove(tenant, [...idsOf(part)])
    const [left, right] = [some.slice(0, 8), some.slice(8)]
    await Promise.all([
      finish(left),
      erase(left),
      finish(right),
      erase(right),
      releaseDeliveries(database, right, bench.now()),
    ])
  }
  expect(await tenant.handle.db.selectFrom('webhook_attempts').selectAll().execute()).toEqual([])
  expect(await queued(tenant)).toBe(0)
})

test('deliveries that were recorded one by one are claimed together and share rows from then on', async () => {
  const tenant = await createTestTenant(bench.service)
  const { at, claim, finish, states, database } = await claimer(tenant, 'one_by_one', 0)
  for (let n = 0; n < 150; n++) await queue(tenant, 'one_by_one', 1)
  const sizes = async () => {
    const rows = await tenant.handle.db.selectFrom('webhook_queue').select('delivery_ids').execute()
    return rows.map(({ delivery_ids }) => delivery_ids.length).sort((a, b) => b - a)
  }
  expect(await sizes()).toEqual(Array.from({ length: 150 }, () => 1))
  const claimed = await claim(60, 140)
  expect(claimed).toHaveLength(140)
  expect(await sizes()).toEqual([64, 64, 12, ...Array.from({ length: 10 }, () => 1)])
  await finish(claimed.slice(0, 100))
  await releaseDeliveries(database, claimed.slice(100), at(60))
  const rest = await claim(60)
  expect(idsOf(rest).isDisjointFrom(idsOf(claimed.slice(0, 100)))).toBe(true)
  expect(rest).toHaveLength(50)
  await finish(rest)
  expect(await states()).toEqual([['succeeded', 100]])
  expect(await sizes()).toEqual([])
})

test('a delivery that is claimed while it is deleted leaves the queue too, and its attempt is not recorded', async () => {
  const tenant = await createTestTenant(bench.service)
  const { subscriptionId, at, finish, database } = await claimer(tenant, 'moved', 3)
  const { stores } = bench.service
  const waitForLock = () =>
    until(async () => {
      const { rows } = await sql<{ waits: number }>`SELECT count(*) AS waits FROM pg_stat_activity
        WHERE datname = current_database() AND wait_event_type = 'Lock'`.execute(database)
      expect(rows).toEqual([{ waits: 1 }])
    })
  const [claimed, erased] = await database.transaction().execute(async (tx) => {
    const free = new Map([[subscriptionId, 1_000]])
    const { deliveries } = await claimDeliveries(
      { stores: { ...stores, database: tx }, people },
      { ...capacity, free },
      at(0),
    )
    const deletion = remove(tenant)
    await waitForLock()
    return [deliveries.filter(({ batch }) => batch.subscriptionId === subscriptionId), { deletion }] as const
  })
  await erased.deletion
  expect(claimed).toHaveLength(3)
  expect(await queued(tenant)).toBe(0)
  await finish(claimed)
  expect(await tenant.handle.db.selectFrom('webhook_attempts').selectAll().execute()).toEqual([])
  expect(await tenant.handle.db.selectFrom('webhook_queue').selectAll().execute()).toEqual([])
})

test('deliveries in the queue that no longer exist are dropped when they are claimed', async () => {
  const tenant = await createTestTenant(bench.service)
  const { subscriptionId, at, claim, database } = await claimer(tenant, 'no_more', 2)
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
  expect(await claim(0)).toHaveLength(2)
  expect(await queued(tenant)).toBe(2)
})

test('a queue row that another transaction has locked is skipped', async () => {
  const tenant = await createTestTenant(bench.service)
  const { claim, database } = await claimer(tenant, 'passed_over', 130)
  await database.transaction().execute(async (tx) => {
    const rows = tx.selectFrom('webhook_queue').selectAll().where('tenant_id', '=', tenant.id)
    const first = await rows.orderBy('due_at').orderBy('batch_id').limit(1).forUpdate().executeTakeFirstOrThrow()
    const claimed = await claim(0, 32)
    expect(claimed).toHaveLength(32)
    expect(idsOf(claimed).isDisjointFrom(new Set(first.delivery_ids))).toBe(true)
  })
})

test('an event without a contact gets its body at once; a pending delivery that is deleted is not sent', async () => {
  const tenant = await createTestTenant(bench.service)
  const { stores } = bench.service
  const { subscriptionId } = await bench.subscribe(tenant, { event: 'erased', url: bench.receiver.url('/erased') })
  await queue(tenant, 'erased', 1)
  const [delivery] = await deliveriesOf(tenant.handle, subscriptionId)
  expect(JSON.parse(delivery?.payload ?? '')).toMatchObject({ event: 'erased', data: { contact: null } })
  await remove(tenant)
  const { deliveries } = await claimDeliveries({ stores, people }, capacity, bench.now())
  expect(deliveries.filter(({ batch }) => batch.subscriptionId === subscriptionId)).toEqual([])
  expect(await tenant.handle.db.selectFrom('webhook_queue').selectAll().execute()).toEqual([])
})

test('a worker that is stopped finishes what it can and releases the rest at once', async () => {
  const tenant = await createTestTenant(bench.service)
  const { subscriptionId } = await bench.subscribe(tenant, { event: 'given', url: bench.receiver.url('/given') })
  bench.receiver.respond = () => {}
  const worker = secondWorker()
  await queue(tenant, 'given', 1)
  worker.wake()
  await arrived(bench.receiver, '/given', 1)
  await worker.stop()
  const [delivery] = await deliveriesOf(tenant.handle, subscriptionId)
  expect(delivery).toMatchObject({ status: 'pending', attempt_count: 0, attempts: [] })
  expect(Date.parse(delivery?.next_attempt_at ?? '')).toBeLessThanOrEqual(bench.now().getTime())
  bench.receiver.respond = (response) => response.end()
  const next = secondWorker()
  await arrived(bench.receiver, '/given', 2)
  await next.stop()
  expect(await deliveriesOf(tenant.handle, subscriptionId)).toMatchObject([{ status: 'succeeded', attempt_count: 1 }])
})
