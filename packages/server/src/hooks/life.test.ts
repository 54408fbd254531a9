import { sql } from 'kysely'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { bodiesOf, createHook, order, send, type TestHook } from '../../test/hooks.ts'
import { expectExample } from '../../test/recorded-examples.ts'
import { deleteOldOf } from '../../test/retention.ts'
import {
  createTestTenant,
  refuseUpdates,
  startTestService,
  type TestService,
  type TestTenant,
} from '../../test/service.ts'
import { until } from '../../test/webhooks.ts'
import { newId } from '../platform/ids.ts'
import { DAY_MS } from '../platform/time.ts'
import { storeBody } from './bodies.ts'

let service: TestService
let tenant: TestTenant

beforeAll(async () => {
  service = await startTestService()
  tenant = await createTestTenant(service)
})
afterAll(() => service.close())

const contactOf = async (email: string, of = tenant) =>
  (await of.call('GET', `/v1/contacts?search=${encodeURIComponent(email)}`)).body.contacts[0]
const eventsOf = async (email: string) => {
  const contact = await contactOf(email)
  return contact ? (await tenant.call('GET', `/v1/events?contact_id=${contact.contact_id}`)).body.events : []
}
/** Ends the claims of a process that died. */
const endClaims = (hook: TestHook, of = tenant) =>
  of.handle.db
    .updateTable('hook_bodies')
    .set({ claimed_until: sql<Date>`now() - interval '1 second'` })
    .where('hook_id', '=', hook.id)
    .execute()

describe('what is kept', () => {
  test('the last 50 bodies', async () => {
    const hook = await createHook(tenant, { mapping: {} })
    for (let number = 0; number < 55; number++) await send(service, hook, { number })
    const { bodies, pagination } = (await tenant.call('GET', `${hook.path}/bodies?limit=20&page=3`)).body
    expect(pagination).toEqual({ page: 3, limit: 20, total_pages: 3, total_items: 50 })
    const contents = await Promise.all(
      bodies.map(({ body_id }: { body_id: string }) => tenant.call('GET', `${hook.path}/bodies/${body_id}`)),
    )
    expect(contents.map(({ body }) => body.data.number)).toEqual([14, 13, 12, 11, 10, 9, 8, 7, 6, 5])
  })

  test('4 MiB of them, and never fewer than the one that has just arrived', async () => {
    const hook = await createHook(tenant, { mapping: {} })
    for (let number = 0; number < 12; number++) await send(service, hook, { number, text: 'x'.repeat(500_000) })
    const bodies = await bodiesOf(tenant, hook)
    expect(bodies).toHaveLength(8)
    const newest = await tenant.call('GET', `${hook.path}/bodies/${bodies[0].body_id}`)
    expect(newest.body.data.number).toBe(11)
  })

  test('for 30 days', async () => {
    const own = await createTestTenant(service)
    const hook = await createHook(own, { mapping: {} })
    await send(service, hook, {})
    await deleteOldOf(['hook_bodies'], service.stores.database, new Date(Date.now() + 29 * DAY_MS))
    expect(await bodiesOf(own, hook)).toHaveLength(1)
    await deleteOldOf(['hook_bodies'], service.stores.database, new Date(Date.now() + 31 * DAY_MS))
    expect(await bodiesOf(own, hook)).toEqual([])
  })
})

describe('a process that dies', () => {
  test('before the mapping ran: another one records the body, once', async () => {
    const hook = await createHook(tenant)
    const text = JSON.stringify(order('1', 'died@example.com'))
    await storeBody(tenant.handle, hook.id, text, new Date())
    expect(await bodiesOf(tenant, hook)).toMatchObject([{ state: 'pending', processed_at: null }])
    await endClaims(hook)
    await until(async () => expect(await bodiesOf(tenant, hook)).toMatchObject([{ state: 'recorded', error: null }]))
    expect(await eventsOf('died@example.com')).toHaveLength(1)
  })

  test('after the records, before the outcome: the body is finished, and its event is recorded once', async () => {
    const hook = await createHook(tenant)
    const { body } = await send(service, hook, order('2', 'halfway@example.com'))
    await tenant.handle.db
      .updateTable('hook_bodies')
      .set({
        state: 'pending',
        claim: newId(),
        claimed_until: sql<Date>`now() - interval '1 second'`,
        event_key: null,
        event_id: null,
        event: null,
        contact_id: null,
      })
      .where('body_id', '=', body.body_id)
      .execute()
    await until(async () =>
      expect(await bodiesOf(tenant, hook)).toMatchObject([{ state: 'recorded', event: 'order_paid' }]),
    )
    expect(await eventsOf('halfway@example.com')).toHaveLength(1)
  })

  test('is not repeated while it lives', async () => {
    const hook = await createHook(tenant)
    const claimed = await storeBody(tenant.handle, hook.id, '{}', new Date())
    const response = await tenant.call('POST', `${hook.path}/bodies/${claimed.bodyId}/run`)
    expect([response.status, response.body.error.code]).toEqual([409, 'hook_body_in_progress'])
  })
})

