import { sql } from 'kysely'
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest'
import { commandSession } from '../../test/command-session.ts'
import { createTestTenant, startTestService, type TestService, type TestTenant } from '../../test/service.ts'
import { attempted } from '../../test/webhooks.ts'
import { OPERATIONS } from '../assembly/all-operations.ts'
import type { Values } from '../cli/command.ts'
import { DATABASE_COMMANDS } from '../cli/commands.ts'
import type { Session } from '../cli/session.ts'
import { newId } from '../platform/ids.ts'
import { audit } from './audit.ts'
import { listAudit } from './audit-list.ts'

let service: TestService
let tenant: TestTenant
let session: Session

beforeAll(async () => {
  service = await startTestService({ CDS_WEBHOOK_ALLOW_PRIVATE: '1' })
  session = commandSession(service)
})
beforeEach(async () => {
  tenant = await createTestTenant(service)
})
afterAll(() => service.close())

const entry = (action: string, subjectId: string | null = null) =>
  ({ actor: { kind: 'service' }, action, subjectKind: action.split('.')[0] ?? '', subjectId }) as const
const all = async () => (await listAudit(tenant.handle, {}, { page: 1, limit: 100 })).entries

describe('the audit log', () => {
  test('rejects every change and removal, even by the owner of the table', async () => {
    await audit(tenant.handle, entry('agent.created'), new Date())
    const before = await all()
    const { database } = service.stores
    const attempts = [
      sql`UPDATE audit_log SET action = 'nothing'`,
      sql`UPDATE audit_log SET at = now() WHERE tenant_id = ${tenant.id}`,
      sql`DELETE FROM audit_log WHERE tenant_id = ${tenant.id}`,
      sql`DELETE FROM audit_log`,
      sql`INSERT INTO audit_log SELECT * FROM audit_log ON CONFLICT (tenant_id, entry_id) DO UPDATE SET action = 'x'`,
      sql`TRUNCATE audit_log`,
    ]
    for (const attempt of attempts) await expect(attempt.execute(database)).rejects.toThrow('append-only')
    const throughHandle = tenant.handle.db.deleteFrom('audit_log').execute()
    await expect(throughHandle).rejects.toThrow('append-only')
    expect(await all()).toEqual(before)
    expect(before).toHaveLength(1)
  })

  test('is deleted with its tenant, and only then', async () => {
    await audit(tenant.handle, entry('agent.created'), new Date())
    const other = await createTestTenant(service)
    await audit(other.handle, entry('agent.created'), new Date())
    await service.stores.database.deleteFrom('tenants').where('tenant_id', '=', tenant.id).execute()
    expect(await all()).toEqual([])
    expect((await listAudit(other.handle, {}, { page: 1, limit: 10 })).total).toBe(1)
  })

  test('is written in the transaction of the change, or not at all', async () => {
    const failing = tenant.handle.transaction(async (tx) => {
      await audit(tx, entry('agent.created'), new Date())
      throw new Error('rolled back')
    })
    await expect(failing).rejects.toThrow('rolled back')
    expect(await all()).toEqual([])
  })

  test('is listed newest first, by page and subject, and only for its own tenant', async () => {
    const at = (second: number) => new Date(Date.UTC(2026, 0, 1, 0, 0, second))
    await audit(tenant.handle, entry('agent.created', 'a'), at(1))
    await audit(tenant.handle, entry('agent.updated', 'a'), at(3))
    await audit(tenant.handle, { ...entry('webhook.created', 'w'), actor: { kind: 'command_line' } }, at(2))
    const actions = async (filters: Parameters<typeof listAudit>[1], page = { page: 1, limit: 10 }) =>
      (await listAudit(tenant.handle, filters, page)).entries.map(({ action }) => action)
    expect(await actions({})).toEqual(['agent.updated', 'webhook.created', 'agent.created'])
    expect(await actions({}, { page: 2, limit: 2 })).toEqual(['agent.created'])
    expect(await actions({ subject_kind: 'agent', subject_id: 'a' })).toEqual(['agent.updated', 'agent.created'])
    expect(await actions({ actor: 'command_line' })).toEqual(['webhook.created'])
    const [newest] = (await tenant.call('GET', '/v1/audit-log?limit=1')).body.entries
    const one = await tenant.call('GET', `/v1/audit-log/${newest.entry_id}`)
    expect(one.body.entry).toEqual(newest)
    const unknown = await tenant.call('GET', `/v1/audit-log/${newId()}`)
    expect([unknown.status, unknown.body.error.code]).toEqual([404, 'not_found'])
    const stranger = await createTestTenant(service)
    expect((await listAudit(stranger.handle, {}, { page: 1, limit: 10 })).total).toBe(0)
  })
})

