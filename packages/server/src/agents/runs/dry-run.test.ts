import { afterAll, beforeAll, beforeEach, expect, test } from 'vitest'
import { insertIdentity } from '../../../test/actions.ts'
import { type ScriptedModel, startScriptedModel } from '../../../test/scripted-model.ts'
import { createTestTenant, startTestService, type TestService, type TestTenant } from '../../../test/service.ts'
import { costOfMonth } from './costs.ts'

const PRICES = '{"scripted": {"input": 1, "output": 10}}'
const EVERYBODY = { match: 'all', conditions: [{ property: 'email', operator: 'is_set' }] }

let service: TestService
let tenant: TestTenant
let model: ScriptedModel

beforeAll(async () => {
  model = await startScriptedModel()
  service = await startTestService({ CDS_LLM_ALLOW_PRIVATE: '1', CDS_LLM_PRICES: PRICES })
})
beforeEach(async () => {
  tenant = await createTestTenant(service)
  model.asked.length = 0
  model.answer = () => ({ content: { reasoning: 'Seen.', actions: [{ type: 'note', params: { content: 'Seen.' } }] } })
})
afterAll(async () => {
  await service.close()
  await model.close()
})

const dryRun = (body: object) => tenant.call('POST', '/v1/agents/dry-run', { name: 'Trial', ...body })
const modeled = () => ({
  capabilities: ['notes'],
  llm_config: { provider: 'openai_compatible', base_url: model.url, model: 'scripted' },
})

async function stored() {
  const count = (table: 'agents' | 'agent_runs' | 'agent_actions' | 'agent_run_contacts') =>
    tenant.handle.db
      .selectFrom(table)
      .select(({ fn }) => fn.countAll().as('count'))
      .executeTakeFirstOrThrow()
  const counts = await Promise.all(
    (['agents', 'agent_runs', 'agent_actions', 'agent_run_contacts'] as const).map(count),
  )
  return counts.map(({ count }) => Number(count))
}

const audited = () =>
  tenant.handle.db.selectFrom('audit_log').select('details').where('action', '=', 'agent.dry_run').execute()

test('a dry run says what a run would propose, with its guardrails, and stores nothing', async () => {
  const identity_id = await insertIdentity(tenant.handle)
  const ada = await tenant.contact('ada@example.com', { firstname: 'Ada' })
  const bob = await tenant.contact('bob@example.com', { lifecyclestage: 'customer' })
  const none = await tenant.contact('none@example.com', { do_not_contact: true })
  const { status, body } = await dryRun({
    playbook_template: 'cold_outreach',
    description: 'Writes first',
    enabled: false,
    goal: { event: 'demo_booked' },
    identity_id,
    contact_ids: [ada, bob, none],
  })
  expect(status).toBe(200)
  const { contacts, ...run } = body.dry_run
  expect(run).toMatchObject({ provider: 'template', model: null, usage: { cost_usd: 0 } })
  expect(contacts.map(({ contact_id }: { contact_id: string }) => contact_id)).toEqual([ada, bob, none])
  const [first, second, third] = contacts
  expect(first).toMatchObject({
    contact: { email: 'ada@example.com', firstname: 'Ada' },
    status: 'evaluated',
    error: null,
    proposed_actions: [{ type: 'email_message', identity_id, status: 'pending_approval', error: null }],
  })
  expect(first.proposed_actions[0].params.message).toContain('Hi Ada,\n\nI am writing')
  expect(first.proposed_actions[0].guardrails).toContainEqual(
    expect.objectContaining({ rule: 'mailbox', passed: false }),
  )
  expect(second.proposed_actions).toEqual([])
  expect(third.proposed_actions).toMatchObject([{ status: 'rejected', error: { rule: 'do_not_contact' } }])
  expect(await stored()).toEqual([0, 0, 0, 0])
  expect(await audited()).toEqual([])
})