describe.each([['email'], ['user_id']])('a body that is recorded late, with %s,', (key) => {
  const mapping = {
    contact: {
      [key]: { path: 'who' },
      properties: { plan: { path: 'plan' }, city: { path: 'city' } },
    },
    company: {
      domain: { path: 'domain' },
      name: { path: 'company' },
      properties: { industry: { path: 'industry' }, size: { path: 'size' } },
    },
  }
  const who = key === 'email' ? 'late@example.com' : 'late-1'
  const domain = `${key.replace('_', '-')}-late.example`

  test('replaces nothing that is newer, until a person runs it again', async () => {
    const own = await createTestTenant(service)
    const hook = await createHook(own, { mapping })
    const early = { who, plan: 'free', city: 'London', domain, company: 'Old', industry: 'Looms', size: 'small' }
    const text = JSON.stringify(early)
    const { bodyId } = await storeBody(own.handle, hook.id, text, new Date(Date.now() - 60_000))
    await send(service, hook, { who, plan: 'pro', domain, company: 'New', industry: 'Engines' })
    await endClaims(hook, own)
    await until(async () => expect((await bodiesOf(own, hook)).at(-1)).toMatchObject({ state: 'recorded' }))
    const [{ contact_id, company_id }] = await bodiesOf(own, hook)
    const shown = async () => {
      const { contact } = (await own.call('GET', `/v1/contacts/${contact_id}`)).body
      const { company } = (await own.call('GET', `/v1/companies/${company_id}`)).body
      return [contact.properties, company.name, company.properties]
    }
    expect(await shown()).toEqual([
      expect.objectContaining({ plan: 'pro', city: 'London' }),
      'New',
      { industry: 'Engines', size: 'small' },
    ])
    await own.call('POST', `${hook.path}/bodies/${bodyId}/run`)
    expect(await shown()).toEqual([
      expect.objectContaining({ plan: 'free', city: 'London' }),
      'Old',
      { industry: 'Looms', size: 'small' },
    ])
  })
})

test('a body that is kept but cannot be recorded gets status 202 and is recorded later', async () => {
  const hook = await createHook(tenant)
  const mend = await refuseUpdates(service.stores.database, 'hook_bodies', sql`NEW.state = 'recorded'`)
  const sent = await send(service, hook, order('1', 'later@example.com'))
  expect([sent.status, sent.body.state]).toEqual([202, 'pending'])
  await expectExample('receiveHook.202', sent.body)
  const [body] = await bodiesOf(tenant, hook)
  expect(body).toMatchObject({ state: 'pending', error: { code: 'internal_error' } })
  await mend()
  await endClaims(hook)
  await until(async () => expect(await bodiesOf(tenant, hook)).toMatchObject([{ state: 'recorded', error: null }]))
  expect(await eventsOf('later@example.com')).toHaveLength(1)
})

test('an unexpected failure becomes the outcome after five attempts', async () => {
  const hook = await createHook(tenant)
  const mend = await refuseUpdates(service.stores.database, 'hook_bodies', sql`NEW.state = 'recorded'`)
  await send(service, hook, order('1', 'never@example.com'))
  await tenant.handle.db.updateTable('hook_bodies').set({ attempts: 4 }).where('hook_id', '=', hook.id).execute()
  await endClaims(hook)
  await until(async () =>
    expect(await bodiesOf(tenant, hook)).toMatchObject([{ state: 'failed', error: { code: 'internal_error' } }]),
  )
  await mend()
  const [body] = await bodiesOf(tenant, hook)
  const again = await tenant.call('POST', `${hook.path}/bodies/${body.body_id}/run`)
  expect(again.body.body).toMatchObject({ state: 'recorded', error: null })
})

