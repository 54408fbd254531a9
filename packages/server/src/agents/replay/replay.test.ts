import { afterAll, beforeAll, beforeEach, expect, test } from 'vitest'
import { type ScriptedModel, startScriptedModel } from '../../../test/scripted-model.ts'
import { createTestTenant, startTestService, type TestService, type TestTenant } from '../../../test/service.ts'
import { until } from '../../../test/webhooks.ts'
import { costOfMonth } from '../runs/costs.ts'

const PRICES = '{"scripted": {"input": 1, "output": 10}}'
const note = (content: string) => ({ messages: { note: { content } } })

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
  // It proposes to whom the playbook names.
  model.answer = ({ messages }) => {
    const [said = '', data = ''] = [JSON.stringify(messages[0]), JSON.stringify(messages.slice(1))]
    const isMeant = data.includes(said.includes('Write to customers') ? 'customer' : 'ada@example.com')
    const actions = isMeant ? [{ type: 'note', params: { content: 'Seen.' } }] : []
    return { content: { reasoning: isMeant ? 'Meant.' : 'Not meant.', actions } }
  }
})
afterAll(async () => {
  await service.close()
  await model.close()
})

async function createAgent(more: object = {}): Promise<string> {
  const settings = { name: 'Outreach', capabilities: ['notes'], llm_config: { provider: 'template' } }
  const { status, body } = await tenant.call('POST', '/v1/agents', { ...settings, ...more })
  expect([status, body.error]).toEqual([201, undefined])
  return body.agent.agent_id
}

const modeled = () => ({ llm_config: { provider: 'openai_compatible', base_url: model.url, model: 'scripted' } })

const replay = (agentId: string, body: object, key?: string) =>
  tenant.call('POST', `/v1/agents/${agentId}/replay`, body, key)

async function lookAt(agentId: string, ...contact_ids: string[]): Promise<void> {
  const { job_id } = (await tenant.call('POST', `/v1/agents/${agentId}/trigger`, { contact_ids })).body
  await until(async () => {
    expect((await tenant.call('GET', `/v1/agents/runs/${job_id}`)).body.run.status).toBe('completed')
  })
}

async function actionsOf(agentId: string): Promise<number> {
  return (await tenant.call('GET', `/v1/agents/${agentId}/actions`)).body.pagination.total_items
}

const idsOf = ({ items }: { items: { contact_id: string }[] }) => items.map(({ contact_id }) => contact_id)

test('both playbooks are tried on the contacts that the agent looked at last, and nothing is stored', async () => {
  const agentId = await createAgent({ playbook: note('Knows {{contact.firstname}}.') })
  const ada = await tenant.contact('ada@example.com', { firstname: 'Ada' })
  const bob = await tenant.contact('bob@example.com')
  const never = await tenant.contact('never@example.com')
  await lookAt(agentId, ada)
  await lookAt(agentId, bob)
  const before = await actionsOf(agentId)
  const { status, body } = await replay(agentId, { playbook: note('Met {{contact.firstname | somebody}}.') })
  expect(status).toBe(200)
  expect(body).toMatchObject({ provider: 'template', model: null, playbook_version: 1, usage: { cost_usd: 0 } })
  type Side = { proposed_actions: { params: object }[] }
  const paramsOf = (side: Side) => side.proposed_actions.map(({ params }) => params)
  const said = body.items.map(
    (item: { contact_id: string; contact: { email: string }; current: Side; proposed: Side }) => [
      item.contact_id,
      item.contact.email,
      paramsOf(item.current),
      paramsOf(item.proposed),
    ],
  )
  expect(said).toEqual([
    [bob, 'bob@example.com', [], [{ content: 'Met somebody.' }]],
    [ada, 'ada@example.com', [{ content: 'Knows Ada.' }], [{ content: 'Met Ada.' }]],
  ])
  expect(body.items[0].current.reasoning).toContain('Left out')
  expect(body.items[1].proposed.proposed_actions).toMatchObject([{ type: 'note', status: 'approved', error: null }])
  expect(await actionsOf(agentId)).toBe(before)
  const { agent } = (await tenant.call('GET', `/v1/agents/${agentId}`)).body
  expect(agent).toMatchObject({ playbook_version: 1, playbook: note('Knows {{contact.firstname}}.') })

  expect(idsOf((await replay(agentId, { playbook: {}, limit: 1 })).body)).toEqual([bob])
  const named = { match: 'all', conditions: [{ property: 'firstname', operator: 'equals', value: 'Ada' }] }
  expect(idsOf((await replay(agentId, { playbook: {}, filter: named })).body)).toEqual([ada])
  expect(idsOf((await replay(agentId, { playbook: {}, contact_ids: [never, ada] })).body)).toEqual([never, ada])
  const templated = (await replay(agentId, { playbook_template: 'lead_qualification', playbook: { messages: null } }))
    .body
  expect(templated.items[0].proposed.reasoning).toContain('Does not meet the conditions of')
  await tenant.call('POST', `/v1/contacts/${bob}/merge`, { into: ada })
  expect(idsOf((await replay(agentId, { playbook: {} })).body)).toEqual([ada])
})

