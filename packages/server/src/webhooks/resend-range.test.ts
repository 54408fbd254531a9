import { sql } from 'kysely'
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest'
import { createTestTenant, type TestTenant } from '../../test/service.ts'
import { addDelivery, arrived, deliveriesOf, startWebhookBench, until, type WebhookBench } from '../../test/webhooks.ts'
import { people } from '../companies/people.ts'
import { newId } from '../platform/ids.ts'
import { claimDeliveries } from './queue/claim.ts'
import { RESENT_AT_ONCE } from './resend-range.ts'
import type { WebhookDelivery } from './schema.ts'
import { pauseSubscription } from './subscriptions.ts'

const DAY = new Date('2026-01-15')
const JANUARY = { from: '2026-01-01', to: '2026-01-31' }

let bench: WebhookBench
let tenant: TestTenant
let subscriptionId: string
let path: string
let paths = 0
beforeAll(async () => {
  bench = await startWebhookBench()
})
beforeEach(async () => {
  tenant = await createTestTenant(bench.service)
  path = `/range/${++paths}`
  const subscribed = await bench.subscribe(tenant, { url: bench.receiver.url(path) })
  subscriptionId = subscribed.subscriptionId
})
afterAll(() => bench.close())

/** Adds a delivery of an event that was received on a day. */
const add = (status: WebhookDelivery['status'], attempts: number, createdAt = DAY) =>
  addDelivery(tenant.handle, { subscriptionId, createdAt }, status, { attempts })
const resend = (sent: object, key?: string) =>
  tenant.call('POST', `/v1/webhooks/${subscriptionId}/deliveries/resend`, sent, key)
const requestsTo = (at: string) => bench.receiver.received.filter((each) => each.path === at).length
const queue = () => tenant.handle.db.selectFrom('webhook_queue').selectAll().execute()

/** The deliveries of each state, with the numbers of their attempts. */
async function oneOfEachState() {
  return { failed: await add('failed', 6), waiting: await add('pending', 2), succeeded: await add('succeeded', 1) }
}

async function attemptsOf(deliveryId: string): Promise<number | undefined> {
  const deliveries = await deliveriesOf(tenant.handle, subscriptionId)
  return deliveries.find(({ delivery_id }) => delivery_id === deliveryId)?.attempts.length
}

describe('a range of deliveries is sent again', () => {
  test.each([
    [undefined, ['failed']],
    ['failed', ['failed']],
    ['waiting', ['waiting']],
    ['all', ['failed', 'waiting', 'succeeded']],
  ] as const)('with only: %s, that is %s', async (only, expected) => {
    const ids = await oneOfEachState()
    const before = { failed: 6, waiting: 2, succeeded: 1 }
    const { status, body } = await resend({ ...JANUARY, ...(only ? { only } : {}) })
    expect([status, body]).toEqual([
      200,
      { status: 'success', subscription_id: subscriptionId, resent: expected.length, next: null },
    ])
    await arrived(bench.receiver, path, expected.length)
    for (const name of ['failed', 'waiting', 'succeeded'] as const) {
      const isResent = (expected as readonly string[]).includes(name)
      await until(async () =>
        expect([name, await attemptsOf(ids[name])]).toEqual([name, before[name] + Number(isResent)]),
      )
    }
    expect(requestsTo(path)).toBe(expected.length)
  })

  test('only within its ends, which belong to it', async () => {
    for (const day of ['2026-01-31T23:59:59.999Z', '2026-02-01T00:00:00Z', '2025-12-31T23:59:59.999Z', '2026-01-01']) {
      await add('pending', 1, new Date(day))
    }
    expect((await resend({ ...JANUARY, only: 'waiting' })).body.resent).toBe(2)
    await arrived(bench.receiver, path, 2)
  })

  test.each([
    ['which was sent', { from: JANUARY.to, to: JANUARY.from }],
    ['which is now', { from: '2999-01-01' }],
  ])('and a start after its end, %s, is refused with the name of the field', async (_, range) => {
    await oneOfEachState()
    const { status, body } = await resend({ ...range, only: 'all' })
    expect([status, body.error?.code, body.error?.details?.[0]?.path]).toEqual([400, 'validation_error', 'from'])
    expect((await resend({ from: DAY, to: DAY, only: 'all' })).body.resent).toBe(3)
  })

  test('and only of its subscription and its tenant', async () => {
    await oneOfEachState()
    const other = await bench.subscribe(tenant, { url: bench.receiver.url('/other') })
    const elsewhere = await tenant.call('POST', `/v1/webhooks/${other.subscriptionId}/deliveries/resend`, {
      ...JANUARY,
      only: 'all',
    })
    expect(elsewhere.body.resent).toBe(0)
    const stranger = await createTestTenant(bench.service)
    const url = `/v1/webhooks/${subscriptionId}/deliveries/resend`
    expect((await stranger.call('POST', url, { ...JANUARY, only: 'all' })).status).toBe(404)
    expect(requestsTo(path)).toBe(0)
  })
})