describe('a body that is run again', () => {
  test('gets the current mapping; its event is recorded once for its id, and the run is in the audit log', async () => {
    const hook = await createHook(tenant)
    const { body } = await send(service, hook, order('1', 'again@example.com', { plan: 'pro', city: 'London' }))
    const mapping = {
      event: { name: { path: 'type' }, id: { path: 'order.id' } },
      contact: { email: { path: 'customer.email' }, properties: { city: { path: 'customer.city' } } },
    }
    await tenant.call('PATCH', hook.path, { mapping })
    const path = `${hook.path}/bodies/${body.body_id}/run`
    const [before] = await bodiesOf(tenant, hook)
    expect((await tenant.call('POST', path)).body.body).toMatchObject({
      state: 'recorded',
      contact_status: 'updated',
      event_id: before.event_id,
    })
    expect((await tenant.call('POST', path)).body.body).toMatchObject({ contact_status: 'unchanged' })
    expect((await contactOf('again@example.com')).properties).toMatchObject({ city: 'London', plan: 'pro' })
    expect(await eventsOf('again@example.com')).toHaveLength(1)
    // Even after the journal has forgotten the ids of that day.
    for (const table of ['event_ids_0', 'event_ids_1', 'event_ids_2'] as const)
      await service.stores.database.deleteFrom(table).where('tenant_id', '=', tenant.id).execute()
    await tenant.call('POST', path)
    expect((await send(service, hook, order('1', 'again@example.com'))).body.state).toBe('recorded')
    expect(await eventsOf('again@example.com')).toHaveLength(1)
    const { entries } = (await tenant.call('GET', `/v1/audit-log?subject_id=${hook.id}`)).body
    expect(entries[0]).toMatchObject({ action: 'hook.body_run', details: { body_id: body.body_id } })
  })

  test('is recorded once its mapping is fixed', async () => {
    const hook = await createHook(tenant, {
      mapping: { event: { name: { path: 'kind' } }, contact: { email: { path: 'mail' } } },
    })
    const sent = await send(service, hook, order('1', 'mended@example.com'))
    expect(sent.body.state).toBe('failed')
    await tenant.call('PATCH', hook.path, {
      mapping: { event: { name: { path: 'type' } }, contact: { email: { path: 'customer.email' } } },
    })
    const again = await tenant.call('POST', `${hook.path}/bodies/${sent.body.body_id}/run`)
    expect(again.body.body).toMatchObject({ state: 'recorded', error: null, event: 'order_paid' })
  })
})

describe('erasure', () => {
  test('deletes the bodies that mention the person, by address or id, and no others', async () => {
    const own = await createTestTenant(service)
    const mapping = {
      event: { name: { value: 'e' } },
      contact: { email: { path: 'email' }, user_id: { path: 'user' }, external_id: { path: 'customer' } },
    }
    const hook = await createHook(own, { mapping })
    await send(service, hook, { email: 'gone@example.com', user: 'user-77', customer: 98765 })
    await send(service, hook, { customer: 98765, note: "by the sender's id" })
    await send(service, hook, { other: 'failed, with the id', customer_id: 98765 })
    for (const ids of [[98765], [98765, 1], [1, 98765], [1, 98765, 2]]) await send(service, hook, { ids })
    await send(service, hook, { text: 'Failed. Ask GONE@example.com.' })
    await send(service, hook, '{"mail":"gone\\u0040example.com"}')
    await send(service, hook, { who: 'user-77' })
    await send(service, hook, { email: 'stays@example.com', numbers: [987654, 198765], text: 'not-gone@example.com' })
    expect(await bodiesOf(own, hook)).toHaveLength(11)
    const { contact_id } = await contactOf('gone@example.com', own)
    const { body } = await own.call('POST', '/v1/erasures', { contact_id })
    await until(async () => {
      const { receipt } = (await own.call('GET', `/v1/erasures/${body.receipt.erasure_id}`)).body
      expect(receipt.removed).toMatchObject({ hook_bodies: 10 })
    })
    const [left, ...others] = await bodiesOf(own, hook)
    expect(others).toEqual([])
    expect((await own.call('GET', `${hook.path}/bodies/${left.body_id}`)).body.data.email).toBe('stays@example.com')
  })
})

test('a deleted tenant has no hooks', async () => {
  const own = await createTestTenant(service)
  const hook = await createHook(own)
  await send(service, hook, order('1', 'tenant@example.com'))
  await service.stores.database.deleteFrom('tenants').where('tenant_id', '=', own.id).execute()
  for (const table of ['hooks', 'hook_bodies'] as const) {
    expect(
      await service.stores.database.selectFrom(table).selectAll().where('tenant_id', '=', own.id).execute(),
    ).toEqual([])
  }
})
