import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest'
import { createTestTenant, startTestService, type TestService, type TestTenant } from '../../test/service.ts'
import { newId } from '../platform/ids.ts'
import { createSegment } from '../segments/segments.ts'
import { setAgentSettings } from './actions/settings.ts'

let service: TestService
let tenant: TestTenant
let now = new Date('2026-03-02T12:00:00Z')

beforeAll(async () => {
  service = await startTestService({}, { clock: () => now })
})
beforeEach(async () => {
  now = new Date('2026-03-02T12:00:00Z')
  tenant = await createTestTenant(service)
})
afterAll(() => service.close())

async function create(body: object = {}) {
  const response = await tenant.call('POST', '/v1/agents', { name: 'Test', ...body })
  if (response.status !== 201) throw new Error(JSON.stringify(response.body))
  return response.body.agent
}

const FILTER = { match: 'all', conditions: [{ property: 'country', operator: 'equals', value: 'FR' }] }

test('an agent needs a name and nothing else', async () => {
  const agent = await create()
  expect(agent).toEqual({
    agent_id: expect.any(String),
    _id: agent.agent_id,
    name: 'Test',
    description: null,
    playbook_template: null,
    playbook_version: 1,
    playbook: {},
    capabilities: [],
    goal: null,
    identity_id: null,
    monitoring: { cooldown_hours: 24, max_contacts_per_run: 25 },
    llm_config: {},
    enabled: false,
    next_run_at: null,
    created_at: '2026-03-02T12:00:00.000Z',
    updated_at: '2026-03-02T12:00:00.000Z',
  })
  const read = await tenant.call('GET', `/v1/agents/${agent.agent_id}`)
  expect(read.body).toEqual({ status: 'success', agent })
})

test('all sent fields are stored, and a template sets its capabilities', async () => {
  const sender = { firstName: 'Grace', lastName: 'Hopper', role: 'Sales' }
  const { identity } = (await tenant.call('POST', '/v1/identities', sender)).body
  const body = {
    description: 'Follows up',
    playbook_template: 'pricing_visitor_followup',
    playbook: {
      playbook_md:
        'Hello {{contact.firstname | there}} of {{company.name}}, about {{variables.offer}} and {{variables.help}}',
      require_approval: false,
      max_cost_usd_per_run: 0.5,
      variables: { offer: 'a call' },
      messages: { note: { content: 'Saw {{activity.last_page | nothing}}' } },
      config: { anything: [1, { deep: true }] },
    },
    identity_id: identity.identity_id,
    monitoring: {
      filter: FILTER,
      schedule_cron: '0 9 * * 1-5',
      time_zone: 'Europe/Berlin',
      max_contacts_per_run: 1000,
    },
    llm_config: { provider: 'openai', model: 'gpt-5', temperature: 0.2, max_tokens: 500 },
    enabled: true,
  }
  const agent = await create(body)
  expect(agent).toMatchObject({ ...body, capabilities: ['email', 'notes'], next_run_at: '2026-03-03T08:00:00.000Z' })
})

