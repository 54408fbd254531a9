import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest'
import { type ScriptedModel, startScriptedModel } from '../../../test/scripted-model.ts'
import { createTestTenant, startTestService, type TestService, type TestTenant } from '../../../test/service.ts'

/** What models look up, and what people see of it. */

let service: TestService
let tenant: TestTenant
let model: ScriptedModel

beforeAll(async () => {
  model = await startScriptedModel()
  service = await startTestService({
    CDS_LLM_ALLOW_PRIVATE: '1',
    CDS_LLM_BASE_URL: model.url,
    CDS_LLM_MODEL: 'scripted',
    CDS_LLM_PRICES: '{"scripted": {"input": 1, "output": 10}}',
    CDS_OPENAI_API_KEY: 'openai-key',
    CDS_OPENAI_BASE_URL: model.url,
    CDS_ANTHROPIC_API_KEY: 'anthropic-key',
    CDS_ANTHROPIC_BASE_URL: model.url,
  })
})
beforeEach(async () => {
  tenant = await createTestTenant(service)
  model.asked.length = 0
})
afterAll(async () => {
  await service.close()
  await model.close()
})

interface Given {
  llm_config?: object
  capabilities?: string[]
  playbook?: object
}

async function run(contactIds: string[], { capabilities = ['email', 'notes'], ...given }: Given = {}) {
  const created = await tenant.call('POST', '/v1/agents', { name: 'Curious', capabilities, ...given })
  if (created.status !== 201) throw new Error(JSON.stringify(created.body))
  const path = `/v1/agents/${created.body.agent.agent_id}/trigger`
  const { body } = await tenant.call('POST', path, { contact_ids: contactIds })
  const read = async () => (await tenant.call('GET', `/v1/agents/runs/${body.job_id}`)).body.run
  await expect.poll(async () => (await read()).status).toMatch(/completed|failed/)
  return read()
}

const note = (content: string) => ({ type: 'note', params: { content } })
const says = (actions: unknown[], reasoning = 'Because.') => ({ content: { reasoning, actions } })
const call = (name: string, given: object = {}) => ({ name, arguments: given })
/** Calls tools in its first answer, and then answers. */
const calling =
  (calls: ReturnType<typeof call>[], actions: unknown[] = []): ScriptedModel['answer'] =>
  ({ messages }) =>
    messages.some(({ role }) => role === 'tool') ? says(actions) : { calls }
const results = (asked = model.asked.at(-1)) =>
  (asked?.messages ?? []).flatMap(({ role, content }) => (role === 'tool' ? content : [])).join('\n')
const offered = (body: Record<string, { name?: string; function?: { name: string } }[]> = {}) =>
  (body.tools ?? []).map((each) => each.name ?? each.function?.name)

describe.each(['openai', 'anthropic', 'openai_compatible'])('a model of %s', (provider) => {
  test('looks something up in its own format, and the run shows what', async () => {
    const ada = await tenant.contact('ada@example.com', { firstname: 'Ada', company: 'Engines' })
    await tenant.contact('bob@example.com', { firstname: 'Bob', company: 'Engines', jobtitle: 'Buyer' })
    model.answer = calling([call('search_contacts', { query: 'Engines' })], [note('Bob buys.')])
    const result = await run([ada], { llm_config: { provider } })
    expect(result).toMatchObject({ status: 'completed', provider, usage: { input_tokens: 2_000, output_tokens: 200 } })
    const [{ tool_calls: calls, proposed_actions: actions }] = result.contact_results
    expect(actions).toMatchObject([{ type: 'note', params: { content: 'Bob buys.' }, auto_approved: true }])
    expect(calls).toEqual([
      {
        tool: 'search_contacts',
        title: 'Search contacts',
        arguments: { query: 'Engines' },
        characters: expect.any(Number),
        error: null,
        at: expect.any(String),
      },
    ])
    expect(results()).toContain('bob@example.com')
    expect(calls[0].characters).toBe(results().length)
    expect(model.asked).toHaveLength(2)
  })

  test('is cut at tools_max and must answer then', async () => {
    const ada = await tenant.contact('ada@example.com')
    model.answer = ({ body }) => {
      const choice = body.tool_choice?.type ?? body.tool_choice
      return choice === 'none' ? says([note('Enough.')]) : { calls: [call('list_segments'), call('list_segments')] }
    }
    const result = await run([ada], { llm_config: { provider, tools_max: 3 } })
    const [{ tool_calls: calls, proposed_actions: actions }] = result.contact_results
    expect(calls).toHaveLength(3)
    expect(actions).toMatchObject([{ params: { content: 'Enough.' } }])
    expect(results()).toContain('No calls are left')
    expect(model.asked).toHaveLength(3)
  })
})

