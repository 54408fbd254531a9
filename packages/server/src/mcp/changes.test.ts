import { afterAll, beforeAll, beforeEach, expect, test } from 'vitest'
import { MAIL, propose } from '../../test/actions.ts'
import { callMcp, dataOf, textOf } from '../../test/mcp.ts'
import { allow, McpApp, startOAuthService } from '../../test/oauth.ts'
import { signedIn } from '../../test/people.ts'
import { createTestTenant, type TestService, type TestTenant } from '../../test/service.ts'
import { OPERATIONS } from '../assembly/all-operations.ts'
import type { Operation } from '../operations/declare.ts'
import { audited } from './audited.ts'
import { TOOLS } from './tools/all-tools.ts'

let service: TestService
let tenant: TestTenant
let id: string

beforeAll(async () => {
  service = await startOAuthService()
})
beforeEach(async () => {
  tenant = await createTestTenant(service)
  id = await tenant.contact('ottilie@example.com', { firstname: 'Ottilie', salary: 98_765 })
})
afterAll(() => service.close())

/** Calls a tool, by default with a key from which personal values are hidden. */
async function use(name: string, args: object, key = tenant.key) {
  const { body } = await callMcp(service, key, 'tools/call', { name, arguments: args })
  return body.result
}

const FILTER = (property: string, operator: string, value: unknown) => ({
  match: 'all',
  conditions: [{ match: 'any', conditions: [{ property, operator, value }] }],
})

async function changeAll(key: string) {
  await use('add_note', { contact_id: id, content: 'Wants a demo.' }, key)
  await use('update_contact', { contact_id: id, properties: { plan: 'pro' } }, key)
  await use('create_segment', { name: 'Pro', filter: FILTER('plan', 'equals', 'pro') }, key)
  const { entries } = (await tenant.call('GET', '/v1/audit-log')).body
  return entries
}

const CHANGED = [
  { action: 'segment.created' },
  { action: 'contact.updated', subject_kind: 'contact', details: { fields: ['plan'] } },
  { action: 'note.created', subject_kind: 'contact', details: { note_id: expect.any(String) } },
]

test('what a key changes is in the audit log under its name', async () => {
  const { key_id } = (await tenant.call('GET', '/v1/api-keys')).body.keys[0]
  const actor = { kind: 'api_key', id: key_id, name: 'all' }
  expect(await changeAll(tenant.key)).toMatchObject(CHANGED.map((entry) => ({ ...entry, actor })))
})

test('what a connected application changes is in the audit log under the name of its person', async () => {
  const app = new McpApp(service)
  const query = await app.connect()
  const person = await signedIn(service, tenant.id, 'admin')
  const scopes = ['contacts:read', 'contacts:write', 'segments:read', 'segments:write']
  const { body } = await allow(person, query, tenant.id, { scopes })
  const { access_token } = await app.comeBack(body.redirect_to)
  const actor = { kind: 'user', name: expect.stringContaining(' (via Claude)') }
  expect((await changeAll(access_token)).slice(0, 3)).toMatchObject(CHANGED.map((entry) => ({ ...entry, actor })))
})

test('every operation that tools use is audited if it changes something', () => {
  const operations = new Map(OPERATIONS.map((each) => [each.name, each as Operation<object>]))
  for (const name of new Set(TOOLS.flatMap(({ uses }) => uses))) {
    const operation = operations.get(name)
    if (operation === undefined) throw new Error(`There is no operation ${name}.`)
    expect(() => audited(operation)).not.toThrow()
  }
})

test.each([
  ['update_contact', () => ({ contact_id: id, properties: { firstname: `firstname:${id}` } })],
  ['update_contact', () => ({ contact_id: id, properties: { tags: ['x', `email:${id}`] } })],
  ['create_segment', () => ({ name: `firstname:${id}`, filter: FILTER('plan', 'equals', 'pro') })],
  ['create_segment', () => ({ name: 'x', filter: FILTER('firstname', 'equals', `firstname:${id}`) })],
  ['aggregate', () => ({ entity: 'contacts', group_by: 'country', filters: { industry: `firstname:${id}` } })],
  ['search_companies', () => ({ filter: FILTER('name', 'equals', `firstname:${id}`) })],
])('%s refuses a pseudonym that it would use as the value itself', async (name, args) => {
  expect(textOf(await use(name, args()))).toMatch(/^pseudonym_not_allowed: /)
  const { properties } = (await tenant.call('GET', `/v1/contacts/${id}`)).body.contact
  expect([properties.firstname, properties.tags]).toEqual(['Ottilie', undefined])
})

test('a proposed change of properties cannot contain pseudonyms', async () => {
  const agent = { name: 'Follow-up', enabled: true, capabilities: ['crm_sync'] }
  const agentId = (await tenant.call('POST', '/v1/agents', agent)).body.agent.agent_id
  const params = { properties: { industry: `firstname:${id}` } }
  const proposal = { agent_id: agentId, contact_id: id, type: 'crm_update', params, reason: 'It fits.' }
  expect(textOf(await use('propose_action', proposal))).toMatch(/^pseudonym_not_allowed: /)
})

