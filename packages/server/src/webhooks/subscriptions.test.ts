import { randomBytes } from 'node:crypto'
import { setTimeout as sleep } from 'node:timers/promises'
import { sql } from 'kysely'
import { afterAll, beforeAll, expect, onTestFinished, test } from 'vitest'
import { CommandLine } from '../../test/command-line.ts'
import { createTestTenant, type TestTenant } from '../../test/service.ts'
import { attempted, startWebhookBench, type WebhookBench } from '../../test/webhooks.ts'
import { createSecretBox } from '../platform/crypto/secret-box.ts'
import { newId } from '../platform/ids.ts'
import { listDeliveries } from './deliveries.ts'
import { sendTest } from './resend.ts'
import { rotateSecret } from './rotate-secret.ts'
import {
  createSubscription,
  deleteSubscription,
  listSubscriptions,
  pauseSubscription,
  resumeSubscription,
  type SubscriptionSettings,
} from './subscriptions.ts'

const URL = 'https://hooks.example/hook'
const KEY = randomBytes(32).toString('base64')
const HEADER_VALUE = 'Bearer a-token-of-the-receiver'

let bench: WebhookBench
let tenant: TestTenant
beforeAll(async () => {
  bench = await startWebhookBench({ CDS_SECRET_KEY: KEY })
  tenant = await createTestTenant(bench.service)
})
afterAll(() => bench.close())

const create = (settings: Partial<SubscriptionSettings> = {}, of = tenant) =>
  createSubscription(of.handle, bench.service, { event: 'page_view', url: URL, ...settings }, new Date())

test('the 26th active subscription is refused, also when thirty come at once', async () => {
  const crowded = await createTestTenant(bench.service)
  const results = await Promise.allSettled(Array.from({ length: 30 }, () => create({}, crowded)))
  const refused = results.filter((result) => result.status === 'rejected')
  expect(refused).toHaveLength(5)
  for (const { reason } of refused) {
    expect(reason).toMatchObject({ status: 409, code: 'webhook_limit_reached', message: /at most 25 active/ })
  }
  const [first, second] = await listSubscriptions(crowded.handle)
  await pauseSubscription(crowded.handle, first?.subscription_id ?? '', new Date())
  await create({}, crowded)
  await expect(resumeSubscription(crowded.handle, first?.subscription_id ?? '', new Date())).rejects.toMatchObject({
    code: 'webhook_limit_reached',
  })
  await deleteSubscription(crowded.handle, second?.subscription_id ?? '')
  await resumeSubscription(crowded.handle, first?.subscription_id ?? '', new Date())
  const statuses = (await listSubscriptions(crowded.handle)).map(({ status }) => status)
  expect(statuses).toEqual(Array(25).fill('active'))
  // Another tenant's limit is its own.
  await create()
})

test('paused ones count among the 200 that a tenant may have', async () => {
  const crowded = await createTestTenant(bench.service)
  const { subscriptionId } = await create({}, crowded)
  const now = new Date()
  const paused = Array.from({ length: 198 }, () => ({
    subscription_id: newId(),
    event: 'page_view',
    url: URL,
    header_names: [],
    secret_sealed: '',
    paused_at: now,
    created_at: now,
    updated_at: now,
  }))
  await crowded.handle.db.insertInto('webhook_subscriptions').values(paused).execute()
  await create({}, crowded)
  await expect(create({}, crowded)).rejects.toMatchObject({ code: 'webhook_limit_reached', message: /at most 200/ })
  // One that is there already is resumed all the same.
  await pauseSubscription(crowded.handle, subscriptionId, new Date())
  await resumeSubscription(crowded.handle, subscriptionId, new Date())
})

test.each([
  ['an event without a name', { event: '' }, 'validation_error', 'event'],
  ['a name that is too long', { event: 'x'.repeat(201) }, 'validation_error', 'event'],
  ['a URL without TLS', { url: 'http://hooks.example/' }, 'url_not_allowed', undefined],
  ['no URL', { url: 'hooks' }, 'url_not_allowed', undefined],
  ['a filter that is no filter', { urlFilter: [] }, 'validation_error', 'url_filter'],
  ['null as a filter', { urlFilter: null }, 'validation_error', 'url_filter'],
  ['an unknown match', { urlFilter: { match: 'none', conditions: [] } }, 'validation_error', 'url_filter.match'],
  ['no conditions', { urlFilter: { match: 'all', conditions: [] } }, 'validation_error', 'url_filter.conditions'],
  [
    'an unknown operator',
    { urlFilter: { match: 'all', conditions: [{ operator: 'matches', value: 'a' }] } },
    'validation_error',
    'url_filter.conditions.0.operator',
  ],
  [
    'a reserved header',
    { headers: [{ name: 'X-Service-Signature', value: 'x' }] },
    'validation_error',
    'headers[0].name',
  ],
  ['a framing header', { headers: [{ name: 'Content-Length', value: '1' }] }, 'validation_error', 'headers[0].name'],
  ['a broken name', { headers: [{ name: 'a b', value: 'x' }] }, 'validation_error', 'headers[0].name'],
  ['a line break', { headers: [{ name: 'a', value: 'x\r\nEvil: 1' }] }, 'validation_error', 'headers[0].value'],
  [
    'a name twice',
    {
      headers: [
        { name: 'a', value: '1' },
        { name: 'A', value: '2' },
      ],
    },
    'validation_error',
    'headers[1].name',
  ],
])('%s is refused, naming the place', async (_, settings, code, path) => {
  const careful = await createTestTenant(bench.service)
  const refusal = await create(settings as Partial<SubscriptionSettings>, careful).catch((error) => error)
  expect(refusal).toMatchObject({ status: 400, code })
  expect(refusal.details?.[0]?.path).toBe(path)
  expect(await listSubscriptions(careful.handle)).toEqual([])
})

