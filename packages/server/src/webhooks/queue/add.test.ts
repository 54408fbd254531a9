import { setTimeout as sleep } from 'node:timers/promises'
import pg from 'pg'
import { afterAll, beforeAll, expect, test, vi } from 'vitest'
import { createTestTenant, type TestTenant } from '../../../test/service.ts'
import {
  addDelivery,
  arrived,
  deliveriesOf,
  startWebhookBench,
  until,
  type WebhookBench,
} from '../../../test/webhooks.ts'
import { people } from '../../companies/people.ts'
import { newId } from '../../platform/ids.ts'
import { createMetrics } from '../../platform/metrics.ts'
import { listenForChanges } from '../../platform/postgres/invalidation.ts'
import { resendDelivery, sendTest } from '../resend.ts'
import { type Resent, resendRange } from '../resend-range.ts'
import { pauseSubscription, resumeSubscription } from '../subscriptions.ts'
import { startWebhookWorkers } from '../workers.ts'
import { addDeliveries, type NewDelivery, WORK_CHANNEL } from './add.ts'

/** The longest delay of a timer. */
const NEVER_MS = 2 ** 31 - 1

let bench: WebhookBench
let tenant: TestTenant
let subscriptionId: string
/** Listens as workers do. Nothing else uses this database. */
let listener: pg.Client
let notified = 0

beforeAll(async () => {
  bench = await startWebhookBench()
  await bench.service.deliveryWorker.stop()
  tenant = await createTestTenant(bench.service)
  subscriptionId = (await bench.subscribe(tenant)).subscriptionId
  await bench.subscribe(tenant, { event: 'contact_created' })
  listener = new pg.Client(bench.service.postgres.address)
  listener.on('notification', () => notified++)
  await listener.connect()
  await listener.query(`LISTEN ${WORK_CHANNEL}`)
})
afterAll(async () => {
  await listener.end()
  await bench.close()
})

const failed = () => addDelivery(tenant.handle, { subscriptionId, createdAt: new Date() }, 'failed')
const resendAll = (only: Resent) =>
  tenant.handle.transaction((tx) => {
    const range = { from: new Date(0), to: new Date(), only, after: null }
    return resendRange(tx, subscriptionId, range, new Date())
  })
const view = () => tenant.track({ visitor_id: 'v', events: [{ event: 'page_view' }] })

test.each<[string, () => Promise<() => Promise<unknown>>]>([
  ['an event of a page', async () => view],
  ['a system event', async () => () => tenant.contact(`${newId()}@example.com`)],
  ['a test delivery', async () => () => sendTest(tenant.handle, subscriptionId, new Date())],
  [
    'a delivery that is sent again',
    async () => {
      const deliveryId = await failed()
      return () => tenant.handle.transaction((tx) => resendDelivery(tx, deliveryId, new Date()))
    },
  ],
  [
    'failed deliveries that are sent again',
    async () => {
      await failed()
      return () => resendAll('failed')
    },
  ],
  [
    'waiting deliveries that are brought forward',
    async () => {
      await addDelivery(tenant.handle, { subscriptionId, createdAt: new Date() }, 'pending')
      return () => resendAll('waiting')
    },
  ],
  [
    'a pending delivery that is brought forward',
    async () => {
      const deliveryId = await addDelivery(tenant.handle, { subscriptionId, createdAt: new Date() }, 'pending')
      return () => tenant.handle.transaction((tx) => resendDelivery(tx, deliveryId, new Date()))
    },
  ],
  [
    'a subscription that is resumed',
    async () => {
      await pauseSubscription(tenant.handle, subscriptionId, new Date())
      return () => resumeSubscription(tenant.handle, subscriptionId, new Date())
    },
  ],
])('workers are notified of %s', async (_, prepare) => {
  const act = await prepare()
  notified = 0
  await act()
  await until(() => expect(notified).toBe(1))
})

function delivery(): NewDelivery {
  const ids = { tenantId: tenant.id, deliveryId: newId(), subscriptionId, eventId: newId() }
  return { ...ids, event: 'page_view', record: null, payload: '{}', isTest: false, createdAt: new Date() }
}

test('workers are notified once of many deliveries, and of none that were rolled back', async () => {
  notified = 0
  const many = Array.from({ length: 200 }, delivery)
  const rolledBack = tenant.handle.transaction(async (tx) => {
    await addDeliveries(tx, many)
    throw new Error('rolled back')
  })
  await expect(rolledBack).rejects.toThrow('rolled back')
  expect(await addDeliveries(tenant.handle, many)).toBe(200)
  await listener.query('SELECT')
  expect(notified).toBe(1)
})

test('nothing is delivered to a subscription that was paused after it was read', async () => {
  const paused = (await bench.subscribe(tenant, { event: 'rare' })).subscriptionId
  await pauseSubscription(tenant.handle, paused, new Date())
  expect(await addDeliveries(tenant.handle, [{ ...delivery(), subscriptionId: paused }])).toBe(0)
  expect(await deliveriesOf(tenant.handle, paused)).toEqual([])
})

/** Workers that never poll by themselves: starting them sets one timer at once, of the polls. */
async function startWithoutPolls() {
  const { stores, postgres, projector, secrets, outbound, log, config } = bench.service
  const invalidation = await listenForChanges(postgres.address, log)
  const metrics = createMetrics(postgres.pool, stores.reads, projector.counts)
  const { setTimeout } = globalThis
  const postponed = (work: () => void) => setTimeout(work, NEVER_MS)
  const timers = vi.spyOn(globalThis, 'setTimeout').mockImplementation(postponed as typeof setTimeout)
  const common = { stores, people, outbound, secrets, clock: bench.now, log, metrics, config, invalidation }
  const starting = startWebhookWorkers(common)
  expect(timers).toHaveBeenCalledTimes(1)
  timers.mockRestore()
  const workers = await starting
  return async () => {
    await workers.stop()
    await invalidation.close()
  }
}

test('workers that are notified send new deliveries, also if no poll finds them', async () => {
  await bench.subscribe(tenant, { event: 'noticed', url: bench.receiver.url('/noticed') })
  const stop = await startWithoutPolls()
  try {
    for (let n = 1; n <= 3; n++) {
      await tenant.track({ visitor_id: 'v', events: [{ event: 'noticed' }] })
      await arrived(bench.receiver, '/noticed', n)
      // The worker polls once more after it has sent something.
      await sleep(200)
    }
  } finally {
    await stop()
  }
})