test('a delivery that waits keeps the number of its next attempt, so it is retried as often as before', async () => {
  const waiting = await add('pending', 2)
  bench.receiver.respond = (response) => response.writeHead(500).end()
  await resend({ ...JANUARY, only: 'waiting' })
  await until(async () => expect(await attemptsOf(waiting)).toBe(3))
  bench.receiver.respond = (response) => response.end('ok')
  const [delivery] = await deliveriesOf(tenant.handle, subscriptionId)
  expect(delivery).toMatchObject({ status: 'pending', attempt_count: 3 })
  // The next one comes 30 minutes after the third.
  const third = delivery?.attempts[2]
  const wait = Date.parse(delivery?.next_attempt_at ?? '') - Date.parse(third?.at ?? '') - (third?.latency_ms ?? 0)
  expect(wait).toBe(30 * 60_000)
})

test('deliveries that share a queue row are divided: the others keep their time', async () => {
  const [early, late] = [await add('pending', 1), await add('pending', 1, new Date('2026-02-15'))]
  const [row] = await queue()
  await tenant.handle.db.deleteFrom('webhook_queue').execute()
  const due_at = new Date(bench.now().getTime() + 3_600_000)
  await tenant.handle.db
    .insertInto('webhook_queue')
    .values({
      subscription_id: subscriptionId,
      due_at,
      batch_id: newId(),
      attempt: row?.attempt ?? 2,
      delivery_ids: [early, late],
    })
    .execute()
  expect((await resend({ ...JANUARY, only: 'waiting' })).body.resent).toBe(1)
  await until(async () => expect(await attemptsOf(early)).toBe(2))
  expect(await queue()).toMatchObject([{ due_at, delivery_ids: [late] }])
})

test('however many concurrent calls there are, nothing is attempted twice', async () => {
  const count = 40
  for (let index = 0; index < count / 2; index++) await Promise.all([add('pending', 2), add('failed', 6)])
  const asked = Promise.withResolvers<void>()
  bench.receiver.respond = (response) => void asked.promise.then(() => response.end('ok'))
  const responses = await Promise.all(
    ['all', 'waiting', 'failed', 'all', 'waiting', 'failed'].map((only) => resend({ ...JANUARY, only })),
  )
  expect(responses.map(({ status }) => status)).toEqual(responses.map(() => 200))
  expect(responses.reduce((sum, { body }) => sum + body.resent, 0)).toBe(count)
  asked.resolve()
  await until(async () => expect(await queue()).toEqual([]))
  bench.receiver.respond = (response) => response.end('ok')
  const deliveries = await deliveriesOf(tenant.handle, subscriptionId)
  expect(deliveries.map(({ attempt_count }) => attempt_count).sort()).toEqual([
    ...Array.from({ length: count / 2 }, () => 3),
    ...Array.from({ length: count / 2 }, () => 7),
  ])
  expect(requestsTo(path)).toBe(count)
})

