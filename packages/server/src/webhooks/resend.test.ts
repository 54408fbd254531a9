import { afterAll, afterEach, beforeAll, expect, test } from 'vitest'
import { createTestTenant, type TestTenant } from '../../test/service.ts'
import { arrived, attempted, deliveriesOf, startWebhookBench, until, type WebhookBench } from '../../test/webhooks.ts'
import { people } from '../companies/people.ts'
import { claimDeliveries } from './queue/claim.ts'
import { resendDelivery } from './resend.ts'

const MINUTE = 60_000

let bench: WebhookBench
let tenant: TestTenant
let paths = 0
beforeAll(async () => {
  bench = await startWebhookBench()
})
afterEach(() => {
  bench.receiver.respond = (response) => response.end('ok')
})
afterAll(() => bench.close())

/** Creates a tenant whose only delivery has failed once and waits a minute for its second attempt. */
async function waiting() {
  tenant = await createTestTenant(bench.service)
  const path = `/resend/${++paths}`
  const { subscriptionId } = await bench.subscribe(tenant, { url: bench.receiver.url(path) })
  bench.receiver.respond = (response) => response.writeHead(500).end()
  await tenant.track({ visitor_id: 'v', events: [{ event: 'page_view', url: 'https://shop.example/' }] })
  const { delivery_id: deliveryId } = await attempted(tenant, subscriptionId, 1)
  const { handle } = tenant
  const resend = () => handle.transaction((tx) => resendDelivery(tx, deliveryId, bench.now()))
  return { subscriptionId, deliveryId, path, resend }
}

const requestsTo = (path: string) => bench.receiver.received.filter((each) => each.path === path).length

test('the next attempt of a delivery that is being retried is brought forward', async () => {
  const { subscriptionId, path, resend } = await waiting()
  await resend()
  const failed = await attempted(tenant, subscriptionId, 2)
  expect(failed).toMatchObject({ status: 'pending', attempt_count: 2 })
  // The third attempt still comes five minutes after the second.
  const [, second] = failed.attempts
  const wait = Date.parse(failed.next_attempt_at ?? '') - Date.parse(second?.at ?? '') - (second?.latency_ms ?? 0)
  expect(wait).toBe(5 * MINUTE)
  bench.receiver.respond = (response) => response.end('ok')
  await resend()
  expect(await attempted(tenant, subscriptionId, 3)).toMatchObject({ status: 'succeeded', attempt_count: 3 })
  const bodies = await arrived(bench.receiver, path, 3)
  expect(new Set(bodies.map(({ body }) => String(body))).size).toBe(1)
})

test('however many concurrent calls bring it forward, it is attempted once more', async () => {
  const { subscriptionId, path, resend } = await waiting()
  // The receiver responds only after all calls, because a finished delivery would be sent again.
  const asked = Promise.withResolvers<void>()
  bench.receiver.respond = (response) => void asked.promise.then(() => response.end('ok'))
  await Promise.all(Array.from({ length: 10 }, resend))
  asked.resolve()
  expect(await attempted(tenant, subscriptionId, 2)).toMatchObject({ status: 'succeeded', attempt_count: 2 })
  // The minute is over and nothing else is due, so the next event's delivery is the third request.
  bench.pass(2 * MINUTE)
  await tenant.track({ visitor_id: 'v', events: [{ event: 'page_view', url: 'https://shop.example/next' }] })
  await until(async () => {
    const deliveries = await deliveriesOf(tenant.handle, subscriptionId)
    expect(deliveries.map(({ attempt_count }) => attempt_count)).toEqual([1, 2])
  })
  expect(requestsTo(path)).toBe(3)
})

test('a delivery that is being sent is not sent a second time', async () => {
  const { subscriptionId, path, resend } = await waiting()
  let respond = () => {}
  bench.receiver.respond = (response) => {
    respond = () => response.writeHead(500).end()
  }
  await resend()
  await arrived(bench.receiver, path, 2)
  await Promise.all(Array.from({ length: 5 }, resend))
  expect(await deliveriesOf(tenant.handle, subscriptionId)).toMatchObject([{ status: 'pending', attempt_count: 1 }])
  bench.service.deliveryWorker.wake()
  respond()
  expect(await attempted(tenant, subscriptionId, 2)).toMatchObject({ status: 'pending' })
  expect(requestsTo(path)).toBe(2)
})

test('a paused subscription sends nothing again', async () => {
  const { subscriptionId, resend } = await waiting()
  await tenant.handle.db
    .updateTable('webhook_subscriptions')
    .set({ paused_at: bench.now() })
    .where('subscription_id', '=', subscriptionId)
    .execute()
  await expect(resend()).rejects.toMatchObject({ code: 'webhook_paused' })
})

test('of many workers that claim it while others bring it forward, one gets it', async () => {
  const { subscriptionId, deliveryId, resend } = await waiting()
  const { stores, deliveryWorker } = bench.service
  await deliveryWorker.stop()
  const queue = () => tenant.handle.db.selectFrom('webhook_queue').selectAll().execute()
  const claim = async (at: Date) => {
    const capacity = { slots: 1_000, perSubscription: 64, free: new Map<string, number>(), fullTenants: [] }
    const { deliveries } = await claimDeliveries({ stores, people }, capacity, at)
    return deliveries.filter(({ batch }) => batch.subscriptionId === subscriptionId)
  }
  for (let round = 0; round < 20; round++) {
    const now = bench.now()
    await tenant.handle.db
      .updateTable('webhook_queue')
      .set({ due_at: new Date(now.getTime() + 3_000), is_claimed: false })
      .execute()
    // For half of the workers it is due anyway, for the others only once it has been brought forward.
    const claims = Array.from({ length: 6 }, (_, index) => claim(new Date(now.getTime() + (index % 2) * 6_000)))
    const [claimed] = await Promise.all([Promise.all(claims), ...Array.from({ length: 4 }, resend)])
    const late = await claim(new Date(now.getTime() + 6_000))
    const [first, ...more] = [...claimed, late].flat()
    expect([first?.deliveryId, first?.batch.attempt, more]).toEqual([deliveryId, 2, []])
    expect(await queue()).toMatchObject([{ attempt: 2, delivery_ids: [deliveryId], is_claimed: true }])
  }
})
