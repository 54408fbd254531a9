import { afterAll, beforeAll, expect, test } from 'vitest'
import { insertIdentity } from '../../test/actions.ts'
import { type MailBench, settingsOf, startMailBench, TESTER } from '../../test/mail.ts'
import { type Browser, signedIn } from '../../test/people.ts'
import { startReceiver } from '../../test/receiver.ts'
import { createTestTenant, type TestTenant } from '../../test/service.ts'
import { setEmailAccount } from './email-accounts.ts'

let bench: MailBench
let tenant: TestTenant
let admin: Browser
let member: Browser

beforeAll(async () => {
  bench = await startMailBench()
  tenant = await createTestTenant(bench.service)
  admin = await signedIn(bench.service, tenant.id, 'admin')
  member = await signedIn(bench.service, tenant.id, 'member')
})
afterAll(() => bench.close())

test("an identity's email account is set after a login, changed without the password, checked and removed", async () => {
  const mailbox = await bench.servers.addMailbox('grace@mail.example')
  const identityId = await insertIdentity(tenant.handle)
  const path = `/v1/identities/${identityId}`
  const server = { host: 'localhost', user: mailbox.user }
  const account = {
    address: mailbox.user,
    smtp: { ...server, port: bench.servers.smtp.port, security: 'starttls' },
    imap: null,
    daily_limit: 40,
    spacing_seconds: 5,
  }
  const without = await admin.call('PUT', `${path}/email-account`, account)
  expect(without.body.error.details).toMatchObject([{ path: 'password' }])
  const refused = await admin.call('PUT', `${path}/email-account`, { ...account, password: 'wrong' })
  expect([refused.status, refused.body.error.code]).toEqual([400, 'mail_login_failed'])
  expect(refused.body.error.message).toContain('5.7.8 Username and password not accepted')
  const set = await admin.call('PUT', `${path}/email-account`, { ...account, password: mailbox.password })
  expect(set.body.email_account).toMatchObject({ address: mailbox.user, connected: true, daily_limit: 40 })
  const changed = await admin.call('PUT', `${path}/email-account`, { ...account, daily_limit: 10 })
  expect(changed.body.email_account).toMatchObject({ connected: true, daily_limit: 10 })
  // Set from the command line, with access tokens that are renewed: a change keeps the renewal.
  const endpoint = await startReceiver(bench.servers.certificate)
  endpoint.respond = (response) => response.end(JSON.stringify({ access_token: mailbox.accessToken, expires_in: 3600 }))
  const { smtp } = settingsOf(bench.servers, mailbox)
  const tokenUrl = endpoint.url('/token', 'localhost')
  const renewed = {
    address: mailbox.user,
    smtp: { ...smtp, login: { user: mailbox.user, accessToken: '' } },
    imap: null,
    renewal: { refreshToken: 'refresh-token', clientId: 'c', clientSecret: null, tokenUrl },
  }
  await setEmailAccount(tenant.handle, bench.service.mail, TESTER, identityId, renewed, bench.now())
  const renewal = { client_id: 'c', token_url: tokenUrl }
  const kept = await admin.call('PUT', `${path}/email-account`, { ...account, daily_limit: 10 })
  expect(kept.body.email_account).toMatchObject({ connected: true, renewal })
  expect(JSON.stringify((await admin.call('GET', `${path}/connections`)).body)).not.toContain('refresh-token')
  await endpoint.close()
  const byPassword = { ...account, password: mailbox.password, daily_limit: 10 }
  expect((await admin.call('PUT', `${path}/email-account`, byPassword)).body.email_account.renewal).toBeNull()
  const elsewhere = { ...account, smtp: { ...account.smtp, host: '127.0.0.1' } }
  const moved = await admin.call('PUT', `${path}/email-account`, elsewhere)
  expect(moved.body.error.details).toMatchObject([{ path: 'password' }])
  expect((await admin.call('POST', `${path}/email-account/check`)).body.email_account.connected).toBe(true)
  const { connections } = (await member.call('GET', `${path}/connections`)).body
  expect(connections).toMatchObject({
    email_account: { daily_limit: 10 },
    agents: [],
    social_login: null,
    is_sandbox: true,
  })
  expect(JSON.stringify(connections)).not.toContain(mailbox.password)
  expect((await admin.call('DELETE', `${path}/email-account`)).body).toMatchObject({ deleted: true })
  expect((await admin.call('POST', `${path}/email-account/check`)).status).toBe(404)
  expect((await member.call('PUT', `${path}/email-account`, account)).status).toBe(403)
})

test('identities are paged and can be searched by words of the name, role and address', async () => {
  const crowded = await createTestTenant(bench.service)
  const viewer = await signedIn(bench.service, crowded.id, 'viewer')
  const create = async (firstName: string, role: string) =>
    (await crowded.call('POST', '/v1/identities', { firstName, lastName: 'Öberg', role })).body.identity.identity_id
  const ids = [await create('Ada', 'Sales'), await create('Bob', '100%_support'), await create('Cleo', 'Sales')]
  const list = async (query: string) => {
    const { body } = await viewer.call('GET', `/v1/identities?${query}`)
    const found = body.identities.map(({ identity_id }: { identity_id: string }) => ids.indexOf(identity_id))
    return [found, body.pagination.total_items]
  }
  expect(await list('limit=2')).toEqual([[2, 1], 3])
  expect(await list('limit=2&page=2')).toEqual([[0], 3])
  expect(await list('search=sales')).toEqual([[2, 0], 2])
  expect(await list(`search=${encodeURIComponent('ÖBERG  bo')}`)).toEqual([[1], 1])
  expect(await list(`search=${encodeURIComponent('%_s')}`)).toEqual([[1], 1])
  expect(await list(`search=${encodeURIComponent("'; DROP")}`)).toEqual([[], 0])
  const mailbox = await bench.servers.addMailbox('cleo@mail.example')
  const owner = await signedIn(bench.service, crowded.id, 'owner')
  const { status } = await owner.call('PUT', `/v1/identities/${ids[2]}/email-account`, {
    address: mailbox.user,
    smtp: { host: 'localhost', port: bench.servers.smtp.port, security: 'none', user: mailbox.user },
    imap: null,
    password: mailbox.password,
    daily_limit: 10,
    spacing_seconds: 0,
  })
  expect([status, await list('search=cleo%40mail')]).toEqual([200, [[2], 1]])
  expect((await viewer.call('GET', '/v1/identities?limit=101')).status).toBe(400)
})

test('the agents of an identity are returned only to keys that may read agents', async () => {
  const identityId = await insertIdentity(tenant.handle)
  const agent = await tenant.call('POST', '/v1/agents', { name: 'Scout', identity_id: identityId })
  expect(agent.status).toBe(201)
  const agentsOf = async (...scopes: string[]) => {
    const key = await tenant.keyWith(...scopes)
    const { body } = await tenant.call('GET', `/v1/identities/${identityId}/connections`, undefined, key)
    return body.connections.agents
  }
  expect(await agentsOf('identities:read')).toEqual([])
  const scout = { agent_id: agent.body.agent.agent_id, name: 'Scout', enabled: expect.any(Boolean) }
  expect(await agentsOf('identities:read', 'agents:read')).toEqual([scout])
})