describe('the command line', () => {
  const run = (name: string, values: Values): Promise<Record<string, unknown>> => {
    const command = DATABASE_COMMANDS[name]
    if (!command) throw new Error(`There is no command ${name}.`)
    return command.run(session, { tenant: tenant.id, ...values }, new Date())
  }

  test('writes an entry for every change of configuration, without a secret', async () => {
    const user = await run('user create', { email: `${tenant.id}@example.com`, password: 'a long password' })
    const key = await run('key create', { name: 'crm', scopes: ['contacts:read'] })
    await run('key revoke', { 'key-id': key.key_id as string })
    const domain = await run('domain add', { domain: 'audited.example', verified: true })
    const segment = await run('segment create', { name: 'All', filter: '{"match":"all","conditions":[]}' })
    const webhook = await run('webhook create', {
      event: 'page_view',
      url: 'https://127.0.0.1:9999/hook',
      header: ['X-Token: secret-value'],
    })
    const subscriptionId = webhook.subscription_id as string
    const named = { 'subscription-id': subscriptionId }
    await run('webhook pause', named)
    await run('webhook resume', named)
    const rotated = await run('webhook rotate', named)
    const tested = await run('webhook test', named)
    const delivery = String(tested.delivery_id)
    // The worker records the result before it reports success.
    await attempted(tenant, subscriptionId, 1)
    await tenant.handle.db.updateTable('webhook_attempts').set({ is_last: true, error: null }).execute()
    await tenant.handle.db.deleteFrom('webhook_queue').execute()
    await run('delivery resend', { ...named, 'delivery-id': delivery })
    await run('delivery resend-range', { ...named, from: '2020-01-01' })
    await run('webhook delete', named)
    await run('user reset-password', { email: `${tenant.id}@example.com` })
    await run('agent-settings update', { 'outreach-interval-days': '3', 'quiet-hours': '20:00-08:00' })
    await run('tenant update', { 'require-signed-identification': 'true' })
    const identity = await run('tenant identity-secret', {})
    const entries = (await all()).reverse()
    expect(entries.map(({ action, subject_id }) => [action, subject_id])).toEqual([
      ['member.joined', user.user_id],
      ['api_key.created', key.key_id],
      ['api_key.revoked', key.key_id],
      ['domain.verified', (domain.domain as { domain_id: string }).domain_id],
      ['segment.created', (segment.segment as { segment_id: string }).segment_id],
      ['webhook.created', webhook.subscription_id],
      ['webhook.paused', webhook.subscription_id],
      ['webhook.resumed', webhook.subscription_id],
      ['webhook.secret_rotated', webhook.subscription_id],
      ['webhook.tested', webhook.subscription_id],
      ['webhook.delivery_resent', webhook.subscription_id],
      ['webhook.deliveries_resent', webhook.subscription_id],
      ['webhook.deleted', webhook.subscription_id],
      ['member.new_password_allowed', user.user_id],
      ['agent_settings.updated', null],
      ['tenant.updated', tenant.id],
      ['tenant.identity_secret_rotated', tenant.id],
    ])
    expect(new Set(entries.map(({ actor }) => actor.kind))).toEqual(new Set(['command_line']))
    const text = JSON.stringify(entries)
    for (const secret of [
      key.api_key,
      webhook.signing_secret,
      rotated.signing_secret,
      identity.identity_secret,
      'secret-value',
      'a long password',
    ]) {
      expect(text).not.toContain(secret)
    }
  })

  test('declares for each command whether it writes an entry', () => {
    const lines = [...['tenant create', 'user create', 'user reset-password']]
    const reads = ['tenant list', 'tenant-deletion list', 'doctor']
    // Data, as the API writes it; the service itself, for all tenants.
    const others = ['seed', 'import events', 'migrate', 'secret rotate', 'event retry']
    // `imports/command.test.ts` tests their entries.
    const imports = ['import contacts', 'import follow']
    // The operation declares whether it writes an entry; walk.test.ts tests it.
    const declared = OPERATIONS.map(({ command }) => command)
    expect(Object.keys(DATABASE_COMMANDS).sort()).toEqual(
      [...lines, ...reads, ...others, ...imports, ...declared].sort(),
    )
  })

  test('writes the first entry for the tenant itself', async () => {
    const { tenant_id } = await run('tenant create', { name: 'New' })
    const { entries } = await listAudit(session.tenant(String(tenant_id)), {}, { page: 1, limit: 10 })
    expect(entries).toMatchObject([
      { action: 'tenant.created', subject_id: tenant_id, actor: { kind: 'command_line' } },
    ])
  })

  test('writes none for what it rejects', async () => {
    const refused: [string, Values][] = [
      ['user create', { email: 'x', password: 'a long password' }],
      ['user create', { email: 'x@example.com', password: 'short' }],
      ['key create', { name: 'x', scopes: ['everything'] }],
      ['key revoke', { 'key-id': tenant.id }],
      ['domain add', { domain: 'no domain' }],
      ['segment create', { name: '', filter: '{"match":"all","conditions":[]}' }],
      ['webhook create', { event: 'x', url: 'http://example.com' }],
      ['webhook delete', { webhook: tenant.id }],
      ['agent-settings update', { 'outreach-interval-days': '400' }],
      ['agent-settings update', { 'outreach-interval-days': '-1' }],
      ['agent-settings update', { 'quiet-hours': '20:00' }],
      ['agent-settings update', { 'quiet-hours': '20:00-08:00-10:00' }],
      ['agent-settings update', { 'time-zone': 'Mars' }],
      ['agent-settings update', { 'monthly-cost-cap-usd': 'much' }],
      ['tenant update', { 'require-signed-identification': 'yes' }],
    ]
    for (const [name, values] of refused)
      await expect(run(name, values)).rejects.toMatchObject({ name: 'ServiceError' })
    expect(await all()).toEqual([])
  })

  test('shows and changes the rules for agents', async () => {
    const given = { 'quiet-hours': '22:00-07:30', 'time-zone': 'Europe/Berlin', 'monthly-cost-cap-usd': '12.5' }
    const settings = {
      quiet_hours: { from: '22:00', to: '07:30' },
      time_zone: 'Europe/Berlin',
      monthly_cost_cap_usd: 12.5,
    }
    expect(await run('agent-settings update', given)).toMatchObject({
      settings: { ...settings, outreach_interval_days: 7 },
    })
    expect(await run('agent-settings get', {})).toMatchObject({ settings })
    const cleared = await run('agent-settings update', { 'quiet-hours': 'none', 'monthly-cost-cap-usd': 'none' })
    expect(cleared.settings).toMatchObject({
      quiet_hours: null,
      monthly_cost_cap_usd: null,
      time_zone: 'Europe/Berlin',
    })
  })
})