test('PATCH changes only the sent fields, also inside settings, and null removes one', async () => {
  const { agent_id: id } = await create({
    description: 'x',
    capabilities: ['email', 'email', 'notes'],
    monitoring: { filter: FILTER, schedule_cron: '0 9 * * *' },
    playbook: { playbook_md: 'Hi', require_approval: false },
    llm_config: { provider: 'anthropic', temperature: 0 },
  })
  now = new Date('2026-03-02T13:00:00Z')
  const patch = async (body: object) => (await tenant.call('PATCH', `/v1/agents/${id}`, body)).body.agent
  const changed = await patch({ enabled: true, description: null, monitoring: { max_contacts_per_run: 7 } })
  expect(changed).toMatchObject({
    name: 'Test',
    description: null,
    enabled: true,
    capabilities: ['email', 'notes'],
    monitoring: { filter: FILTER, schedule_cron: '0 9 * * *', max_contacts_per_run: 7 },
    next_run_at: '2026-03-03T09:00:00.000Z',
    updated_at: '2026-03-02T13:00:00.000Z',
    created_at: '2026-03-02T12:00:00.000Z',
  })
  const fewer = await patch({
    playbook: { require_approval: null },
    llm_config: { provider: null },
    monitoring: { filter: null },
  })
  expect(fewer).toMatchObject({ playbook: { playbook_md: 'Hi' }, llm_config: { temperature: 0 } })
  expect(fewer.playbook).not.toHaveProperty('require_approval')
  expect(fewer.monitoring).not.toHaveProperty('filter')
  expect((await patch({ enabled: false })).next_run_at).toBeNull()
  expect(await patch({})).toMatchObject({ name: 'Test' })
  // Changing the template keeps capabilities that a user chose.
  const other = await patch({ playbook_template: 'cold_outreach', capabilities: ['notes', 'notes'] })
  expect(other).toMatchObject({ playbook_template: 'cold_outreach', capabilities: ['notes'] })
  const without = await patch({ playbook_template: null })
  expect(without).toMatchObject({ playbook_template: null, capabilities: ['notes'] })
})

test('agents are listed newest first, filtered, and paged by offset', async () => {
  const ids: string[] = []
  for (const [index, enabled] of [true, false, true].entries()) {
    now = new Date(now.getTime() + 1000)
    ids.unshift((await create({ enabled, ...(index > 0 ? { playbook_template: 'cold_outreach' } : {}) })).agent_id)
  }
  const list = async (query = '') => (await tenant.call('GET', `/v1/agents${query}`)).body
  const idsOf = ({ agents }: { agents: { _id: string }[] }) => agents.map(({ _id }) => _id)
  expect(await list()).toMatchObject({ status: 'success', total: 3, limit: 20, offset: 0 })
  expect(idsOf(await list())).toEqual(ids)
  expect(idsOf(await list('?limit=1&offset=1'))).toEqual([ids[1]])
  expect(await list('?offset=10')).toMatchObject({ agents: [], total: 3 })
  expect(idsOf(await list('?enabled=true'))).toEqual([ids[0], ids[2]])
  expect(idsOf(await list('?enabled=0'))).toEqual([ids[1]])
  expect(await list('?playbook_template=cold_outreach&enabled=true')).toMatchObject({ total: 1 })
  expect(await list('?playbook_template=nope')).toMatchObject({ total: 0 })
  for (const query of [
    'limit=0',
    'limit=101',
    'offset=-1',
    'offset=x',
    'enabled=maybe',
    'offset=99999999999999999999',
  ]) {
    expect((await tenant.call('GET', `/v1/agents?${query}`)).status).toBe(400)
  }
})

test('a deleted agent is not found; its audit entries stay', async () => {
  const { agent_id: id } = await create()
  await tenant.call('PATCH', `/v1/agents/${id}`, { name: 'Renamed' })
  expect((await tenant.call('DELETE', `/v1/agents/${id}`)).body).toEqual({
    status: 'success',
    deleted: true,
    agent_id: id,
  })
  for (const method of ['GET', 'DELETE']) {
    expect((await tenant.call(method, `/v1/agents/${id}`)).body.error.code).toBe('not_found')
  }
  expect((await tenant.call('PATCH', `/v1/agents/${id}`, {})).status).toBe(404)
  expect((await tenant.call('POST', `/v1/agents/${id}/trigger`)).status).toBe(404)
  const log = await tenant.handle.db
    .selectFrom('audit_log')
    .select(['action', 'actor', 'details'])
    .orderBy('entry_id')
    .execute()
  expect(log.map(({ action }) => action)).toEqual(['agent.created', 'agent.updated', 'agent.deleted'])
  expect(log[1]).toMatchObject({ actor: { kind: 'api_key', name: 'all' }, details: { changed: ['name'] } })
})