test('it proposes the same as a run with the same settings', async () => {
  const contact_ids = [await tenant.contact('ada@example.com', { firstname: 'Ada' })]
  const settings = { playbook_template: 'cold_outreach', playbook: { require_approval: false } }
  const { contacts } = (await dryRun({ ...settings, contact_ids })).body.dry_run
  const { agent } = (await tenant.call('POST', '/v1/agents', { name: 'Trial', ...settings })).body
  const { job_id } = (await tenant.call('POST', `/v1/agents/${agent.agent_id}/trigger`, { contact_ids })).body
  const run = async () => (await tenant.call('GET', `/v1/agents/runs/${job_id}`)).body.run
  await expect.poll(async () => (await run()).status).toBe('completed')
  const [result] = (await run()).contact_results
  expect(contacts[0].reasoning).toBe(result.reasoning)
  const shape = ({ type, params, status }: Record<string, unknown>) => ({ type, params, status })
  expect(contacts[0].proposed_actions.map(shape)).toEqual(result.proposed_actions.map(shape))
})

test('without contacts it evaluates the first three of the audience', async () => {
  const ids: string[] = []
  for (const name of ['a', 'b', 'c', 'd']) ids.push(await tenant.contact(`${name}@example.com`))
  const settings = { playbook_template: 'cold_outreach', monitoring: { filter: EVERYBODY } }
  const { contacts } = (await dryRun(settings)).body.dry_run
  expect(contacts.map(({ contact_id }: { contact_id: string }) => contact_id)).toEqual(ids.reverse().slice(0, 3))
  const nobody = (await dryRun({ playbook_template: 'cold_outreach' })).body.dry_run
  expect(nobody.contacts).toEqual([])
  expect(nobody.notices.join()).toContain('No contact was evaluated')
})

test("a model's cost counts for the month, and the audit log has an entry", async () => {
  const contact_ids = [await tenant.contact('ada@example.com'), await tenant.contact('bob@example.com')]
  const { dry_run } = (await dryRun({ ...modeled(), contact_ids })).body
  expect(dry_run).toMatchObject({
    provider: 'openai_compatible',
    model: 'scripted',
    usage: { input_tokens: 2_000, output_tokens: 200, cost_usd: 0.004 },
    contacts: [{ reasoning: 'Seen.', proposed_actions: [{ type: 'note', status: 'approved' }] }, {}],
  })
  expect(await costOfMonth(tenant.handle, new Date())).toBeCloseTo(0.004, 6)
  expect(await audited()).toEqual([
    { details: { provider: 'openai_compatible', model: 'scripted', contacts: 2, cost_usd: 0.004 } },
  ])
  expect(await stored()).toEqual([0, 0, 0, 0])
  const { body } = await tenant.call('GET', `/v1/contacts/${contact_ids[0]}/notes`)
  expect(body.notes).toEqual([])
})

test('the caps of a run and of the month apply', async () => {
  const contact_ids = [await tenant.contact('ada@example.com'), await tenant.contact('bob@example.com')]
  const small = { ...modeled(), contact_ids, playbook: { max_cost_usd_per_run: 0.001 } }
  const { dry_run } = (await dryRun(small)).body
  expect(dry_run.contacts.map(({ status }: { status: string }) => status)).toEqual(['skipped'])
  expect(dry_run.notices.join()).toContain("The run's cost cap of $0.001 is reached")
  expect((await tenant.call('PATCH', '/v1/agent-settings', { monthly_cost_cap_usd: 0.001 })).status).toBe(200)
  const monthly = (await dryRun({ ...modeled(), contact_ids })).body.dry_run
  expect(monthly.notices.join()).toContain('The monthly cost cap of $0.001 is reached')
  expect(model.asked).toEqual([])
  expect(await costOfMonth(tenant.handle, new Date())).toBe(0)
})