test('a paused subscription sends nothing again, whatever is asked for', async () => {
  await oneOfEachState()
  await pauseSubscription(tenant.handle, subscriptionId, bench.now())
  for (const only of ['failed', 'waiting', 'all']) {
    const { status, body } = await resend({ ...JANUARY, only })
    expect([status, body.error.code]).toEqual([409, 'webhook_paused'])
  }
})

test('an unknown choice is refused, and the range is required', async () => {
  for (const [sent, field] of [
    [{ ...JANUARY, only: 'succeeded' }, 'only'],
    [{ ...JANUARY, only: ['all'] }, 'only'],
    [{ only: 'all' }, 'from'],
  ] as const) {
    const { status, body } = await resend(sent)
    expect([status, body.error.details[0].path]).toEqual([400, field])
  }
})

describe('while no worker sends', () => {
  beforeAll(() => bench.service.deliveryWorker.stop())

  test('what a worker is sending, and what is due anyway, stays as it is', async () => {
    const { stores } = bench.service
    const [claimed, due] = [await add('pending', 1), await add('pending', 1)]
    const at = (deliveryId: string, due_at: Date) =>
      tenant.handle.db
        .updateTable('webhook_queue')
        .set({ due_at })
        .where(sql<boolean>`${deliveryId}::uuid = ANY (delivery_ids)`)
        .execute()
    const now = bench.now()
    await at(claimed, now)
    const capacity = { slots: 1_000, perSubscription: 64, free: new Map<string, number>(), fullTenants: [] }
    const { deliveries } = await claimDeliveries({ stores, people }, capacity, bench.now())
    expect(deliveries.map(({ deliveryId }) => deliveryId)).toContain(claimed)
    await at(due, now)
    const before = await queue()
    for (const only of ['waiting', 'all']) expect((await resend({ ...JANUARY, only })).body.resent).toBe(0)
    expect(await queue()).toEqual(before)
  })

  test('of many workers that claim while a range is brought forward, one gets each delivery', async () => {
    const { stores } = bench.service
    const ids = await Promise.all(Array.from({ length: 30 }, () => add('pending', 1)))
    const capacity = { slots: 1_000, perSubscription: 64, free: new Map<string, number>(), fullTenants: [] }
    const claim = async () => {
      const { deliveries } = await claimDeliveries(
        { stores, people },
        capacity,
        new Date(bench.now().getTime() + 6_000),
      )
      return deliveries.filter(({ batch }) => batch.subscriptionId === subscriptionId)
    }
    for (let round = 0; round < 6; round++) {
      const due_at = new Date(bench.now().getTime() + 3_000 + round)
      await tenant.handle.db.updateTable('webhook_queue').set({ due_at, is_claimed: false }).execute()
      const claims = Array.from({ length: 4 }, claim)
      const resending = Array.from({ length: 3 }, () => resend({ ...JANUARY, only: 'waiting' }))
      const [first] = await Promise.all([Promise.all(claims), Promise.all(resending)])
      const claimed = [...first.flat(), ...(await claim())].map(({ deliveryId }) => deliveryId)
      expect(claimed.toSorted()).toEqual(ids.toSorted())
      expect((await queue()).flatMap(({ delivery_ids }) => delivery_ids).toSorted()).toEqual(ids.toSorted())
    }
  })

  describe('a large range', () => {
    test.each([
      [
        'all',
        [
          [RESENT_AT_ONCE, false],
          [500, true],
        ],
      ],
      [
        'waiting',
        [
          [RESENT_AT_ONCE, false],
          [500, true],
        ],
      ],
    ] as const)(
      'is sent again in parts, and ends: %s',
      async (only, expected) => {
        await insertMany(RESENT_AT_ONCE + 500, only)
        const parts: [number, boolean][] = []
        let after: string | null | undefined
        do {
          const { status, body } = await resend({ ...JANUARY, only, ...(after ? { after } : {}) })
          expect(status).toBe(200)
          parts.push([body.resent, body.next === null])
          after = body.next
        } while (after && parts.length < 10)
        expect(parts).toEqual(expected)
        const count = parts.reduce((sum, [resent]) => sum + resent, 0)
        const due = (await queue()).filter(({ due_at }) => due_at <= bench.now())
        const listed = due.flatMap(({ delivery_ids }) => delivery_ids)
        expect([listed.length, new Set(listed).size]).toEqual([count, count])
      },
      120_000,
    )

    test.each([
      'soon',
      `+275760-09-13T00:00:00.000Z_${newId()}`,
      `2026-13-01T00:00:00.000Z_${newId()}`,
      '2026-01-15T00:00:00.000Z',
      '2026-01-15T00:00:00.000Z_x',
      '_',
      'x'.repeat(100),
    ])('cannot be continued after %s', async (after) => {
      const { status, body } = await resend({ ...JANUARY, after })
      expect([status, body.error.details]).toEqual([400, [{ path: 'after', message: expect.stringContaining('next') }]])
    })
  })

  test('a retry with the same Idempotency-Key sends nothing a second time, and the audit log says what was sent', async () => {
    await oneOfEachState()
    const send = () =>
      fetch(`${bench.service.url}/v1/webhooks/${subscriptionId}/deliveries/resend`, {
        method: 'POST',
        headers: {
          authorization: `Bearer ${tenant.key}`,
          'content-type': 'application/json',
          'idempotency-key': `range-${subscriptionId}`,
        },
        body: JSON.stringify({ ...JANUARY, only: 'all' }),
      }).then((response) => response.json() as Promise<{ resent: number }>)
    const [first, second] = [await send(), await send()]
    expect([first.resent, second]).toEqual([3, first])
    const { entries } = (await tenant.call('GET', '/v1/audit-log?subject_kind=webhook')).body
    const resent = entries.filter(({ action }: { action: string }) => action === 'webhook.deliveries_resent')
    expect(resent).toMatchObject([
      {
        subject_id: subscriptionId,
        details: { only: 'all', resent: 3, from: '2026-01-01T00:00:00.000Z', to: '2026-01-31T23:59:59.999Z' },
      },
    ])
  })
})