test('only tools that read contacts, companies, events and segments are offered, and none at tools_max 0', async () => {
  const ada = await tenant.contact('ada@example.com')
  model.answer = () => says([])
  await run([ada])
  const names = offered(model.asked[0]?.body)
  expect(names).toEqual(
    expect.arrayContaining(['search_contacts', 'get_contact', 'contact_timeline', 'aggregate', 'conversations']),
  )
  for (const name of [
    ...['add_note', 'update_contact', 'create_segment', 'run_agent', 'propose_action', 'decide_approval'],
    ...['list_webhooks', 'list_approvals', 'run_result'],
  ]) {
    expect(names).not.toContain(name)
  }
  // One that calls tools nevertheless gets nothing.
  model.answer = () => ({ calls: [call('list_segments')] })
  const { contact_results: contacts } = await run([ada], { llm_config: { tools_max: 0 } })
  expect(contacts).toMatchObject([{ status: 'failed', tool_calls: [] }])
  expect(model.asked).toHaveLength(3)
  expect(model.asked.at(-1)?.body).not.toHaveProperty('tools')
  const created = await tenant.call('POST', '/v1/agents', { name: 'x', llm_config: { tools_max: 21 } })
  expect([created.status, created.body.error.details[0].path]).toEqual([400, 'llm_config.tools_max'])
})

test('a model that ignores that no calls are left fails its contact, not the run', async () => {
  const [ada, bob] = [await tenant.contact('ada@example.com'), await tenant.contact('bob@example.com')]
  model.answer = ({ messages }) =>
    messages[1]?.content.includes('ada@example.com') ? { calls: [call('list_segments')] } : says([note('x')])
  const result = await run([ada, bob], { llm_config: { tools_max: 1 } })
  expect(result).toMatchObject({ status: 'completed', summary: { contacts_evaluated: 1, errors: 1 } })
  const [failed] = result.contact_results
  expect(failed).toMatchObject({ status: 'failed', tool_calls: [{ tool: 'list_segments' }] })
  expect(failed.error).toContain('no calls are left')
})

test('a tool that writes, a stranger’s contact and wrong arguments are errors that the model reads, and change nothing', async () => {
  const other = await createTestTenant(service)
  const stranger = await other.contact('stranger@example.com')
  const ada = await tenant.contact('ada@example.com')
  model.answer = calling([
    call('add_note', { contact_id: ada, content: 'Planted.' }),
    call('get_contact', { contact_id: stranger }),
    call('search_contacts', { limit: 999 }),
    call('update_agent\u0000', { enabled: true, text: 'a\u0000b' }),
    call('decide_approval', { decision: 'approve' }),
  ])
  const result = await run([ada])
  const [{ tool_calls: calls }] = result.contact_results
  expect(calls.map(({ error }: { error: string }) => error)).toEqual([
    'There is no tool add_note.',
    expect.stringContaining('not_found'),
    expect.stringContaining('must be a whole number from 1 to 50'),
    expect.stringContaining('There is no tool update_agent'),
    'There is no tool decide_approval.',
  ])
  expect(results()).not.toContain('stranger@example.com')
  expect((await tenant.call('GET', `/v1/contacts/${ada}/notes`)).body.notes).toEqual([])
})

test('results lack what prompts lack: properties that the tenant hides from AI agents, and numbers of documents', async () => {
  await tenant.call('PATCH', '/v1/tenant', { personal_properties: ['salary', 'city', 'Job Title'] })
  const hidden = { salary: 'salarytoken', city: 'citytoken', jobtitle: 'jobtoken', passport_number: 'passtoken' }
  const ada = await tenant.contact('ada@example.com')
  const bob = await tenant.contact('bob@example.com', { firstname: 'Bobby', ...hidden, last_ip: '203.0.113.77' })
  await tenant.call('POST', '/v1/events', { events: [{ contact_id: bob, event: 'signup' }] })
  model.answer = calling([
    call('get_contact', { contact_id: bob, include_sources: true }),
    call('query_events', { contact_id: bob }),
    call('aggregate', { entity: 'contacts', group_by: 'salary' }),
    call('search_contacts', { query: 'Bobby', fields: 'salary,city' }),
  ])
  const result = await run([ada])
  expect(result.contact_results[0].tool_calls.map(({ error }: { error: string | null }) => error)).toEqual([
    ...[null, null, null, null],
  ])
  expect(results()).toContain('Bobby')
  expect(results()).toContain('bob@example.com')
  for (const value of [...Object.values(hidden), '203.0.113.77']) expect(results()).not.toContain(value)
})

