import { beforeAll, beforeEach, expect, test } from 'vitest'
import { breakBlocked } from '../../../test/blocked.ts'
import { hold } from '../../../test/runs.ts'
import { createTestTenant, sharedService, type TestService, type TestTenant } from '../../../test/service.ts'
import { newId } from '../../platform/ids.ts'
import { AGENT_ROWS } from './agent-run.ts'
import { triggerRun } from './trigger.ts'

let service: TestService
let tenant: TestTenant

beforeAll(async () => {
  service = await sharedService()
})
beforeEach(async () => {
  tenant = await createTestTenant(service)
})

const EVERYBODY = { match: 'all', conditions: [{ property: 'email', operator: 'is_set' }] }

async function agent(body: object = {}): Promise<string> {
  const response = await tenant.call('POST', '/v1/agents', { name: 'Test', ...body })
  if (response.status !== 201) throw new Error(JSON.stringify(response.body))
  return response.body.agent.agent_id
}

async function trigger(agentId: string, body?: object): Promise<string> {
  const response = await tenant.call('POST', `/v1/agents/${agentId}/trigger`, body)
  if (response.status !== 200) throw new Error(JSON.stringify(response.body))
  return response.body.job_id
}

const read = async (runId: string) => (await tenant.call('GET', `/v1/agents/runs/${runId}`)).body.run

async function ended(runId: string) {
  await expect.poll(async () => (await read(runId)).status).toMatch(/completed|failed|cancelled/)
  return read(runId)
}

const TEMPLATE = { playbook_template: 'cold_outreach', capabilities: ['email'] }

test("a triggered run can be read immediately, and proposes the playbook's actions for each contact", async () => {
  const ada = await tenant.contact('ada@example.com', { firstname: 'Ada', company: 'Engines', lifecyclestage: 'lead' })
  const bob = await tenant.contact('bob@example.com', { firstname: 'Bob', lifecyclestage: 'customer' })
  const agentId = await agent(TEMPLATE)
  const runId = await trigger(agentId, { contact_ids: [ada, bob] })
  expect(await read(runId)).toMatchObject({ _id: runId, run_id: runId, agent_id: agentId, trigger: 'manual' })
  const run = await ended(runId)
  expect(run).toMatchObject({
    status: 'completed',
    provider: 'template',
    summary: { contacts_evaluated: 2, actions_proposed: 1, actions_pending_approval: 1, errors: 0 },
  })
  const [first, second] = run.contact_results
  expect(first).toMatchObject({ contact_id: ada, contact: { email: 'ada@example.com', firstname: 'Ada' } })
  expect(first.proposed_actions).toHaveLength(1)
  expect(first.proposed_actions[0]).toMatchObject({
    action_index: 0,
    type: 'email_message',
    status: 'pending_approval',
    params: { subject: 'A question for Engines', message: expect.stringContaining('Hi Ada,') },
  })
  expect(second.proposed_actions).toEqual([])
  expect(second.reasoning).toContain('Does not meet the conditions of “Cold outreach”')
  const summary = (await tenant.call('GET', `/v1/agents/runs/${runId}?mode=summary`)).body.run
  expect(summary).not.toHaveProperty('contact_results')
  expect(summary).toMatchObject({ status: 'completed', summary: run.summary })
})

test.each([{ has_opted_out_of_email: true }, { hs_email_optout: true }, { doNotContact: true }])(
  'outreach to a contact that was created with %j is rejected, and cannot be approved',
  async (properties) => {
    const contactId = await tenant.contact('o@acme.example', properties)
    const run = await ended(await trigger(await agent(TEMPLATE), { contact_ids: [contactId] }))
    const [{ proposed_actions }] = run.contact_results
    expect(proposed_actions).toMatchObject([{ action_index: 0, status: 'rejected', error: { rule: 'unsubscribed' } }])
    const path = `/v1/agents/runs/${run.run_id}/contacts/${contactId}/actions/0/approve`
    const { status, body } = await tenant.call('POST', path)
    expect([status, body.error.code]).toEqual([409, 'invalid_action_state'])
  },
)

