import { beforeAll, beforeEach, expect, test } from 'vitest'
import { createTestTenant, sharedService, type TestService, type TestTenant } from '../../test/service.ts'
import { eraseSuppression, suppress, suppressionOf } from './suppressions.ts'
import { unsubscribe } from './unsubscribe/unsubscribe.ts'

let service: TestService
let tenant: TestTenant

beforeAll(async () => {
  service = await sharedService()
})
beforeEach(async () => {
  tenant = await createTestTenant(service)
})

const add = (body: object) => tenant.call('POST', '/v1/suppressions', body)
const read = (address: string) => tenant.call('GET', `/v1/suppressions/${encodeURIComponent(address)}`)
const remove = (address: string, query = '') =>
  tenant.call('DELETE', `/v1/suppressions/${encodeURIComponent(address)}${query}`)
const list = async (query = '') => {
  const { suppressions, pagination } = (await tenant.call('GET', `/v1/suppressions${query}`)).body
  return [suppressions, pagination.total_items]
}
/** The audit entries about suppressions, oldest first. */
const entries = () =>
  tenant.handle.db
    .selectFrom('audit_log')
    .select(['action', 'subject_id', 'details'])
    .where('subject_kind', '=', 'suppression')
    .orderBy('entry_id')
    .execute()

test('who allows mail to an address again can end the opt-out of its contact, and needs the scope for that', async () => {
  const contactId = await tenant.contact('bob@example.com')
  await unsubscribe(tenant.handle, service.writing, { address: 'bob@example.com', contactId })
  const path = '/v1/suppressions/bob%40example.com?consented=true'
  const refused = await tenant.call('DELETE', path, undefined, await tenant.keyWith('identities:write'))
  expect([refused.status, refused.body.error.code]).toEqual([403, 'insufficient_scope'])
  const consent = async () => (await tenant.call('GET', `/v1/contacts/${contactId}`)).body.contact.consent
  expect(await consent()).not.toBeNull()
  const key = await tenant.keyWith('identities:write', 'contacts:write')
  expect((await tenant.call('DELETE', path, undefined, key)).status).toBe(200)
  expect(await consent()).toBeNull()
})

test('an address is suppressed and allowed again', async () => {
  const suppression = {
    address: 'ada@example.com',
    reason: 'manual',
    details: 'asked by phone',
    at: expect.any(String),
  }
  const added = await add({ address: ' Ada@Example.com', details: 'asked by phone' })
  expect([added.status, added.body]).toEqual([201, { status: 'success', suppression, added: true }])
  expect((await add({ address: 'ada@example.com' })).body).toMatchObject({ suppression, added: false })
  expect((await read('ADA@example.com')).body).toEqual({ status: 'success', suppression })
  expect((await remove('ada@example.com')).body).toEqual({ status: 'success', deleted: true, suppression })
  for (const gone of [await read('ada@example.com'), await remove('ada@example.com')]) {
    expect([gone.status, gone.body.error.code]).toEqual([404, 'not_found'])
  }
  const logged = await entries()
  expect(logged.map(({ action, details }) => [action, details])).toEqual([
    ['suppression.added', {}],
    ['suppression.removed', { reason: 'manual' }],
  ])
  // Audit entries are never changed, so they must not contain an address that may have to be erased.
  expect(JSON.stringify(logged)).not.toContain('@')
})

test('an address whose owner unsubscribed is allowed again only with their consent', async () => {
  const contactId = await tenant.contact('ada@example.com')
  const unsubscribed = async () =>
    (await tenant.call('GET', `/v1/contacts/${contactId}`)).body.contact.properties.unsubscribed
  // Unsubscribing replaces the earlier reason.
  await suppress(tenant.handle, { address: 'ada@example.com', reason: 'bounced', details: null }, new Date())
  await unsubscribe(tenant.handle, service.writing, { address: 'ada@example.com', contactId })
  expect(await unsubscribed()).toBe(true)
  for (const query of ['', '?consented=false']) {
    const refused = await remove('ada@example.com', query)
    expect([refused.status, refused.body.error.code]).toEqual([409, 'consent_required'])
  }
  expect(await suppressionOf(tenant.handle, 'ada@example.com')).toMatchObject({ reason: 'unsubscribed' })
  expect((await remove('ada@example.com', '?consented=true')).body.suppression.reason).toBe('unsubscribed')
  expect(await suppressionOf(tenant.handle, 'ada@example.com')).toBeNull()
  expect(await unsubscribed()).toBe(false)
  expect((await entries()).map(({ details }) => details)).toEqual([{ reason: 'unsubscribed', consented: true }])
})

test('an address whose owner was erased is stored only as a digest', async () => {
  const address = 'bob@example.com'
  await suppress(tenant.handle, { address, reason: 'complained', details: null }, new Date())
  await tenant.handle.transaction((tx) => eraseSuppression(tx, address))
  await suppress(tenant.handle, { address, reason: 'bounced', details: null }, new Date(Date.now() + 60_000))
  expect(await list()).toMatchObject([[{ address }, { address: expect.stringMatching(/^sha256:/) }], 2])
  expect((await remove(address)).body.error.code).toBe('consent_required')
  expect((await remove(address, '?consented=1')).body.suppression.reason).toBe('complained')
  expect(await list()).toEqual([[], 0])
})

test('suppressions are paged, latest first', async () => {
  await suppress(tenant.handle, { address: 'a@example.com', reason: 'manual', details: null }, new Date())
  const later = new Date(Date.now() + 60_000)
  const bounced = { address: 'b@example.com', reason: 'bounced', details: '550 no such user' } as const
  await suppress(tenant.handle, bounced, later)
  expect(await list('?limit=1')).toEqual([[{ ...bounced, at: later.toISOString() }], 2])
  expect(await list('?limit=1&page=2')).toMatchObject([[{ address: 'a@example.com' }], 2])
})

test.each([
  ['an invalid address', { address: 'nobody' }, 'address'],
  ['no address', {}, 'address'],
  ['details of more than 500 characters', { address: 'a@example.com', details: 'x'.repeat(501) }, 'details'],
])('refuses %s', async (_what, body, path) => {
  const { status, body: received } = await add(body)
  expect([status, received.error.code, received.error.details[0].path]).toEqual([400, 'validation_error', path])
})
