import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest'
import { type ScriptedModel, startScriptedModel } from '../../../test/scripted-model.ts'
import { createTestTenant, startTestService, type TestService, type TestTenant } from '../../../test/service.ts'

let service: TestService
let tenant: TestTenant
let model: ScriptedModel

beforeAll(async () => {
  model = await startScriptedModel()
  service = await startTestService({
    CDS_LLM_ALLOW_PRIVATE: '1',
    CDS_OPENAI_API_KEY: 'openai-key',
    CDS_OPENAI_BASE_URL: model.url,
    CDS_ANTHROPIC_API_KEY: 'anthropic-key',
    CDS_ANTHROPIC_BASE_URL: `${model.url}/`,
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

/** Each provider's path, header for the key, and price per million tokens. */
const PROVIDERS = [
  {
    provider: 'openai',
    name: 'gpt-5-mini',
    path: '/v1/responses',
    key: ['authorization', 'Bearer openai-key'],
    price: { input: 0.25, output: 2, cached: 0.025 },
  },
  {
    provider: 'anthropic',
    name: 'claude-haiku-4-5',
    path: '/v1/messages',
    key: ['x-api-key', 'anthropic-key'],
    price: { input: 1, output: 5, cached: 0.1 },
  },
] as const

const note = (content: string) => ({ type: 'note', params: { content } })
const says = (actions: unknown[]) => ({ content: { reasoning: 'Because.', actions } })

async function run(provider: string, contacts = 1, more: object = {}, capabilities = ['notes', 'email']) {
  const agent = { name: 'Modeled', capabilities, llm_config: { provider, ...more } }
  const { body } = await tenant.call('POST', '/v1/agents', agent)
  const contact_ids: string[] = []
  for (let index = 0; index < contacts; index++) contact_ids.push(await tenant.contact(`c${index}@example.com`))
  const triggered = await tenant.call('POST', `/v1/agents/${body.agent.agent_id}/trigger`, { contact_ids })
  const read = async () => (await tenant.call('GET', `/v1/agents/runs/${triggered.body.job_id}`)).body.run
  await expect.poll(async () => (await read()).status).toMatch(/completed|failed/)
  return read()
}

describe.each(PROVIDERS)('$provider', ({ provider, name, path, key, price }) => {
  test('is called through its own API with its own key, and the schema of the answer', async () => {
    model.answer = () => says([note('Seen.')])
    const result = await run(provider)
    expect(result).toMatchObject({
      status: 'completed',
      provider,
      model: name,
      notices: [],
      summary: { contacts_evaluated: 1, actions_proposed: 1, errors: 0 },
      contact_results: [{ reasoning: 'Because.', proposed_actions: [{ type: 'note', params: { content: 'Seen.' } }] }],
    })
    expect(model.asked).toHaveLength(1)
    const [asked] = model.asked
    expect(asked).toMatchObject({ path, headers: { [key[0]]: key[1] }, body: { model: name } })
    expect(asked?.messages.map(({ content }) => content)).toEqual([
      expect.stringContaining('You are the agent "Modeled"'),
      expect.stringContaining('c0@example.com'),
    ])
    expect(asked?.messages[0]?.content).not.toContain('c0@example.com')
  })

  test('accepts schemas with arbitrary property names', async () => {
    const properties = { score: 7, stage: 'hot' }
    model.answer = () => says([{ type: 'crm_update', params: { properties } }])
    const result = await run(provider, 1, {}, ['crm_sync'])
    expect(result.contact_results[0]).toMatchObject({ error: null, proposed_actions: [{ params: { properties } }] })
  })

  test('has its tokens counted, with cached tokens at their own price', async () => {
    const usage = { prompt_tokens: 10_000, completion_tokens: 1_000, cached_tokens: 8_000 }
    model.answer = () => ({ ...says([]), usage })
    const cost_usd = (2_000 * price.input + 8_000 * price.cached + 1_000 * price.output) / 1_000_000
    expect((await run(provider)).usage).toEqual({ input_tokens: 10_000, output_tokens: 1_000, cost_usd })
  })

  test('that returns 401 ends the run with an error that says what to check', async () => {
    model.answer = () => ({ status: 401 })
    const { status, error } = await run(provider, 2)
    expect([status, error]).toEqual(['failed', expect.stringContaining('status 401: check its API key')])
  })

  test('whose URL returns a web page is reported as not being an API', async () => {
    model.answer = () => ({ raw: '<html>Welcome</html>' })
    const result = await run(provider)
    expect(result.contact_results[0]).toMatchObject({ status: 'failed' })
    expect(result.contact_results[0].error).toContain('check base_url')
  })

  test.each([429, 503, 529])('that returns %d is called again after the requested delay', async (status) => {
    model.answer = () =>
      model.asked.length === 1 ? { status, headers: { 'retry-after': '0' } } : says([note('At last.')])
    expect(await run(provider)).toMatchObject({ status: 'completed', summary: { contacts_evaluated: 1, errors: 0 } })
    expect(model.asked).toHaveLength(2)
  })

  test.each([
    [429, 'rate limit is reached'],
    [529, 'is overloaded'],
  ])('that keeps returning %d fails the contact with that error', async (status, words) => {
    model.answer = () => ({ status, headers: { 'retry-after': '0' } })
    const result = await run(provider)
    expect(result).toMatchObject({ status: 'completed', summary: { contacts_evaluated: 0, errors: 1 } })
    expect(result.contact_results[0]).toMatchObject({ status: 'failed' })
    expect(result.contact_results[0].error).toContain(`status ${status}`)
    expect(result.contact_results[0].error).toContain(words)
  })

  test.each([
    ['in the middle of its answer', '{"reasoning": "Ada is'],
    ['before it says anything', ''],
  ])('whose answer is cut off %s is called again once, then reported as cut off', async (_when, content) => {
    model.answer = () => ({ content, isCutOff: true })
    const result = await run(provider, 1, { max_tokens: 50 })
    expect(model.asked).toHaveLength(2)
    expect(model.asked[1]?.messages.at(-1)?.content).toContain('cut off')
    expect(result).toMatchObject({ status: 'completed', usage: { input_tokens: 2_000, output_tokens: 200 } })
    expect(result.contact_results[0]).toMatchObject({ status: 'failed' })
    expect(result.contact_results[0].error).toContain('cut off at 50 tokens')
    expect(result.contact_results[0].error).toContain('llm_config.max_tokens')
  })

  test('that refuses is not called again, and the run reports the refusal', async () => {
    model.answer = () => ({ content: 'I cannot help with that.', refuses: true })
    const result = await run(provider)
    expect(model.asked).toHaveLength(1)
    expect(result.contact_results[0]).toMatchObject({ status: 'failed' })
    expect(result.contact_results[0].error).toContain('refused to answer')
    expect(result.usage.input_tokens).toBe(1_000)
  })

  test.each([
    ['no JSON', 'Sure! I would write to Ada.'],
    ['another shape', { thoughts: 'x' }],
    ['params that lack something', { reasoning: 'x', actions: [{ type: 'email_message', params: { subject: 'x' } }] }],
  ])('that answers %s is called again once with the problem', async (_what, content) => {
    model.answer = () => (model.asked.length === 1 ? { content } : says([note('Second try.')]))
    const result = await run(provider)
    expect(result.summary).toMatchObject({ contacts_evaluated: 1, actions_proposed: 1, errors: 0 })
    expect(result.usage).toMatchObject({ input_tokens: 2_000, output_tokens: 200 })
    expect(model.asked[1]?.messages.at(-1)?.content).toContain('Your answer is not valid')
  })
})
