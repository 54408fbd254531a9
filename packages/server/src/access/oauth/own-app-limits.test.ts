import { afterAll, beforeAll, expect, test } from 'vitest'
import { allow, authorizationRequest, CALLBACK, register, sendForm, startOAuthService } from '../../../test/oauth.ts'
import { type Browser, signedIn } from '../../../test/people.ts'
import { createTestTenant, type TestService, type TestTenant } from '../../../test/service.ts'
import { newId } from '../../platform/ids.ts'

/*
 * Anyone, a viewer too, may connect applications of their own and change them. The audit log keeps an entry of each forever,
 * so nobody must fill the disk with them. Disconnecting one is never refused.
 */

let service: TestService
let tenant: TestTenant
let viewer: Browser
const now = new Date()

beforeAll(async () => {
  const settings = { CDS_RATE_LIMITS: 'on', CDS_RATE_LIMIT_DOWNLOAD_PER_MINUTE: '6' }
  service = await startOAuthService(settings, { clock: () => now })
  tenant = await createTestTenant(service)
  viewer = await signedIn(service, tenant.id, 'viewer')
})
afterAll(() => service?.close())

const entries = async () =>
  (await tenant.call('GET', '/v1/audit-log?subject_kind=connected_app&limit=100')).body.entries.map(
    ({ action }: { action: string }) => action,
  )

test('what a person does with applications of their own is limited, whatever it is', async () => {
  const { client_id } = (await register(service)).body
  const { verifier, query } = authorizationRequest(service, client_id)
  const { body } = await allow(viewer, query, tenant.id)
  const code = new URL(body.redirect_to).searchParams.get('code') ?? ''
  const form = { grant_type: 'authorization_code', client_id, redirect_uri: CALLBACK, code, code_verifier: verifier }
  expect((await sendForm(service, '/oauth/token', form)).status).toBe(200)
  const { connected_apps } = (await viewer.call('GET', '/v1/connected-apps')).body
  const path = `/v1/connected-apps/${connected_apps[0].grant_id}`
  for (let change = 0; change < 5; change++) {
    const tools = change % 2 === 0 ? ['search_contacts'] : ['all']
    expect((await viewer.call('PATCH', path, { tools })).status).toBe(200)
  }
  const before = await entries()
  expect(before).toHaveLength(6)
  const refused = [await allow(viewer, query, tenant.id), await viewer.call('PATCH', path, { tools: ['all'] })]
  for (const { status, body, headers } of refused) {
    expect([status, body.error.code, headers.get('retry-after')]).toEqual([429, 'rate_limited', expect.any(String)])
  }
  expect(await entries()).toEqual(before)
  // It can still be ended, and other people are not affected.
  expect((await viewer.call('DELETE', path)).status).toBe(200)
  const admin = await signedIn(service, tenant.id, 'admin')
  expect((await allow(admin, query, tenant.id)).status).toBe(200)
})

test('of applications whose grants have all ended, the latest 5,000 are remembered, and those in use always', async () => {
  const { database } = service.stores
  const hour = (n: number) => new Date(now.getTime() - n * 3_600_000)
  const client = (name: string, authorized_at: Date) => {
    return { client_id: newId(), name, redirect_uris: [CALLBACK], created_at: authorized_at, authorized_at }
  }
  const [used, oldest] = [client('used', hour(9)), client('oldest', hour(8))]
  const others = Array.from({ length: 5_000 }, () => client('other', hour(1)))
  await database.insertInto('oauth_clients').values([used, oldest]).execute()
  for (let from = 0; from < others.length; from += 1_000) {
    const some = others.slice(from, from + 1_000)
    await database.insertInto('oauth_clients').values(some).execute()
  }
  const { verifier: _, query } = authorizationRequest(service, used.client_id)
  const owner = await signedIn(service, tenant.id, 'owner')
  expect((await allow(owner, query, tenant.id)).status).toBe(200)
  const expectKnown = async (names: string[]) => {
    const clients = database.selectFrom('oauth_clients').select('name').where('name', 'in', ['used', 'oldest'])
    expect((await clients.execute()).map(({ name }) => name).sort()).toEqual(names)
  }
  await expectKnown(['oldest', 'used'])
  expect((await register(service)).status).toBe(201)
  await expectKnown(['used'])
})
