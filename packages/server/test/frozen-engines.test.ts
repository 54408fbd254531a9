import { afterAll, beforeAll, expect, inject, test } from 'vitest'
import { type FreezingProxy, startFreezingProxy } from './freezing-proxy.ts'
import { call, createDatabase, createTestTenant, startTestService, type TestService, type TestTenant } from './service.ts'

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

test('x', async () => {
  const contact = await tenant.contact('a@example.com')
  proxy.freeze()
  const t0 = Date.now()
  const show = async (name: string, p: Promise<any>) => {
    const r = await p.catch((e) => ({ status: String(e) }))
    console.log(name, r.status, r.headers?.get('retry-after'), JSON.stringify(r.body)?.slice(0, 200), Date.now() - t0)
  }
  const all = () => [
    show('list', tenant.call('GET', '/v1/contacts')),
    show('one', tenant.call('GET', `/v1/contacts/${contact}`)),
    show('create', tenant.call('POST', '/v1/contacts', { email: 'b@example.com' })),
    show('track', tenant.track({ visitor_id: 'v', events: [{ event: 'x' }] })),
    show('events', tenant.call('GET', '/v1/events')),
    show('signin', call(service, 'POST', '/api/auth/sign-in/email', { headers: { origin: service.url }, body: JSON.stringify({ email: 'a@b.c', password: 'xxxxxxxxxx' }) })),
    show('page', call(service, 'GET', '/')),
    show('me', call(service, 'GET', '/api/me')),
    show('form', call(service, 'POST', '/forms/contact', { headers: { origin: `https://${tenant.site}` }, body: '{}' })),
    show('ready', call(service, 'GET', '/health/ready')),
    show('script', call(service, 'GET', '/tracker.js')),
  ]
  await Promise.all(all())
  console.log('again')
  await Promise.all(all())
  await Promise.all(Array.from({ length: 40 }, () => tenant.call('GET', '/v1/contacts').then((a) => expect(a.status).toBe(503))))
  console.log('40', Date.now() - t0)
  proxy.thaw()
  const t1 = Date.now()
  await expect.poll(async () => (await tenant.call('GET', '/v1/contacts')).status).toBe(200)
  console.log('back', Date.now() - t1)
  await expect.poll(async () => (await call(service, 'GET', '/health/ready')).status).toBe(200)
  console.log('ready', Date.now() - t1)
  await Promise.all(all())
  console.log(service.logged.filter((l) => /"level":(50|40)/.test(l)).map((l) => l.slice(0, 300)).join('\n').slice(0, 6000))
})
