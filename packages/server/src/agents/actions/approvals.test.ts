import { afterAll, beforeAll, expect, test } from 'vitest'
import { insertIdentity, MAIL, NOTE, propose } from '../../../test/actions.ts'
import { type MailBench, settingsOf, startMailBench, TESTER } from '../../../test/mail.ts'
import { type Browser, signedIn } from '../../../test/people.ts'
import { startReceiver } from '../../../test/receiver.ts'
import { createTestTenant, type TestTenant } from '../../../test/service.ts'
import { setEmailAccount } from '../../identities/email-accounts.ts'

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

let people = 0
async function waiting(more: object = {}) {
  const contactId = await tenant.contact(`waiting${++people}@example.com`, { firstname: 'Ada' })
  const identityId = await insertIdentity(tenant.handle)
  const proposed = await propose(tenant.handle, bench.service.jobs, { contactId, identityId, ...MAIL, ...more })
  const { runId, actionIndex } = proposed.ref
  const place = { run_id: runId, contact_id: contactId, action_index: actionIndex }
  return { ...proposed, place, path: `/v1/agents/runs/${runId}/contacts/${contactId}/actions/${actionIndex}` }
}

test('what waits is listed with contact, agent, sender and reasoning, page by page', async () => {
  const { place } = await waiting()
  const { body } = await member.call('GET', '/v1/approvals?limit=1')
  expect(body.actions).toMatchObject([
    {
      ...place,
      params: MAIL.params,
      contact: { firstname: 'Ada' },
      agent: { name: 'Scout' },
      identity: { firstName: 'Grace' },
      reasoning: 'They asked.',
    },
  ])
  expect(body.pagination).toMatchObject({ page: 1, limit: 1 })
  const { body: none } = await member.call('GET', `/v1/approvals?contact_id=${place.run_id}`)
  expect([none.actions, none.pagination.total_items]).toEqual([[], 0])
})

test('an action is approved with the text that a person wrote instead, and the audit log keeps both', async () => {
  const { path, place } = await waiting()
  const params = { subject: 'Better', message: 'Written by a person.' }
  const { status, body } = await member.call('POST', `${path}/approve`, { params })
  expect([status, body.action.status, body.action.params]).toEqual([200, 'approved', params])
  const { entries } = (await admin.call('GET', '/v1/audit-log?subject_kind=action')).body
  const entry = entries.find(({ details }: { details: { run_id?: string } }) => details.run_id === place.run_id)
  expect(entry ?? entries[0]).toMatchObject({ actor: { kind: 'user', name: 'The member' } })
})

test('an edited action that does not fit is refused by name and goes on waiting', async () => {
  const { path } = await waiting()
  const wrong = await member.call('POST', `${path}/approve`, { params: { subject: '', to: 'else@example.com' } })
  expect([wrong.status, wrong.body.error.code]).toEqual([400, 'validation_error'])
  expect((await member.call('POST', `${path}/approve`)).status).toBe(200)
})

test('whoever decides second is told who was first and when', async () => {
  const { path } = await waiting()
  expect((await admin.call('POST', `${path}/reject`, { reason: 'Too soon.' })).body.action.status).toBe('rejected')
  const late = await member.call('POST', `${path}/approve`)
  expect([late.status, late.body.error.code]).toEqual([409, 'invalid_action_state'])
  expect(late.body.error.message).toMatch(/^The admin already rejected this action, at 20\d\d-.* UTC\.$/)
  expect((await admin.call('POST', `${path}/reject`)).body.error.message).toMatch(/^You already rejected/)
})

test('several are decided at once, each for itself', async () => {
  const [first, second, gone] = [await waiting(), await waiting(), await waiting()]
  await admin.call('POST', `${gone.path}/approve`)
  const unknown = { ...first.place, action_index: 7 }
  const actions = [first.place, unknown, gone.place]
  const { body } = await member.call('POST', '/v1/approvals/approve', { actions })
  expect(
    body.decisions.map(
      ({ error, action }: { error: null | { code: string }; action: { status: string } }) =>
        error?.code ?? action.status,
    ),
  ).toEqual(['approved', 'not_found', 'invalid_action_state'])
  const rejected = await member.call('POST', '/v1/approvals/reject', { actions: [second.place], reason: 'No.' })
  expect(rejected.body.decisions[0].action.status).toBe('rejected')
  const many = Array.from({ length: 101 }, () => first.place)
  expect((await member.call('POST', '/v1/approvals/reject', { actions: many })).status).toBe(400)
})