test("a subscription is its own tenant's alone", async () => {
  const { subscriptionId } = await create()
  const { handle } = await createTestTenant(bench.service)
  const unknown = expect.objectContaining({ status: 404, code: 'not_found' })
  const now = new Date()
  for (const id of [subscriptionId, newId(), 'no-id']) {
    await expect(pauseSubscription(handle, id, now)).rejects.toEqual(unknown)
    await expect(resumeSubscription(handle, id, now)).rejects.toEqual(unknown)
    await expect(deleteSubscription(handle, id)).rejects.toEqual(unknown)
    await expect(sendTest(handle, id, now)).rejects.toEqual(unknown)
    await expect(listDeliveries(handle, id)).rejects.toEqual(unknown)
    await expect(rotateSecret(handle, bench.service.secrets, id, {}, now)).rejects.toEqual(unknown)
  }
  expect(await listSubscriptions(handle)).toEqual([])
})

test('secrets and header values are in no table in clear text, in no list and in no log', async () => {
  const { receiver, service } = bench
  receiver.answer = (response) => response.writeHead(500).end()
  const made = await bench.subscribe(tenant, { headers: [{ name: 'Authorization', value: HEADER_VALUE }] })
  await tenant.track({ visitor_id: 'v', events: [{ event: 'page_view' }] })
  await attempted(tenant, made.subscriptionId, 1)
  const rotated = await rotateSecret(tenant.handle, service.secrets, made.subscriptionId, {}, new Date())
  service.log.error({ err: new Error(`wrong: ${made.signingSecret}`) }, 'a log line that quotes a secret')
  await sleep(50)
  const hidden = [made.signingSecret, rotated.signingSecret, HEADER_VALUE, KEY]
  const tables = ['webhook_subscriptions', 'webhook_deliveries', 'webhook_attempts', 'journal']
  for (const table of tables) {
    const { rows } = await sql<{ row: string }>`SELECT t::text AS row FROM ${sql.table(table)} AS t`.execute(
      service.stores.database,
    )
    for (const secret of hidden)
      expect(
        rows.filter(({ row }) => row.includes(secret)),
        table,
      ).toEqual([])
  }
  const shown = JSON.stringify([
    await listSubscriptions(tenant.handle),
    await listDeliveries(tenant.handle, made.subscriptionId),
    service.logged,
  ])
  for (const secret of hidden) expect(shown.includes(secret.slice(0, 30))).toBe(false)
  expect(shown).toContain('whsec_[secret]')
  // It is there, for whoever has the key.
  const row = await tenant.handle.db
    .selectFrom('webhook_subscriptions')
    .select('secret_sealed')
    .where('subscription_id', '=', made.subscriptionId)
    .executeTakeFirstOrThrow()
  const box = createSecretBox([Buffer.from(KEY, 'base64')])
  expect(box.open(row.secret_sealed, `${tenant.id}/${made.subscriptionId}/secret`)).toBe(rotated.signingSecret)
})

test('the command line creates, lists, tests, rotates, pauses and deletes', async () => {
  const { config } = bench.service
  const commandLine = new CommandLine({
    DATABASE_URL: config.databaseUrl ?? '',
    // Where the service's embedded ClickHouse is: the command works beside it.
    CDS_DATA_DIR: config.dataDirectory,
    CDS_SECRET_KEY: KEY,
  })
  onTestFinished(() => commandLine.close())
  const cds = (...args: string[]) => commandLine.json('webhook', ...args, '--tenant', tenant.id)
  const filter = '{"match":"any","conditions":[{"operator":"contains","value":"/a"}]}'
  const headers = ['--header', 'Authorization: Bearer x', '--header', 'X-Two: 2']
  const url = ['--url', 'https://receiver.example/hook']
  const made = await cds('create', '--event', 'cli_event', ...url, '--url-filter', filter, ...headers)
  expect(made).toEqual({ subscription_id: expect.any(String), signing_secret: expect.stringMatching(/^whsec_/) })
  const webhook = ['--webhook', made.subscription_id]
  const listed = (await cds('list')).subscriptions.find((each: { event: string }) => each.event === 'cli_event')
  expect(listed).toMatchObject({
    url: 'https://receiver.example/hook',
    url_filter: JSON.parse(filter),
    header_names: ['Authorization', 'X-Two'],
    status: 'active',
  })
  expect((await cds('rotate', ...webhook)).signing_secret).not.toBe(made.signing_secret)
  const { delivery_id } = await cds('test', ...webhook)
  expect((await cds('deliveries', ...webhook)).deliveries).toMatchObject([{ delivery_id, is_test: true }])
  expect(await cds('resend', ...webhook, '--from', '2026-01-01')).toEqual({ resent: expect.any(Number) })
  expect(await cds('pause', ...webhook)).toMatchObject({ status: 'paused' })
  expect(await cds('test', ...webhook)).toMatchObject({ exit: 1, error: { code: 'webhook_paused' } })
  expect(await cds('resume', ...webhook)).toMatchObject({ status: 'active' })
  expect(await cds('delete', ...webhook)).toMatchObject({ deleted: true })
  expect(await cds('create', '--event', 'e', '--url', 'https://127.0.0.1/')).toMatchObject({
    exit: 1,
    error: { code: 'url_not_allowed' },
  })
  expect(await cds('create', '--event', 'e', ...url, '--url-filter', '{')).toMatchObject({
    error: { code: 'invalid_option' },
  })
  expect((await cds('events')).events.length).toBeGreaterThan(15)
}, 300_000)