/** Adds deliveries without a request for each: all of them wait, or every second has succeeded. */
async function insertMany(count: number, states: 'all' | 'waiting'): Promise<void> {
  const isWaiting = sql<boolean>`(n % 2 = 1 OR ${sql.lit(states === 'waiting')})`
  const parameters = sql`${tenant.id}::uuid AS tenant_id, ${subscriptionId}::uuid AS subscription_id`
  await sql`WITH made AS (
      INSERT INTO webhook_deliveries (tenant_id, subscription_id, delivery_id, event_id, event, payload, due_at, created_at)
      SELECT tenant_id, subscription_id, gen_random_uuid(), gen_random_uuid(), 'page_view', '{}', ${DAY},
        ${DAY}::timestamptz + make_interval(secs => floor(n / 100))
      FROM generate_series(1, ${sql.lit(count)}) AS n CROSS JOIN (SELECT ${parameters}) AS ids
      RETURNING tenant_id, subscription_id, delivery_id
    ), numbered AS (
      SELECT *, row_number() OVER () AS n FROM made
    ), attempted AS (
      INSERT INTO webhook_attempts (tenant_id, subscription_id, delivery_id, attempt, at, latency_ms, is_last)
      SELECT tenant_id, subscription_id, delivery_id, 1, ${DAY}, 5, NOT ${isWaiting} FROM numbered
    )
    INSERT INTO webhook_queue (tenant_id, subscription_id, due_at, batch_id, attempt, delivery_ids)
    SELECT tenant_id, subscription_id, '2100-01-01', gen_random_uuid(), 2, array_agg(delivery_id)
    FROM numbered WHERE ${isWaiting} GROUP BY tenant_id, subscription_id, n / 64`.execute(bench.service.stores.database)
}