describe('an invalid field', () => {
  const prompt = (playbook_md: string) => ({ playbook: { playbook_md } })
  test.each([
    ['name', { name: '' }],
    ['name', { name: 7 }],
    ['name', { name: 'x'.repeat(201) }],
    ['nickname', { nickname: 'x' }],
    ['playbook_template', { playbook_template: 'warm_outreach' }],
    ['playbook_template', { playbook_template: '../../etc/passwd' }],
    ['capabilities[1]', { capabilities: ['email', 'fax'] }],
    ['capabilities', { capabilities: 'email' }],
    ['identity_id', { identity_id: newId() }],
    ['identity_id', { identity_id: 'x' }],
    ['monitoring.schedule_cron', { monitoring: { schedule_cron: 'every day' } }],
    ['monitoring.schedule_cron', { monitoring: { schedule_cron: '60 9 * * *' } }],
    ['monitoring.schedule_cron', { monitoring: { schedule_cron: '* * * * * *' } }],
    ['monitoring.schedule_cron', { monitoring: { schedule_cron: '0 0 30 2 *' } }],
    ['monitoring.schedule_cron', { monitoring: { schedule_cron: 'H 9 * * *' } }],
    ['monitoring.schedule_cron', { monitoring: { schedule_cron: 'FREQ=DAILY' } }],
    ['monitoring.time_zone', { monitoring: { time_zone: 'Mars/Olympus' } }],
    ['monitoring.max_contacts_per_run', { monitoring: { max_contacts_per_run: 0 } }],
    ['monitoring.max_contacts_per_run', { monitoring: { max_contacts_per_run: 1001 } }],
    ['monitoring.max_contacts_per_run', { monitoring: { max_contacts_per_run: '5' } }],
    ['monitoring.cron', { monitoring: { cron: '* * * * *' } }],
    ['monitoring.filter.match', { monitoring: { filter: {} } }],
    [
      'monitoring.filter.conditions[0].operator',
      { monitoring: { filter: { match: 'all', conditions: [{ property: 'x', operator: 'is' }] } } },
    ],
    ['monitoring.filter.segment_id', { monitoring: { filter: { segment_id: newId() } } }],
    ['monitoring.filter.segment_id', { monitoring: { filter: { segment_id: 7 } } }],
    ['monitoring.filter', { monitoring: { filter: [] } }],
    ['llm_config.provider', { llm_config: { provider: 'skynet' } }],
    ['llm_config.temperature', { llm_config: { temperature: 2.1 } }],
    ['llm_config.max_tokens', { llm_config: { max_tokens: 0 } }],
    ['llm_config.api_key', { llm_config: { api_key: 'sk-secret' } }],
    ['llm_config.base_url', { llm_config: { provider: 'openai', base_url: 'https://llm.example/v1' } }],
    [
      'llm_config.base_url',
      { llm_config: { provider: 'openai_compatible', model: 'x', base_url: 'http://llm.example/v1' } },
    ],
    [
      'llm_config.base_url',
      { llm_config: { provider: 'openai_compatible', model: 'x', base_url: 'https://127.0.0.1/v1' } },
    ],
    [
      'llm_config.base_url',
      { llm_config: { provider: 'openai_compatible', model: 'x', base_url: 'https://169.254.169.254/' } },
    ],
    ['llm_config.model', { llm_config: { provider: 'openai_compatible', base_url: 'https://example.com/v1' } }],
    ['playbook.prompt', { playbook: { prompt: 'x' } }],
    ['playbook.require_approval', { playbook: { require_approval: 'no' } }],
    ['playbook.max_cost_usd_per_run', { playbook: { max_cost_usd_per_run: -1 } }],
    ['playbook.playbook_md', prompt('Hello {{contcat.firstname}}')],
    ['playbook.playbook_md', prompt('Hello {{firstname | there}}')],
    ['playbook.playbook_md', prompt('Hello {{variables.offer}}')],
    ['playbook.playbook_md', prompt('Hello {{identity.password}}')],
    ['playbook.playbook_md', prompt('Hello {{}}')],
    ['playbook.playbook_md', prompt('x'.repeat(50_001))],
    ['playbook.variables.Offer', { playbook: { variables: { Offer: 'x' } } }],
    ['playbook.variables.offer', { playbook: { variables: { offer: 7 } } }],
    ['playbook.messages.fax', { playbook: { messages: { fax: {} } } }],
    [
      'playbook.messages.email_message.to',
      { playbook: { messages: { email_message: { subject: 'x', message: 'x', to: 'x' } } } },
    ],
    ['playbook.messages.note', { playbook: { messages: { note: { content: '{{nothing}}' } } } }],
    ['playbook.config', { playbook: { config: { text: 'x'.repeat(20_001) } } }],
    ['enabled', { enabled: 1 }],
  ])('is named: %s', async (path, body) => {
    for (const [method, url] of [
      ['POST', '/v1/agents'],
      ['PATCH', `/v1/agents/${(await create()).agent_id}`],
    ] as const) {
      const response = await tenant.call(method, url, { ...(method === 'POST' ? { name: 'x' } : {}), ...body })
      expect([response.status, response.body.error.code]).toEqual([400, 'validation_error'])
      expect(response.body.error.details.map((detail: { path: string }) => detail.path)).toContain(path)
    }
    expect((await tenant.call('GET', '/v1/agents')).body.total).toBe(1)
  })

  test('the templates and the unknown variable are named in the message', async () => {
    const body = { name: 'x', playbook_template: 'x', playbook: { playbook_md: '{{contcat.firstname}}' } }
    const { message, details } = (await tenant.call('POST', '/v1/agents', body)).body.error
    expect(message).toContain('cold_outreach')
    expect(message).toContain('pricing_visitor_followup')
    expect(details[1].message).toContain('{{contcat.firstname}}')
  })
})

