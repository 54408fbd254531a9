import { afterAll, beforeAll, expect, test } from 'vitest'
import { insertIdentity, MAIL, NOTE, propose } from '../../../test/actions.ts'
import { type MailBench, startMailBench } from '../../../test/mail.ts'
import { type Browser, signedIn } from '../../../test/people.ts'
import { createTestTenant, type TestTenant } from '../../../test/service.ts'

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

test('waiting actions are listed with contact, agent, sender and reasoning, and paged', async () => {
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

test("an agent's actions are listed newest first, by status and contact, and paged", async () => {
  const { agentId, place: first } = await waiting()
  const { place, path } = await waiting({ agentId })
  await waiting()
  await admin.call('POST', `${path}/reject`)
  const list = async (query = '') => (await member.call('GET', `/v1/agents/${agentId}/actions${query}`)).body
  const { actions, pagination } = await list()
  expect(actions).toMatchObject([
    { ...place, status: 'rejected' },
    { ...first, status: 'pending_approval' },
  ])
  expect(pagination.total_items).toBe(2)
  expect((await list('?status=rejected')).actions).toMatchObject([place])
  expect((await list(`?contact_id=${place.contact_id}`)).actions).toMatchObject([place])
  expect((await list(`?status=executed&contact_id=${place.contact_id}`)).pagination.total_items).toBe(0)
  expect((await list('?limit=1&page=2')).actions).toMatchObject([first])
  expect((await list('?status=asleep')).error.code).toBe('validation_error')
  expect((await member.call('GET', `/v1/agents/${place.run_id}/actions`)).body.error.code).toBe('not_found')
})

test('a malformed reference is 404, and then no action is decided', async () => {
  const { place, path } = await waiting()
  const actions = [place, { ...place, run_id: 'none' }]
  const responses = [
    await member.call('GET', '/v1/approvals?agent_id=none'),
    await admin.call('POST', '/v1/approvals/approve', { actions }),
    await admin.call('POST', '/v1/approvals/reject', { actions }),
  ]
  for (const { status, body } of responses) expect([status, body.error.code]).toEqual([404, 'not_found'])
  expect((await member.call('GET', path)).body.action.status).toBe('pending_approval')
})

test('an action can be approved with an edited text', async () => {
  const { path, place } = await waiting()
  const params = { subject: 'Better', message: 'Written by a person.' }
  const { status, body } = await member.call('POST', `${path}/approve`, { params })
  expect([status, body.action.status, body.action.params]).toEqual([200, 'approved', params])
  const { entries } = (await admin.call('GET', '/v1/audit-log?subject_kind=action')).body
  const entry = entries.find(({ details }: { details: { run_id?: string } }) => details.run_id === place.run_id)
  expect(entry ?? entries[0]).toMatchObject({ actor: { kind: 'user', name: 'The member' } })
})

test('an invalid edit is refused with the field, and the action keeps waiting', async () => {
  const { path } = await waiting()
  const wrong = await member.call('POST', `${path}/approve`, { params: { subject: '', to: 'else@example.com' } })
  expect([wrong.status, wrong.body.error.code]).toEqual([400, 'validation_error'])
  expect((await member.call('POST', `${path}/approve`)).status).toBe(200)
})

test('the second person to decide is told who decided first and when', async () => {
  const { path } = await waiting()
  expect((await admin.call('POST', `${path}/reject`, { reason: 'Too soon.' })).body.action.status).toBe('rejected')
  const late = await member.call('POST', `${path}/approve`)
  expect([late.status, late.body.error.code]).toEqual([409, 'invalid_action_state'])
  expect(late.body.error.message).toMatch(/^The admin already rejected this action, at 20\d\d-.* UTC\.$/)
  expect((await admin.call('POST', `${path}/reject`)).body.error.message).toMatch(/^You already rejected/)
})

test('several actions can be decided in one call, independently', async () => {
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

test('agents are listed with their latest run; a run is paged and can be cancelled', async () => {
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

test('all members can read the rules for all agents; only administrators can change them', async () => {
  const { body } = await member.call('GET', '/v1/agent-settings')
  expect(body).toMatchObject({ settings: { outreach_interval_days: 7, quiet_hours: null }, cost_this_month_usd: 0 })
  const quiet_hours = { from: '20:00', to: '08:00' }
  const set = await admin.call('PATCH', '/v1/agent-settings', {
    quiet_hours,
    monthly_cost_cap_usd: 20,
    time_zone: 'Europe/Berlin',
    daily_limit_per_identity: 40,
  })
  expect(set.body.settings).toMatchObject({ quiet_hours, monthly_cost_cap_usd: 20, outreach_interval_days: 7 })
  const wrong = await admin.call('PATCH', '/v1/agent-settings', { reply_pause_days: -1, nonsense: 1 })
  expect([wrong.status, wrong.body.error.details.length]).toEqual([400, 2])
  expect((await member.call('PATCH', '/v1/agent-settings', {})).status).toBe(403)
})

test('templates, variables and schedules are listed', async () => {
  const { playbooks } = (await member.call('GET', '/v1/playbooks')).body
  expect(playbooks.templates.map(({ name }: { name: string }) => name)).toContain('cold_outreach')
  expect(playbooks).toMatchObject({ default_model: null, configured_providers: [] })
  const check = { playbook_md: '{{contact.firstname}} {{contcat.x}} {{variables.mine}} {{variables.none}}' }
  const checked = await admin.call('POST', '/v1/playbooks/check', {
    ...check,
    variables: ['mine'],
    playbook_template: 'cold_outreach',
  })
  expect(checked.body.unknown).toEqual(['contcat.x', 'variables.none'])
  const next = await member.call('GET', '/v1/schedules?cron=0+9+*+*+1&time_zone=Europe/Berlin')
  expect(next.body.times).toHaveLength(5)
  expect(next.body.times.every((time: string) => new Date(time).getUTCDay() === 1)).toBe(true)
  for (const query of ['', 'cron=nonsense', 'cron=0+9+*+*+1&time_zone=Mars', 'cron=0+0+30+2+*']) {
    expect((await member.call('GET', `/v1/schedules?${query}`)).status, query).toBe(400)
  }
})