test('a contact without a usable answer has an error, and an invalid key fails the dry run', async () => {
  const contact_ids = [await tenant.contact('ada@example.com')]
  model.answer = () => ({ content: 'No JSON.' })
  const [failed] = (await dryRun({ ...modeled(), contact_ids })).body.dry_run.contacts
  expect(failed).toMatchObject({ status: 'failed', error: expect.stringContaining('invalid answer twice') })
  model.answer = () => ({ status: 401 })
  const refused = await dryRun({ ...modeled(), contact_ids })
  expect([refused.status, refused.body.error.code]).toEqual([409, 'run_failed'])
})

test('its settings are checked like those of a new agent, and contacts must be those of the tenant', async () => {
  const invalid = await dryRun({ playbook_template: 'nonsense', monitoring: { schedule_cron: 'never' } })
  expect(invalid.status).toBe(400)
  expect(invalid.body.error.details.map(({ path }: { path: string }) => path)).toEqual([
    'playbook_template',
    'monitoring.schedule_cron',
  ])
  const stranger = await createTestTenant(service)
  const contact_ids = [await stranger.contact('eve@example.com')]
  const foreign = await dryRun({ playbook_template: 'cold_outreach', contact_ids })
  expect([foreign.status, foreign.body.error.details[0].path]).toEqual([400, 'contact_ids[0]'])
  const ids = await Promise.all(['a', 'b', 'c', 'd'].map((name) => tenant.contact(`${name}@example.com`)))
  expect((await dryRun({ playbook_template: 'cold_outreach', contact_ids: ids })).status).toBe(400)
})

test('at most three run at the same time', async () => {
  const contact_ids = [await tenant.contact('ada@example.com')]
  const answer = Promise.withResolvers<void>()
  model.answer = () => ({ content: { reasoning: 'Late.', actions: [] }, after: answer.promise })
  const running = [1, 2, 3].map(() => dryRun({ ...modeled(), contact_ids }))
  await expect.poll(() => model.asked.length).toBe(3)
  const fourth = await dryRun({ ...modeled(), contact_ids })
  expect([fourth.status, fourth.body.error.code]).toEqual([409, 'too_many_runs'])
  answer.resolve()
  expect((await Promise.all(running)).map(({ status }) => status)).toEqual([200, 200, 200])
  model.answer = () => ({ content: { reasoning: 'Done.', actions: [] } })
  expect((await dryRun({ ...modeled(), contact_ids })).status).toBe(200)
})

test('it needs the scopes that write and that run agents', async () => {
  const ada = await tenant.contact('ada@example.com')
  for (const scope of ['agents:write', 'agents:trigger']) {
    const key = await tenant.keyWith(scope)
    const response = await tenant.call('POST', '/v1/agents/dry-run', { name: 'Trial', contact_ids: [ada] }, key)
    expect([scope, response.status]).toEqual([scope, 403])
  }
})

test('a dry run says so if the segment of its audience is deleted while it waits to read it', async () => {
  const created = await tenant.call('POST', '/v1/segments', { name: 'Everybody', filter: EVERYBODY })
  const { segment_id } = created.body.segment
  const body = { capabilities: ['notes'], monitoring: { filter: { segment_id } } }
  expect((await dryRun(body)).status).toBe(200)
  // The tenant's other heavy reads keep it waiting.
  const { lanes } = service.stores.reads
  const others = Promise.withResolvers<void>()
  const reads = Array.from({ length: 16 }, () => tenant.handle.heavyRead(() => others.promise))
  const waiting = lanes.postgres.counts().waiting
  const running = dryRun(body)
  await expect.poll(() => lanes.postgres.counts().waiting).toBe(waiting + 1)
  expect((await tenant.call('DELETE', `/v1/segments/${segment_id}`)).status).toBe(200)
  others.resolve()
  await Promise.all(reads)
  const response = await running
  expect([response.status, response.body.error.code]).toEqual([409, 'unknown_segment'])
})