test('a pseudonym names its contact in the filters of aggregate', async () => {
  await tenant.call('POST', '/v1/events', { events: [{ event: 'page_view', email: 'ottilie@example.com' }] })
  for (const filters of [{ contact_id: `email:${id}` }, { contact_ids: [`firstname:${id}`] }]) {
    expect(dataOf(await use('aggregate', { entity: 'events', group_by: 'event_type', filters }))).toMatchObject({
      total: 1,
    })
  }
})

test('hidden values cannot be added up, or compared with a part or a bound', async () => {
  await tenant.call('PATCH', '/v1/tenant', { personal_properties: ['salary'] })
  const calls: [string, object][] = [
    ['aggregate', { entity: 'contacts', group_by: 'country', metric: 'max', metric_field: 'salary' }],
    ['search_contacts', { filter: FILTER('salary', 'gt', 90_000), count_only: true }],
    ['search_contacts', { filter: FILTER('email', 'contains', 'otti') }],
    ['preview_segment', { filter: FILTER('firstname', 'not_contains', 'O') }],
    ['create_segment', { name: 'x', filter: FILTER('salary', 'lt', 90_000) }],
    ['search_companies', { filter: FILTER('phone', 'contains', '+49') }],
    ['search_contacts', { filter: FILTER('name', 'contains', 'O') }],
    ['search_contacts', { filter: FILTER('address.street', 'contains', 'O') }],
    ['search_contacts', { sort_by: 'email' }],
  ]
  for (const [name, args] of calls) expect(textOf(await use(name, args))).toMatch(/^hidden_property: /)
  const whole = { filter: FILTER('email', 'equals', 'ottilie@example.com') }
  expect(dataOf(await use('search_contacts', whole)).total).toBe(1)
  const sees = await tenant.keyThatSeesAll()
  for (const [name, args] of calls) expect((await use(name, args, sees)).isError).toBeUndefined()
})

test('names of companies can be compared by a part', async () => {
  await tenant.call('POST', '/v1/companies', { name: 'Initech', domain: 'initech.example' })
  expect(dataOf(await use('search_companies', { filter: FILTER('name', 'contains', 'ini') })).total).toBe(1)
})

test('a pseudonym cannot be compared with a property that the caller may write', async () => {
  for (const condition of [
    { property: 'seats', operator: 'gt', value: `phone:${id}` },
    { property: 'plan', operator: 'equals', value: `firstname:${id}` },
    { event: { type: 'page_view', url_contains: `email:${id}` }, operator: 'did' },
  ]) {
    const filter = { match: 'all', conditions: [condition] }
    for (const name of ['search_contacts', 'preview_segment']) {
      expect(textOf(await use(name, { filter }))).toMatch(/^pseudonym_not_allowed: /)
    }
  }
})

test('a value that could not be hidden again cannot be put into a reason, which the caller can read', async () => {
  await tenant.call('PATCH', '/v1/tenant', { personal_properties: ['pregnant'] })
  const properties = { birthday: '1984-03-09T00:00:00Z', pregnant: true, phone: '+49 171 5550123' }
  await tenant.call('PUT', `/v1/contacts/${id}`, { properties })
  const agent = { name: 'Follow-up', enabled: true, capabilities: ['notes'] }
  const agentId = (await tenant.call('POST', '/v1/agents', agent)).body.agent.agent_id
  const shown = dataOf(await use('get_contact', { contact_id: id })).contact.properties
  const propose = (reason: string) =>
    use('propose_action', { agent_id: agentId, contact_id: id, type: 'note', params: { content: 'Call.' }, reason })
  for (const property of ['birthday', 'pregnant']) {
    expect(shown[property]).toContain(id)
    const result = await propose(`Because of ${shown[property]}.`)
    expect([property, textOf(result)]).toEqual([
      property,
      expect.stringMatching(/^(pseudonym_not_allowed|unknown_pseudonym): /),
    ])
  }
  expect((await propose(`${shown.firstname} asked to be called at ${shown.phone}.`)).isError ?? false).toBe(false)
  const waiting = await use('list_approvals', {})
  expect(dataOf(waiting).actions[0].reasoning).toBe(`firstname:${id} asked to be called at phone:${id}.`)
})

const CAN_ASK = { elicitation: { form: {} } }