test('agents are listed with how they last ran; a run is read page by page and ended', async () => {
  const made = await admin.call('POST', '/v1/agents', { name: 'Runner', capabilities: ['notes'] })
  const { agent_id } = made.body.agent
  const contacts = [await tenant.contact('run1@example.com'), await tenant.contact('run2@example.com')]
  const one = await propose(tenant.handle, bench.service.jobs, {
    agentId: agent_id,
    contactId: contacts[0] ?? '',
    ...NOTE,
  })
  const { runId } = one.ref
  await propose(tenant.handle, bench.service.jobs, { agentId: agent_id, runId, contactId: contacts[1] ?? '', ...NOTE })
  const { agents } = (await member.call('GET', '/v1/agents?limit=100&include=last_run')).body
  const listed = agents.find((each: { agent_id: string }) => each.agent_id === agent_id)
  expect(listed.last_run).toMatchObject({ run_id: runId })
  const page = (await member.call('GET', `/v1/agents/runs/${runId}/contacts?limit=1&page=2`)).body
  expect([page.contacts.length, page.pagination.total_items]).toEqual([1, 2])
  const wait = tenant.handle.db.updateTable('agent_run_contacts').set({ status: 'pending' }).where('run_id', '=', runId)
  await wait.where('contact_id', '=', contacts[1] ?? '').execute()
  expect((await member.call('GET', `/v1/agents/runs/${runId}/contacts?limit=1`)).body.done).toBe(page.done - 1)
  await tenant.handle.db.updateTable('agent_runs').set({ status: 'running' }).where('run_id', '=', runId).execute()
  const ended = await member.call('POST', `/v1/agents/runs/${runId}/cancel`)
  expect([ended.status, ended.body.run.status]).toEqual([200, 'cancelled'])
  expect((await member.call('POST', `/v1/agents/runs/${runId}/cancel`)).body.error.code).toBe('run_ended')
})

test('the rules for all agents are read by everybody and set by administrators', async () => {
  const { body } = await member.call('GET', '/v1/agent-settings')
  expect(body).toMatchObject({ settings: { outreach_interval_days: 7, quiet_hours: null }, cost_this_month_usd: 0 })
  const quiet_hours = { from: '20:00', to: '08:00' }
  const set = await admin.call('PATCH', '/v1/agent-settings', { quiet_hours, monthly_cost_cap_usd: 20 })
  expect(set.body.settings).toMatchObject({ quiet_hours, monthly_cost_cap_usd: 20, outreach_interval_days: 7 })
  const wrong = await admin.call('PATCH', '/v1/agent-settings', { reply_pause_days: -1, nonsense: 1 })
  expect([wrong.status, wrong.body.error.details.length]).toEqual([400, 2])
  expect((await member.call('PATCH', '/v1/agent-settings', {})).status).toBe(403)
})

test('templates, variables and schedules are there to choose from', async () => {
  const { playbooks } = (await member.call('GET', '/v1/playbooks')).body
  expect(playbooks.templates.map(({ name }: { name: string }) => name)).toContain('cold_outreach')
  expect(playbooks).toMatchObject({ default_model: null, configured_providers: [] })
  const check = { playbook_md: '{{contact.firstname}} {{contcat.x}} {{variables.mine}} {{variables.none}}' }
  const checked = await admin.call('POST', '/v1/playbooks/check', { ...check, variables: ['mine'] })
  expect(checked.body.unknown).toEqual(['contcat.x', 'variables.none'])
  const next = await member.call('GET', '/v1/schedules?cron=0+9+*+*+1&time_zone=Europe/Berlin')
  expect(next.body.times).toHaveLength(5)
  expect(next.body.times.every((time: string) => new Date(time).getUTCDay() === 1)).toBe(true)
  for (const query of ['', 'cron=nonsense', 'cron=0+9+*+*+1&time_zone=Mars', 'cron=0+0+30+2+*']) {
    expect((await member.call('GET', `/v1/schedules?${query}`)).status, query).toBe(400)
  }
})

test("an identity's mailbox is set after a log-in, changed without the password, checked and taken away", async () => {
  const mailbox = await bench.servers.addMailbox('grace@mail.example')
  const identityId = await insertIdentity(tenant.handle)
  const path = `/api/identities/${identityId}`
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
  // An account whose access tokens are renewed, which the command line has set, keeps what renews them.
  const endpoint = await startReceiver(bench.servers.certificate)
  endpoint.answer = (response) => response.end(JSON.stringify({ access_token: mailbox.accessToken, expires_in: 3600 }))
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

test('identities come page by page, and are searched by the words of name, role and address', async () => {
  const crowded = await createTestTenant(bench.service)
  const viewer = await signedIn(bench.service, crowded.id, 'viewer')
  const make = async (firstName: string, role: string) =>
    (await crowded.call('POST', '/v1/identities', { firstName, lastName: 'Öberg', role })).body.identity.identity_id
  const ids = [await make('Ada', 'Sales'), await make('Bob', '100%_support'), await make('Cleo', 'Sales')]
  const list = async (query: string) => {
    const { body } = await viewer.call('GET', `/api/identities?${query}`)
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
  const { status } = await owner.call('PUT', `/api/identities/${ids[2]}/email-account`, {
    address: mailbox.user,
    smtp: { host: 'localhost', port: bench.servers.smtp.port, security: 'none', user: mailbox.user },
    imap: null,
    password: mailbox.password,
    daily_limit: 10,
    spacing_seconds: 0,
  })
  expect([status, await list('search=cleo%40mail')]).toEqual([200, [[2], 1]])
  expect((await viewer.call('GET', '/api/identities?limit=101')).status).toBe(400)
})