test('identities and segments of another tenant are unknown', async () => {
  const stranger = await createTestTenant(service)
  const sender = { firstName: 'Eve', lastName: 'X', role: 'Y' }
  const { identity_id } = (await stranger.call('POST', '/v1/identities', sender)).body.identity
  const segment = { name: 'x', description: null, filter: FILTER }
  const { segmentId: segment_id } = await createSegment(stranger.handle, segment, now)
  const response = await tenant.call('POST', '/v1/agents', {
    name: 'x',
    identity_id,
    monitoring: { filter: { segment_id } },
  })
  expect(response.body.error.details.map(({ path }: { path: string }) => path)).toEqual([
    'monitoring.filter.segment_id',
    'identity_id',
  ])
})

test('deleting an identity removes it from its agents', async () => {
  const sender = { firstName: 'Grace', lastName: 'Hopper', role: 'Sales' }
  const { identity_id } = (await tenant.call('POST', '/v1/identities', sender)).body.identity
  const { agent_id } = await create({ identity_id })
  expect((await tenant.call('DELETE', `/v1/identities/${identity_id}`)).status).toBe(200)
  expect((await tenant.call('GET', `/v1/agents/${agent_id}`)).body.agent.identity_id).toBeNull()
})

describe('a schedule', () => {
  const scheduled = async (monitoring: object) => (await create({ enabled: true, monitoring })).next_run_at

  test('is in the time zone of the tenant, unless the agent sets its own', async () => {
    await setAgentSettings(tenant.handle, { time_zone: 'America/New_York' }, now)
    expect(await scheduled({ schedule_cron: '0 9 * * *' })).toBe('2026-03-02T14:00:00.000Z')
    expect(await scheduled({ schedule_cron: '0 9 * * *', time_zone: 'Asia/Tokyo' })).toBe('2026-03-03T00:00:00.000Z')
  })

  test('keeps its hour when summer time starts', async () => {
    now = new Date('2026-03-28T12:00:00Z')
    expect(await scheduled({ schedule_cron: '0 9 * * *', time_zone: 'Europe/Berlin' })).toBe('2026-03-29T07:00:00.000Z')
  })
})
