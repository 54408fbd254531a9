import { beforeAll, describe, expect, test } from 'vitest'
import { bodiesOf, createHook, ORDERS, order, send } from '../../test/hooks.ts'
import { createTestTenant, sharedService, type TestService, type TestTenant } from '../../test/service.ts'
import { until } from '../../test/webhooks.ts'

let service: TestService
let tenant: TestTenant

beforeAll(async () => {
  service = await sharedService()
  tenant = await createTestTenant(service)
})

describe('the URL of a hook', () => {
  test('is shown again to those who may change hooks, and the audit log says to whom', async () => {
    const hook = await createHook(tenant, { name: 'Seen again' })
    const shown = await tenant.call('POST', `${hook.path}/reveal`)
    expect([shown.status, shown.body]).toMatchObject([200, { hook_id: hook.id, name: 'Seen again' }])
    expect(new URL(shown.body.url).pathname).toBe(hook.url)
    const rotated = await tenant.call('POST', `${hook.path}/rotate`, {})
    const again = await tenant.call('POST', `${hook.path}/reveal`)
    expect(again.body.url).toBe(rotated.body.url)
    expect(again.body.url).not.toBe(shown.body.url)
    const { entries } = (await tenant.call('GET', `/v1/audit-log?subject_id=${hook.id}`)).body
    const actions = entries.map(({ action }: { action: string }) => action)
    expect(actions).toEqual(['hook.url_shown', 'hook.token_rotated', 'hook.url_shown', 'hook.created'])
    expect(JSON.stringify(entries)).not.toContain('hk_')
  })

  test('is not shown to another tenant or to those who only read, and is stored only encrypted', async () => {
    const hook = await createHook(tenant, { name: 'Secret' })
    const stranger = await createTestTenant(service)
    expect((await stranger.call('POST', `${hook.path}/reveal`)).status).toBe(404)
    for (const scopes of [['settings:read', 'contacts:write'], ['settings:write']]) {
      const { status } = await tenant.call('POST', `${hook.path}/reveal`, undefined, await tenant.keyWith(...scopes))
      expect(status).toBe(403)
    }
    const row = await tenant.handle.db
      .selectFrom('hooks')
      .selectAll()
      .where('hook_id', '=', hook.id)
      .executeTakeFirstOrThrow()
    expect(JSON.stringify(row)).not.toContain(hook.token)
  })
})

describe('a first mapping', () => {
  test('is proposed from the newest body or a sample', async () => {
    const hook = await createHook(tenant, { name: 'Shop orders', mapping: {} })
    const none = await tenant.call('POST', `${hook.path}/proposal`, {})
    expect([none.status, none.body.error.code]).toEqual([409, 'hook_has_no_body'])
    await send(service, hook, order('1815', 'ada@example.com'))
    const { body } = await tenant.call('POST', `${hook.path}/proposal`, {})
    expect(body.mapping).toEqual({
      event: { name: { path: 'type' }, id: { path: 'order.id' }, data: { total: { path: 'order.total' } } },
      contact: { email: { path: 'customer.email' }, properties: { name: { path: 'customer.name' } } },
    })
    const preview = await tenant.call('POST', `${hook.path}/preview`, { mapping: body.mapping })
    expect(preview.body.state).toBe('recorded')
    const other = await tenant.call('POST', `${hook.path}/proposal`, { sample: { mail: 'b@example.com' } })
    expect(other.body.mapping).toMatchObject({
      event: { name: { value: 'shop_orders' } },
      contact: { email: { path: 'mail' } },
    })
  })

  test('also records the bodies that came before it, in their order', async () => {
    const hook = await createHook(tenant, { mapping: {} })
    for (const plan of ['free', 'pro']) {
      const { body } = await send(service, hook, order(plan, 'early@example.com', { plan }))
      expect(body.state).toBe('skipped')
    }
    const updated = await tenant.call('PATCH', hook.path, { mapping: ORDERS, retry_bodies: true })
    expect(updated.body).toMatchObject({ changed: ['mapping'], retried_bodies: 2 })
    await until(async () => {
      const bodies = await bodiesOf(tenant, hook)
      expect(bodies.map(({ state }: { state: string }) => state)).toEqual(['recorded', 'recorded'])
    })
    const contact = await tenant.contactOf('early@example.com')
    expect(contact).toMatchObject({ properties: { plan: 'pro' } })
    // What is recorded stays as it is.
    const again = await tenant.call('PATCH', hook.path, { retry_bodies: true })
    expect(again.body).toMatchObject({ changed: [], retried_bodies: 0 })
  })
})
