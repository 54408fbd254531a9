import { randomBytes } from 'node:crypto'
import { setTimeout as sleep } from 'node:timers/promises'
import { sql } from 'kysely'
import { afterAll, beforeAll, expect, onTestFinished, test } from 'vitest'
import { CommandLine } from '../../test/command-line.ts'
import { createTestTenant, type TestTenant } from '../../test/service.ts'
import { attempted, deliveriesOf, startWebhookBench, type WebhookBench } from '../../test/webhooks.ts'
import { createSecretBox } from '../platform/crypto/secret-box.ts'
import { newId } from '../platform/ids.ts'
import { sendTest } from './resend.ts'
import { rotateSecret } from './rotate-secret.ts'
import {
  createSubscription,
  deleteSubscription,
  listSubscriptions,
  pauseSubscription,
  resumeSubscription,
  SUBSCRIPTIONS_MAX,
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
  createSubscription(of.handle, bench.service.secrets, { event: 'page_view', url: URL, ...settings }, new Date())

const webhooksOf = async ({ handle }: TestTenant) =>
  (await listSubscriptions(handle, { page: 1, limit: SUBSCRIPTIONS_MAX })).webhooks

test('the 26th active subscription is refused, also when thirty are created concurrently', async () => {
  const crowded = await createTestTenant(bench.service)
  const results = await Promise.allSettled(Array.from({ length: 30 }, () => create({}, crowded)))
  const refused = results.filter((result) => result.status === 'rejected')
  expect(refused).toHaveLength(5)
  for (const { reason } of refused) {
    expect(reason).toMatchObject({ status: 409, code: 'too_many_webhook_subscriptions', message: /at most 25 active/ })
  }
  const [first, second] = await webhooksOf(crowded)
  await pauseSubscription(crowded.handle, first?.subscription_id ?? '', new Date())
  await create({}, crowded)
  await expect(resumeSubscription(crowded.handle, first?.subscription_id ?? '', new Date())).rejects.toMatchObject({
    code: 'too_many_webhook_subscriptions',
  })
  await deleteSubscription(crowded.handle, second?.subscription_id ?? '')
  await resumeSubscription(crowded.handle, first?.subscription_id ?? '', new Date())
  const statuses = (await webhooksOf(crowded)).map(({ status }) => status)
  expect(statuses).toEqual(Array(25).fill('active'))
  // Each tenant has its own limit.
  await create()
})

test('a tenant may have 200 subscriptions, paused ones included, also when twenty are created concurrently', async () => {
  const crowded = await createTestTenant(bench.service)
  const { subscriptionId } = await create({}, crowded)
  const now = new Date()
  const paused = Array.from({ length: 197 }, () => ({
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
  const results = await Promise.allSettled(Array.from({ length: 20 }, () => create({}, crowded)))
  const refused = results.filter((result) => result.status === 'rejected')
  expect(refused).toHaveLength(18)
  for (const { reason } of refused) {
    expect(reason).toMatchObject({ code: 'too_many_webhook_subscriptions', message: /at most 200/ })
  }
  // An existing one can still be resumed.
  await pauseSubscription(crowded.handle, subscriptionId, new Date())
  await resumeSubscription(crowded.handle, subscriptionId, new Date())
})

test.each([
  ['an event without a name', { event: '' }, 'validation_error', 'event'],
  ['a name that is too long', { event: 'x'.repeat(201) }, 'validation_error', 'event'],
  ['a URL without TLS', { url: 'http://hooks.example/' }, 'url_not_allowed', undefined],
  ['no URL', { url: 'hooks' }, 'url_not_allowed', undefined],
  ['a filter that is not a filter', { url_filter: [] }, 'validation_error', 'url_filter'],
  ['an unknown match', { url_filter: { match: 'none', conditions: [] } }, 'validation_error', 'url_filter.match'],
  ['no conditions', { url_filter: { match: 'all', conditions: [] } }, 'validation_error', 'url_filter.conditions'],
  [
    'an unknown operator',
    { url_filter: { match: 'all', conditions: [{ operator: 'matches', value: 'a' }] } },
    'validation_error',
    'url_filter.conditions[0].operator',
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
])('%s is refused, and the error names the place', async (_, settings, code, path) => {
  const careful = await createTestTenant(bench.service)
  const made = await careful.call('POST', '/v1/webhooks', { event: 'page_view', url: URL })
  for (const [method, place, body] of [
    ['POST', '/v1/webhooks', { event: 'page_view', url: URL, ...settings }],
    ['PATCH', `/v1/webhooks/${made.body.subscription_id}`, settings],
  ] as const) {
    const refusal = await careful.call(method, place, body)
    expect([refusal.status, refusal.body.error.code]).toEqual([400, code])
    expect(refusal.body.error.details?.[0]?.path).toBe(path)
  }
  expect(await webhooksOf(careful)).toEqual([made.body.webhook])
})

test('other tenants cannot use a subscription', async () => {
  const { subscriptionId } = await create()
  const stranger = await createTestTenant(bench.service)
  const { handle } = stranger
  const unknown = expect.objectContaining({ status: 404, code: 'not_found' })
  const now = new Date()
  for (const id of [subscriptionId, newId(), 'no-id']) {
    await expect(pauseSubscription(handle, id, now)).rejects.toEqual(unknown)
    await expect(resumeSubscription(handle, id, now)).rejects.toEqual(unknown)
    await expect(deleteSubscription(handle, id)).rejects.toEqual(unknown)
    await expect(sendTest(handle, id, now)).rejects.toEqual(unknown)
    await expect(deliveriesOf(handle, id)).rejects.toEqual(unknown)
    await expect(rotateSecret(handle, bench.service.secrets, id, {}, now)).rejects.toEqual(unknown)
  }
  expect(await webhooksOf(stranger)).toEqual([])
})

test('secrets and header values are in no list, no log, and in clear text in no table', async () => {
  const { receiver, service } = bench
  receiver.respond = (response) => response.writeHead(500).end()
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
    await webhooksOf(tenant),
    await deliveriesOf(tenant.handle, made.subscriptionId),
    service.logged,
  ])
  for (const secret of hidden) expect(shown.includes(secret.slice(0, 30))).toBe(false)
  expect(shown).toContain('whsec_[secret]')
  // The key opens the stored secret.
  const row = await tenant.handle.db
    .selectFrom('webhook_subscriptions')
    .select('secret_sealed')
    .where('subscription_id', '=', made.subscriptionId)
    .executeTakeFirstOrThrow()
  const box = createSecretBox([Buffer.from(KEY, 'base64')])
  expect(box.open(row.secret_sealed, `${tenant.id}/${made.subscriptionId}/secret`)).toBe(rotated.signingSecret)
})

test('every operation has a command, and the audit log records it', async () => {
  const { config } = bench.service
  const commandLine = new CommandLine({
    DATABASE_URL: config.databaseUrl ?? '',
    // The service uses the embedded ClickHouse in this directory at the same time.
    CDS_DATA_DIR: config.dataDirectory,
    CDS_SECRET_KEY: KEY,
  })
  onTestFinished(() => commandLine.close())
  const run = (...args: string[]) => commandLine.json(...args, '--tenant', tenant.id)
  const cds = (...args: string[]) => run('webhook', ...args)
  const filter = '{"match":"any","conditions":[{"operator":"contains","value":"/a"}]}'
  const headers = ['--header', 'Authorization: Bearer x', '--header', 'X-Two: 2']
  const url = ['--url', 'https://receiver.example/hook']
  const made = await cds('create', '--event', 'cli_event', ...url, '--url-filter', filter, ...headers)
  const { subscription_id } = made
  expect(made).toMatchObject({
    subscription_id: made.webhook.subscription_id,
    signing_secret: expect.stringMatching(/^whsec_/),
  })
  expect(made.webhook).toMatchObject({
    url: 'https://receiver.example/hook',
    url_filter: JSON.parse(filter),
    header_names: ['Authorization', 'X-Two'],
    status: 'active',
  })
  const webhook = ['--subscription-id', subscription_id]
  expect((await cds('list', '--limit', '200')).webhooks).toContainEqual(made.webhook)
  expect((await cds('get', ...webhook)).webhook).toEqual(made.webhook)
  const changed = await cds('update', ...webhook, '--url-filter', 'null', '--header', 'X-Three: 3')
  expect(changed).toMatchObject({
    webhook: { url_filter: null, header_names: ['X-Three'] },
    changed: ['url_filter', 'headers'],
  })
  const rotated = await cds('rotate', ...webhook, '--overlap-seconds', '60')
  expect(rotated).toMatchObject({ subscription_id, previous_secret_until: rotated.switch_at })
  expect(rotated.signing_secret).not.toBe(made.signing_secret)
  const { delivery_id } = await cds('test', ...webhook)
  expect((await run('delivery', 'list', ...webhook)).deliveries).toMatchObject([{ delivery_id, is_test: true }])
  expect((await run('delivery', 'get', ...webhook, '--delivery-id', delivery_id)).delivery).toMatchObject({
    delivery_id,
  })
  expect((await run('delivery', 'resend', ...webhook, '--delivery-id', delivery_id)).delivery).toMatchObject({
    delivery_id,
  })
  const range = ['delivery', 'resend-range', ...webhook, '--from', '2026-01-01']
  expect(await run(...range)).toEqual({ subscription_id, resent: 0, next: null })
  expect(await run(...range, '--only', 'all')).toEqual({ subscription_id, resent: expect.any(Number), next: null })
  expect((await run('webhook-health', 'get', ...webhook)).health).toMatchObject({ subscription_id, failed: 0 })
  expect((await run('webhook-health', 'list', '--limit', '1')).health).toHaveLength(1)
  expect((await cds('pause', ...webhook)).webhook).toMatchObject({ status: 'paused' })
  expect(await cds('test', ...webhook)).toMatchObject({ exit: 1, error: { code: 'webhook_paused' } })
  expect((await cds('resume', ...webhook)).webhook).toMatchObject({ status: 'active' })
  expect(await cds('delete', ...webhook)).toEqual({ deleted: true, subscription_id })
  const actors = await tenant.handle.db
    .selectFrom('audit_log')
    .select(['action', 'actor'])
    .where('subject_id', '=', subscription_id)
    .orderBy('at')
    .execute()
  expect(actors.map(({ action }) => action)).toEqual([
    'webhook.created',
    'webhook.updated',
    'webhook.secret_rotated',
    'webhook.tested',
    'webhook.delivery_resent',
    'webhook.deliveries_resent',
    'webhook.deliveries_resent',
    'webhook.paused',
    'webhook.resumed',
    'webhook.deleted',
  ])
  expect(actors.every(({ actor }) => (actor as { kind: string }).kind === 'command_line')).toBe(true)
  const refused = async (exit: number, code: string, ...args: string[]) =>
    expect(await run(...args)).toMatchObject({ exit, error: { code } })
  const wanted = ['webhook', 'create', '--event', 'e']
  await refused(1, 'url_not_allowed', ...wanted, '--url', 'https://127.0.0.1/')
  // The error names the setting that people need on their own machine.
  const local = await run(...wanted, '--url', 'https://localhost:9464/hook')
  expect(local.error.message).toMatch(/localhost is not a public internet address .* CDS_WEBHOOK_ALLOW_PRIVATE=on/)
  await refused(2, 'invalid_option', ...wanted, ...url, '--url-filter', '{')
  await refused(2, 'invalid_option', ...wanted, ...url, '--url-filter', '{"match":"none"}')
  await refused(2, 'invalid_option', 'webhook', 'list', '--limit', 'many')
  await refused(2, 'invalid_option', 'delivery', 'list', ...webhook, '--status', 'lost')
  await refused(2, 'invalid_option', 'delivery', 'resend-range', ...webhook, '--from', 'soon')
  await refused(2, 'invalid_option', ...range, '--only', 'lost')
  await refused(1, 'not_found', 'webhook', 'get', '--subscription-id', 'none')
  expect((await run('webhook-event-type', 'list')).event_types.length).toBeGreaterThan(15)
})