test('a run in progress has its start time, even before its first contact', async () => {
  const ada = await tenant.contact('ada@example.com')
  const runId = await trigger(await agent(TEMPLATE), { contact_ids: [ada] })
  const seen = new Set<string>()
  for (let run = await read(runId); ; run = await read(runId)) {
    seen.add(`${run.status} ${run.started_at === null ? 'not started' : 'started'}`)
    if (run.status === 'completed') break
  }
  expect([...seen]).not.toContain('running not started')
  expect([...seen]).toContain('completed started')
})

const waitingIn = (results: { proposed_actions: { status: string }[] }[]) =>
  results.flatMap((result) => result.proposed_actions).filter(({ status }) => status === 'pending_approval').length

test('a run does not propose again what already waits for approval for the contact, and reports that', async () => {
  const ada = await tenant.contact('ada@example.com', { lifecyclestage: 'lead' })
  const agentId = await agent(TEMPLATE)
  const first = await ended(await trigger(agentId, { contact_ids: [ada] }))
  expect(first).toMatchObject({ summary: { actions_proposed: 1, actions_skipped: 0 } })
  const second = await ended(await trigger(agentId, { contact_ids: [ada] }))
  expect(second.summary).toMatchObject({
    contacts_evaluated: 1,
    actions_proposed: 0,
    actions_pending_approval: 0,
    actions_skipped: 1,
    errors: 0,
  })
  const waits = { reason: 'waits_for_approval', run_id: first.run_id, action_index: 0 }
  expect(second.contact_results).toMatchObject([
    { status: 'evaluated', proposed_actions: [], skipped_actions: [{ type: 'email_message', ...waits }] },
  ])
  const other = await ended(await trigger(await agent(TEMPLATE), { contact_ids: [ada] }))
  expect(waitingIn(other.contact_results)).toBe(1)
  const path = `/v1/agents/runs/${first.run_id}/contacts/${ada}/actions/0/reject`
  expect((await tenant.call('POST', path)).status).toBe(200)
  // The text that was rejected is not proposed again.
  const messages = { email_message: { subject: 'Another', message: 'Another text.' } }
  expect((await tenant.call('PATCH', `/v1/agents/${agentId}`, { playbook: { messages } })).status).toBe(200)
  const third = await ended(await trigger(agentId, { contact_ids: [ada] }))
  expect(third.summary).toMatchObject({ actions_proposed: 1, actions_skipped: 0 })
  expect(third.contact_results[0].proposed_actions[0]).toMatchObject({ action_index: 0, status: 'pending_approval' })
})

test('of two concurrent runs one proposes for each contact', async () => {
  const contacts: string[] = []
  for (let index = 0; index < 25; index++) {
    contacts.push(await tenant.contact(`c${index}@example.com`, { lifecyclestage: 'lead' }))
  }
  const agentId = await agent(TEMPLATE)
  const ids = await Promise.all([1, 2, 3].map(() => trigger(agentId, { contact_ids: contacts })))
  const runs = await Promise.all(ids.map(ended))
  expect(runs.map((run) => waitingIn(run.contact_results)).reduce((sum, count) => sum + count)).toBe(25)
  expect(runs.map(({ summary }) => summary.actions_skipped).reduce((sum, count) => sum + count)).toBe(50)
})

test('without contact_ids the monitoring filter chooses contacts, first those that were never evaluated', async () => {
  const ids: string[] = []
  for (const name of ['a', 'b', 'c']) ids.push(await tenant.contact(`${name}@example.com`))
  const agentId = await agent({ ...TEMPLATE, monitoring: { filter: EVERYBODY, max_contacts_per_run: 2 } })
  const seen = async () =>
    (await ended(await trigger(agentId))).contact_results.map((result: { contact_id: string }) => result.contact_id)
  expect(await seen()).toEqual([ids[2], ids[1]])
  const [next, after] = await seen()
  expect(next).toBe(ids[0])
  expect([ids[1], ids[2]]).toContain(after)
})

test('a run of an agent without a filter reports that it evaluated no contacts', async () => {
  const run = await ended(await trigger(await agent()))
  expect(run).toMatchObject({ status: 'completed', summary: { contacts_evaluated: 0 }, contact_results: [] })
  expect(run.notices.join()).toContain('no monitoring.filter')
})