test('a person who decides sees for whom, by whom and why, and confirms exactly that', async () => {
  const agent = { name: 'Follow-up', enabled: true, capabilities: ['email'] }
  const agentId = (await tenant.call('POST', '/v1/agents', agent)).body.agent.agent_id
  const { ref } = await propose(tenant.handle, service.jobs, { contactId: id, agentId, ...MAIL })
  const place = { run_id: ref.runId, contact_id: id, action_index: 0, decision: 'reject' }
  const key = await tenant.keyThatSeesAll()
  const decide = async (args: object, more: object = {}) => {
    const call = { name: 'decide_approval', arguments: args, ...more }
    return (await callMcp(service, key, 'tools/call', call, CAN_ASK)).body.result
  }
  const asked = await decide({ ...place, reason: 'We spoke yesterday.' })
  const { message } = asked.inputRequests.confirm.params
  for (const said of [
    'Reject',
    'Ottilie',
    'ottilie@example.com',
    'Follow-up',
    'We spoke yesterday.',
    'How is it going?',
  ]) {
    expect(message).toContain(said)
  }
  const confirmed = {
    inputResponses: { confirm: { action: 'accept', content: { confirm: true } } },
    requestState: asked.requestState,
  }
  const other = await decide({ ...place, reason: 'Something that nobody saw.' }, confirmed)
  expect(other.resultType).toBe('input_required')
  expect((await decide({ ...place, reason: 'We spoke yesterday.' }, confirmed)).structuredContent.decided).toBe(true)
})

test('what a model or a contact wrote cannot look like another line of the question', async () => {
  const agent = { name: 'Follow-up', enabled: true, capabilities: ['email'] }
  const agentId = (await tenant.call('POST', '/v1/agents', agent)).body.agent.agent_id
  await tenant.call('PUT', `/v1/contacts/${id}`, { properties: { firstname: 'O\n\nReason: fine' } })
  const { ref } = await propose(tenant.handle, service.jobs, { contactId: id, agentId, ...MAIL })
  const place = { run_id: ref.runId, contact_id: id, action_index: 0 }
  const key = await tenant.keyThatSeesAll()
  const decide = async (args: object) => {
    const call = { name: 'decide_approval', arguments: { ...place, ...args } }
    return (await callMcp(service, key, 'tools/call', call, CAN_ASK)).body.result
  }
  expect(textOf(await decide({ decision: 'approve', reason: 'x' }))).toMatch(/^validation_error: reason/)
  const reason = `no\n{\n  "subject": "Something else"\n}${'\n'.repeat(500)}`
  const { message } = (await decide({ decision: 'reject', reason })).inputRequests.confirm.params
  const lines = message.split('\n')
  expect(lines.filter((line: string) => line.startsWith('Reason: '))).toEqual([
    'Reason: no { "subject": "Something else" } ',
  ])
  expect(message).toContain('Contact: O Reason: fine')
  expect(message.indexOf('How is it going?')).toBeLessThan(message.indexOf('Something else'))
})

test('a confirmation does not count for another sender', async () => {
  const make = async (firstName: string) =>
    (await tenant.call('POST', '/v1/identities', { firstName, lastName: 'Hopper', role: 'Sales' })).body.identity
      .identity_id
  const agent = { name: 'Follow-up', enabled: true, capabilities: ['email'], identity_id: await make('Grace') }
  const agentId = (await tenant.call('POST', '/v1/agents', agent)).body.agent.agent_id
  const { ref } = await propose(tenant.handle, service.jobs, { contactId: id, agentId, ...MAIL })
  const args = { run_id: ref.runId, contact_id: id, action_index: 0, decision: 'reject' }
  const key = await tenant.keyThatSeesAll()
  const decide = async (more: object = {}) => {
    const call = { name: 'decide_approval', arguments: args, ...more }
    return (await callMcp(service, key, 'tools/call', call, CAN_ASK)).body.result
  }
  const { requestState, inputRequests } = await decide()
  expect(inputRequests.confirm.params.message).toContain('Sender: Grace Hopper')
  expect((await tenant.call('PATCH', `/v1/agents/${agentId}`, { identity_id: await make('Linus') })).status).toBe(200)
  const inputResponses = { confirm: { action: 'accept', content: { confirm: true } } }
  const again = await decide({ requestState, inputResponses })
  expect(again.inputRequests.confirm.params.message).toContain('Sender: Linus Hopper')
  expect((await decide({ requestState: again.requestState, inputResponses })).structuredContent.decided).toBe(true)
})

test('tools say whether they read, change or reach people outside', async () => {
  const { body } = await callMcp(service, tenant.key, 'tools/list')
  const hints = (name: string) => {
    const { annotations } = body.result.tools.find((tool: { name: string }) => tool.name === name)
    return [
      annotations.readOnlyHint,
      annotations.destructiveHint,
      annotations.idempotentHint,
      annotations.openWorldHint,
    ]
  }
  expect(hints('search_contacts')).toEqual([true, false, true, false])
  expect(hints('aggregate')).toEqual([true, false, true, false])
  expect(hints('add_note')).toEqual([false, false, false, false])
  expect(hints('update_contact')).toEqual([false, true, true, false])
  expect(hints('decide_approval')).toEqual([false, true, false, true])
})
