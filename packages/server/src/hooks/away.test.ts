import { afterAll, beforeAll, expect, inject, test } from 'vitest'
import { createDatabase } from '../../test/databases.ts'
import { type FreezingProxy, startFreezingProxy } from '../../test/freezing-proxy.ts'
import { bodiesOf, createHook, order, send } from '../../test/hooks.ts'
import { createTestTenant, startTestService, type TestService, type TestTenant } from '../../test/service.ts'
import { until } from '../../test/webhooks.ts'

let proxy: FreezingProxy
let service: TestService
let tenant: TestTenant

beforeAll(async () => {
  proxy = await startFreezingProxy({ path: `${inject('postgresHost')}/.s.PGSQL.5432` })
  const { pathname } = new URL(await createDatabase())
  service = await startTestService({ DATABASE_URL: `postgres://cds@127.0.0.1:${proxy.port}${pathname}` })
  tenant = await createTestTenant(service)
})
afterAll(async () => {
  proxy.thaw()
  await service.close()
  await proxy.close()
})

test('while the database is away, the sender is told to send the body again', async () => {
  const hook = await createHook(tenant)
  await send(service, hook, order('1', 'before@example.com'))
  proxy.freeze()
  const away = await send(service, hook, order('2', 'away@example.com'))
  expect([away.status, away.body.error.code]).toEqual([503, 'store_unavailable'])
  expect(away.headers.get('retry-after')).toBe('2')
  proxy.thaw()
  await until(async () => {
    expect((await send(service, hook, order('2', 'away@example.com'))).body.state).toBe('recorded')
  })
  // It is one event, however often it was sent.
  const { body } = await tenant.call('GET', '/v1/events')
  expect(body.events).toHaveLength(2)
  expect((await bodiesOf(tenant, hook)).length).toBeGreaterThanOrEqual(2)
})