test('unknown contacts are named, and no run is queued', async () => {
  const known = await tenant.contact('ada@example.com')
  const agentId = await agent()
  const stranger = await createTestTenant(service)
  const theirs = await stranger.contact('eve@example.com')
  const response = await tenant.call('POST', `/v1/agents/${agentId}/trigger`, { contact_ids: [known, theirs, 'x'] })
  expect([response.status, response.body.error.code]).toEqual([400, 'validation_error'])
  expect(response.body.error.details.map(({ path }: { path: string }) => path)).toEqual([
    'contact_ids[1]',
    'contact_ids[2]',
  ])
  expect((await tenant.call('GET', `/v1/agents/${agentId}/runs`)).body.runs).toEqual([])
  for (const body of [{ contact_ids: [] }, { contact_ids: 'x' }, { contact_ids: Array(1_001).fill(known) }, { x: 1 }]) {
    expect((await tenant.call('POST', `/v1/agents/${agentId}/trigger`, body)).status).toBe(400)
  }
})

test('runs are listed newest first, filtered by status, and deleted with their agent', async () => {
  const agentId = await agent()
  const ids: string[] = []
  for (let count = 0; count < 3; count++) ids.unshift(await trigger(agentId))
  for (const id of ids) await ended(id)
  const path = `/v1/agents/${agentId}/runs`
  const { body } = await tenant.call('GET', `${path}?limit=2&offset=1`)
  expect(body).toMatchObject({ status: 'success', total: 3, limit: 2, offset: 1 })
  expect(body.runs.map(({ _id }: { _id: string }) => _id)).toEqual(ids.slice(1))
  expect((await tenant.call('GET', `${path}?status=completed`)).body.total).toBe(3)
  expect((await tenant.call('GET', `${path}?status=failed`)).body).toMatchObject({ total: 0, runs: [] })
  for (const query of ['status=done', 'limit=0', 'limit=101', 'offset=-1', 'mode=x&limit=x']) {
    expect((await tenant.call('GET', `${path}?${query}`)).status).toBe(400)
  }
  expect((await tenant.call('DELETE', `/v1/agents/${agentId}`)).body.deleted).toBe(true)
  for (const id of ids) expect((await tenant.call('GET', `/v1/agents/runs/${id}`)).status).toBe(404)
  expect((await tenant.call('GET', `/v1/agents/runs/${newId()}`)).body.error.code).toBe('not_found')
  expect((await tenant.call('GET', path)).status).toBe(404)
})

test('concurrent triggers queue no more runs than the limit allows', async () => {
  const agentId = await agent()
  // No process works on them, so they stay queued.
  const trigger = () =>
    tenant.handle.transaction(async (tx) => {
      await hold(AGENT_ROWS, tx, await triggerRun(tx, agentId, null, { kind: 'service' }, new Date()))
    })
  for (let count = 0; count < 98; count++) await trigger()
  const asked = await Promise.allSettled(Array.from({ length: 8 }, trigger))
  expect(asked.filter(({ status }) => status === 'fulfilled')).toHaveLength(2)
  expect(asked.find(({ status }) => status === 'rejected')).toMatchObject({ reason: { code: 'too_many_runs' } })
})

test('a run evaluates a contact again when its connection to PostgreSQL breaks while it records the contact', async () => {
  const ada = await tenant.contact('ada@example.com', { lifecyclestage: 'lead' })
  const agentId = await agent(TEMPLATE)
  const { pool } = service.postgres
  const client = await pool.connect()
  try {
    await client.query('BEGIN; LOCK TABLE agent_actions IN SHARE MODE')
    const { pid } = (await client.query('SELECT pg_backend_pid() AS pid')).rows[0]
    const runId = await trigger(agentId, { contact_ids: [ada] })
    await breakBlocked(pool, pid)
    await client.query('ROLLBACK')
    expect(await ended(runId)).toMatchObject({
      status: 'completed',
      summary: { contacts_evaluated: 1, actions_proposed: 1, errors: 0 },
      contact_results: [{ status: 'evaluated' }],
    })
  } finally {
    await client.query('ROLLBACK')
    client.release()
  }
})