test("a model's cost of both sides counts for the month and under one cap, and the audit log has an entry", async () => {
  const agentId = await createAgent(modeled())
  const ada = await tenant.contact('ada@example.com')
  const bob = await tenant.contact('bob@example.com', { lifecyclestage: 'customer' })
  const asked = { playbook: { playbook_md: 'Write to customers.' }, contact_ids: [ada, bob] }
  const { body } = await replay(agentId, asked)
  const said = body.items.map(({ current, proposed }: Record<string, { proposed_actions: unknown[] }>) =>
    [current, proposed].map((side) => side?.proposed_actions.length),
  )
  expect(said).toEqual([
    [1, 0],
    [0, 1],
  ])
  expect(body.usage).toEqual({ input_tokens: 4_000, output_tokens: 400, cost_usd: 0.008 })
  expect(await costOfMonth(tenant.handle, new Date())).toBeCloseTo(0.008, 6)
  const entries = await tenant.handle.db
    .selectFrom('audit_log')
    .select(['subject_id', 'details'])
    .where('action', '=', 'agent.replayed')
    .execute()
  const details = { provider: 'openai_compatible', model: 'scripted', contacts: 2, cost_usd: 0.008 }
  expect(entries).toEqual([{ subject_id: agentId, details }])

  model.asked.length = 0
  // One answer may cost 0.04 and some, by its 4,000 tokens: the first two contacts are begun, and no answer follows.
  const capped = { ...asked, playbook: { ...asked.playbook, max_cost_usd_per_run: 0.05 } }
  const { items, notices } = (await replay(agentId, capped)).body
  expect(notices.join()).toContain("The run's cost cap of $0.05 is reached")
  expect(items.flatMap(({ current, proposed }: never) => [current, proposed])).toContainEqual(
    expect.objectContaining({ status: 'skipped', proposed_actions: [] }),
  )
  expect(model.asked.length).toBeLessThan(4)
})

test('what would fail a run fails it, and at most three trials run at the same time', async () => {
  const agentId = await createAgent(modeled())
  const contact_ids = [await tenant.contact('ada@example.com')]
  const answer = Promise.withResolvers<void>()
  model.answer = () => ({ content: { reasoning: 'Late.', actions: [] }, after: answer.promise })
  const running = [1, 2, 3].map(() => replay(agentId, { playbook: {}, contact_ids }))
  await expect.poll(() => model.asked.length).toBe(3)
  const fourth = await replay(agentId, { playbook: {}, contact_ids })
  expect([fourth.status, fourth.body.error.code]).toEqual([409, 'too_many_runs'])
  answer.resolve()
  expect((await Promise.all(running)).map(({ status }) => status)).toEqual([200, 200, 200])
  model.answer = () => ({ status: 401 })
  const refused = await replay(agentId, { playbook: {}, contact_ids })
  expect([refused.status, refused.body.error.code]).toEqual([409, 'run_failed'])
})

test('the playbook is checked as in a change of the agent, and the contacts must be those of the tenant', async () => {
  const agentId = await createAgent()
  const [ada, stranger] = [await tenant.contact('ada@example.com'), await createTestTenant(service)]
  const pathsOf = async (body: object) => {
    const response = await replay(agentId, body)
    return [response.status, ...(response.body.error?.details ?? []).map(({ path }: { path: string }) => path)]
  }
  expect(await pathsOf({ playbook: { playbook_md: '{{contact}}' } })).toEqual([400, 'playbook.playbook_md'])
  expect(await pathsOf({ playbook: {}, playbook_template: 'nonsense' })).toEqual([400, 'playbook_template'])
  expect(await pathsOf({ playbook: {}, contact_ids: [await stranger.contact('eve@example.com')] })).toEqual([
    400,
    'contact_ids[0]',
  ])
  const filter = { match: 'all', conditions: [] }
  expect(await pathsOf({ playbook: {}, contact_ids: [ada], filter })).toEqual([400, 'filter'])
  expect(await pathsOf({ playbook: {}, filter: { match: 'some' } })).toContain('filter.match')
  expect(await pathsOf({ playbook: {}, limit: 21 })).toEqual([400, 'limit'])
  const nobody = (await replay(agentId, { playbook: {} })).body
  expect([nobody.items, nobody.notices.join()]).toEqual([[], expect.stringContaining('No contact was evaluated')])
  const foreign = await stranger.call('POST', `/v1/agents/${agentId}/replay`, { playbook: {} })
  expect(foreign.status).toBe(404)
  for (const scope of ['agents:write', 'agents:trigger']) {
    const response = await replay(agentId, { playbook: {} }, await tenant.keyWith(scope))
    expect([scope, response.status]).toEqual([scope, 403])
  }
})