describe('an agent that hides personal data from its model', () => {
  const redacting = { redact_personal_data: true }

  test('sends no name, address or text of a person, and proposes with the real values', async () => {
    const ada = await tenant.contact('ada@secret.example', { firstname: 'Adelheid', lastname: 'Lovelace' })
    await tenant.contact('bernadette@secret.example', { firstname: 'Bernadette', lastname: 'Lovelace' })
    await tenant.call('POST', `/v1/contacts/${ada}/notes`, { content: 'Adelheid loves looms.' })
    const mail = { subject: `Hi firstname:${ada}`, message: `Hi firstname:${ada},\n\nHow are you?` }
    model.answer = calling(
      [call('search_contacts', { query: `lastname:${ada}` })],
      [{ type: 'email_message', params: mail }],
    )
    const { contact_results: contacts } = await run([ada], { llm_config: redacting })
    expect(contacts[0].proposed_actions).toMatchObject([{ params: { subject: 'Hi Adelheid' } }])
    expect(contacts[0].tool_calls).toMatchObject([{ arguments: { query: 'Lovelace' }, error: null }])
    expect(JSON.stringify(model.asked.map(({ body }) => body))).not.toMatch(
      /adelheid|bernadette|lovelace|secret\.example|looms/i,
    )
  })

  test.each([
    [
      'another contact',
      (id: string) => ({ type: 'email_message', params: { subject: 'x', message: `firstname:${id}` } }),
    ],
    ['nobody', () => note('email:00000000-0000-7000-8000-000000000000')],
  ])('accepts no pseudonym of %s', async (_, action) => {
    const ada = await tenant.contact('ada@example.com', { firstname: 'Ada' })
    const bob = await tenant.contact('bob@example.com', { firstname: 'Bob' })
    model.answer = () => says([action(bob)])
    const { contact_results: contacts } = await run([ada], { llm_config: redacting })
    expect(contacts[0]).toMatchObject({ status: 'failed', proposed_actions: [] })
    expect(model.asked).toHaveLength(2)
  })
})

test('each turn of a model is reserved and counted: a cap ends a contact before the turn that could exceed it', async () => {
  const ada = await tenant.contact('ada@example.com')
  model.answer = ({ messages }) => ({
    ...calling([call('list_segments')])({ messages } as never),
    usage: { prompt_tokens: 30_000, completion_tokens: 100 },
  })
  const llm_config = { max_tokens: 100 }
  const free = await run([ada], { llm_config })
  expect(free.usage).toMatchObject({ input_tokens: 60_000, cost_usd: 0.062 })
  const capped = await run([ada], { llm_config, playbook: { max_cost_usd_per_run: 0.04 } })
  expect(capped).toMatchObject({ status: 'completed', usage: { input_tokens: 30_000 }, summary: { errors: 1 } })
  expect(capped.contact_results[0].error).toContain('The cost cap did not allow its answer')
  expect(capped.contact_results[0].tool_calls).toHaveLength(1)
})

test('a dry run shows what was looked up', async () => {
  const ada = await tenant.contact('ada@example.com')
  model.answer = calling([call('list_segments')])
  const { body } = await tenant.call('POST', '/v1/agents/dry-run', { name: 'Curious', contact_ids: [ada] })
  expect(body.dry_run.contacts).toMatchObject([{ status: 'evaluated', tool_calls: [{ tool: 'list_segments' }] }])
})

test('when a contact is erased, what models looked up about it for others is forgotten', async () => {
  const [ada, bob] = [await tenant.contact('ada@example.com'), await tenant.contact('bob.erased@example.com')]
  model.answer = calling([call('search_contacts', { query: 'Bob.Erased@example.com' }), call('list_segments')])
  const { run_id } = await run([ada])
  const { body } = await tenant.call('POST', '/v1/erasures', { contact_id: bob })
  const read = async () => (await tenant.call('GET', `/v1/erasures/${body.receipt.erasure_id}`)).body.receipt.status
  await expect.poll(read).not.toBe('running')
  const { contact_results: contacts } = (await tenant.call('GET', `/v1/agents/runs/${run_id}`)).body.run
  expect(contacts[0].tool_calls).toMatchObject([
    { tool: 'search_contacts', arguments: {} },
    { tool: 'list_segments', arguments: {} },
  ])
  expect(JSON.stringify(contacts)).not.toMatch(/bob\.erased/i)
})
