import { beforeAll, beforeEach, describe, expect, test } from 'vitest'
import { insertIdentity, MAIL, NOTE, propose } from '../../test/actions.ts'
import {
  createTestTenant,
  sharedService,
  type TestResponse,
  type TestService,
  type TestTenant,
} from '../../test/service.ts'

/** Agents read contacts and write to them, so whoever lacks those scopes opens neither with an agent. */

let service: TestService
let tenant: TestTenant
let contactId: string

beforeAll(async () => {
  service = await sharedService()
})
beforeEach(async () => {
  tenant = await createTestTenant(service)
  contactId = await tenant.contact('ada@example.com', { firstname: 'Ada' })
})

const EVERYBODY = { filter: { match: 'all', conditions: [{ property: 'email', operator: 'is_set' }] } }
const OWN_SERVER = { provider: 'openai_compatible', model: 'm', base_url: 'https://models.example.com/v1' }
const AGENTS = ['agents:read', 'agents:write', 'agents:trigger']
/** All that an agent needs that reads and writes contacts. */
const ALL = [...AGENTS, 'contacts:read', 'events:read', 'contacts:write']
const READS = ['contacts:read', 'events:read']
/** What a model reads that looks things up. */
const LOOKS_UP = [...READS, 'companies:read', 'segments:read']

const lackOf = ({ status, body }: TestResponse) => [
  status,
  body.error?.code,
  body.error?.details?.map(({ message }: { message: string }) => message).sort(),
]
const refused = (...scopes: string[]) => [403, 'insufficient_scope', scopes.sort()]

/** An agent whose model looks nothing up, unless it says otherwise. */
async function agent({ llm_config: model, ...body }: Record<string, unknown> = {}): Promise<string> {
  const sent = { name: 'Test', llm_config: { tools_max: 0, ...(model as object) }, ...body }
  const response = await tenant.call('POST', '/v1/agents', sent)
  if (response.status !== 201) throw new Error(JSON.stringify(response.body))
  return response.body.agent.agent_id
}

describe('to create an agent', () => {
  test.each([
    ['that monitors contacts', { monitoring: EVERYBODY }, READS],
    ['that monitors a segment', { monitoring: { filter: { segment_id: 'x' } } }, READS],
    ['that writes notes', { capabilities: ['notes'] }, ['contacts:write']],
    ['that changes properties', { capabilities: ['email', 'crm_sync'] }, ['contacts:write']],
    ['whose template writes notes', { playbook_template: 'lead_qualification' }, ['contacts:write']],
    ['that needs no approval', { playbook: { require_approval: false } }, ['agents:approve']],
    ['with its own server', { llm_config: OWN_SERVER }, [...READS, 'companies:read']],
    ['whose model looks things up', { llm_config: { tools_max: 3 } }, LOOKS_UP],
    [
      'that rewrites contacts by a schedule',
      { enabled: true, capabilities: ['crm_sync'], monitoring: { ...EVERYBODY, schedule_cron: '* * * * *' } },
      [...READS, 'contacts:write'],
    ],
  ])('%s, one needs the scopes of what it opens', async (_, body, scopes) => {
    const create = async (key: string) => tenant.call('POST', '/v1/agents', { name: 'Spy', ...body }, key)
    expect(lackOf(await create(await tenant.keyWith(...AGENTS)))).toEqual(refused(...scopes))
    expect((await tenant.call('GET', '/v1/agents')).body.total).toBe(0)
    expect((await create(await tenant.keyWith(...AGENTS, ...scopes))).status).not.toBe(403)
  })

  test.each([
    ['with a name alone', {}],
    ['whose messages wait for approval', { playbook_template: 'cold_outreach', capabilities: ['email'] }],
    [
      'whose template writes notes, without that capability',
      { playbook_template: 'lead_qualification', capabilities: [] },
    ],
  ])('%s, that reads no contacts, agents:write is enough', async (_, body) => {
    const key = await tenant.keyWith('agents:write')
    const { status, body: created } = await tenant.call('POST', '/v1/agents', { name: 'Draft', ...body }, key)
    // Its model looks nothing up, because whoever created it may not read what it would.
    expect([status, created.agent.llm_config]).toEqual([201, { tools_max: 0 }])
    const whole = await tenant.call('POST', '/v1/agents', { name: 'Draft', llm_config: { model: 'm' } })
    expect(whole.body.agent.llm_config).toEqual({ model: 'm' })
    const path = `/v1/agents/${whole.body.agent.agent_id}`
    expect(lackOf(await tenant.call('PATCH', path, { name: 'Spy' }, key))).toEqual(refused(...LOOKS_UP))
    expect((await tenant.call('PATCH', path, { enabled: false }, key)).status).toBe(200)
  })

  test('the scopes are checked before the rest of the body', async () => {
    const body = { name: 7, monitoring: { filter: 7 }, capabilities: 'notes', llm_config: [] }
    const { status } = await tenant.call('POST', '/v1/agents', body, await tenant.keyWith('agents:write'))
    expect(status).toBe(403)
    const invalid = await tenant.call(
      'POST',
      '/v1/agents',
      { ...body, monitoring: 7 },
      await tenant.keyWith('agents:write'),
    )
    expect(invalid.status).toBe(400)
  })
})

describe('to change an agent', () => {
  test.each([
    ['that monitors contacts', { monitoring: EVERYBODY }, READS],
    ['that writes to contacts', { capabilities: ['notes'] }, ['contacts:write']],
    ['that needs no approval', { playbook: { require_approval: false } }, ['agents:approve']],
    ['with its own server', { llm_config: OWN_SERVER }, [...READS, 'companies:read']],
    ['whose model looks things up, as by default', { llm_config: { tools_max: 8 } }, LOOKS_UP],
  ])('%s, one needs the scopes of what it opens, except to turn it off', async (_, body, scopes) => {
    const path = `/v1/agents/${await agent({ enabled: true, ...body })}`
    const key = await tenant.keyWith(...AGENTS)
    for (const change of [
      { name: 'Spy' },
      { playbook: { playbook_md: 'x' } },
      { enabled: true },
      { enabled: false, name: 'Spy' },
    ]) {
      expect([change, lackOf(await tenant.call('PATCH', path, change, key))]).toEqual([change, refused(...scopes)])
    }
    expect((await tenant.call('GET', path)).body.agent).toMatchObject({ name: 'Test', enabled: true })
    expect((await tenant.call('PATCH', path, { enabled: false }, key)).body.agent).toMatchObject({ enabled: false })
    const whole = await tenant.keyWith(...AGENTS, ...scopes)
    expect((await tenant.call('PATCH', path, { name: 'Ours' }, whole)).status).toBe(200)
    expect((await tenant.call('DELETE', path, undefined, key)).status).toBe(200)
  })

  test('so that it opens something, one needs the scopes of that; so that it opens nothing any more, none', async () => {
    const path = `/v1/agents/${await agent()}`
    const key = await tenant.keyWith('agents:write')
    expect((await tenant.call('PATCH', path, { name: 'Draft' }, key)).status).toBe(200)
    expect(lackOf(await tenant.call('PATCH', path, { monitoring: EVERYBODY }, key))).toEqual(refused(...READS))
    expect(lackOf(await tenant.call('PATCH', path, { capabilities: ['notes'] }, key))).toEqual(
      refused('contacts:write'),
    )
    await tenant.call('PATCH', path, { capabilities: ['notes'] })
    expect((await tenant.call('PATCH', path, { capabilities: ['email'] }, key)).status).toBe(200)
  })

  test('that does not exist, the response is 404', async () => {
    const { status } = await tenant.call(
      'PATCH',
      `/v1/agents/${contactId}`,
      { name: 'x' },
      await tenant.keyWith('agents:write'),
    )
    expect(status).toBe(404)
  })
})

test('to trigger an agent, agents:trigger is enough, because whoever set it up had the scopes of what it opens', async () => {
  const agentId = await agent({ capabilities: ['notes'], monitoring: EVERYBODY })
  const key = await tenant.keyWith('agents:trigger')
  expect((await tenant.call('POST', `/v1/agents/${agentId}/trigger`, {}, key)).status).toBe(200)
})

describe('an action that somebody proposes', () => {
  const UPDATE = { type: 'crm_update', params: { properties: { hacked: 'yes' } } }

  test('names a contact, which the list of what waits shows, so it needs contacts:read', async () => {
    const path = `/v1/agents/${await agent({ enabled: true, capabilities: ['notes'] })}/actions`
    const proposal = { contact_id: contactId, ...NOTE, reason: 'They asked.' }
    const key = await tenant.keyWith('agents:trigger')
    expect(lackOf(await tenant.call('POST', path, proposal, key))).toEqual(refused('contacts:read'))
    const reading = await tenant.keyWith('agents:trigger', 'contacts:read')
    expect((await tenant.call('POST', path, proposal, reading)).status).toBe(201)
  })

  test.each([NOTE, UPDATE])('is approved with contacts:write if it writes to the contact: $type', async (action) => {
    const path = `/v1/agents/${await agent({ enabled: true, capabilities: ['notes', 'crm_sync'] })}/actions`
    const key = await tenant.keyWith('agents:trigger', 'agents:approve', 'contacts:read')
    const proposed = await tenant.call('POST', path, { contact_id: contactId, ...action, reason: 'x' }, key)
    const { run_id, action_index } = proposed.body.action
    const approval = `/v1/agents/runs/${run_id}/contacts/${contactId}/actions/${action_index}/approve`
    expect(lackOf(await tenant.call('POST', approval, undefined, key))).toEqual(refused('contacts:write'))
    const places = { actions: [{ run_id, contact_id: contactId, action_index }] }
    expect(lackOf(await tenant.call('POST', '/v1/approvals/approve', places, key))).toEqual(refused('contacts:write'))
    const writing = await tenant.keyWith('agents:approve', 'contacts:write')
    expect((await tenant.call('POST', approval, undefined, writing)).status).toBe(200)
  })

  test('is approved with agents:approve alone if it is a message, as those of agents are', async () => {
    const identityId = await insertIdentity(tenant.handle)
    const { path } = await propose(tenant.handle, service.jobs, { contactId, identityId, ...MAIL })
    const approved = await tenant.call('POST', `${path}/approve`, undefined, await tenant.keyWith('agents:approve'))
    expect([approved.status, approved.body.error]).toEqual([200, undefined])
  })
})

test('a key with the scopes of agents alone reads no property of a contact that it names', async () => {
  const messages = { email_message: { subject: 'x', message: '{{contact.email}} {{contact.secret}}' } }
  await tenant.call('PUT', `/v1/contacts/${contactId}`, { properties: { secret: 'enchantress' } })
  const key = await tenant.keyWith(...AGENTS)
  const settings = { capabilities: ['email'], playbook: { messages }, llm_config: { provider: 'template' } }
  const created = await tenant.call('POST', '/v1/agents', { name: 'Spy', ...settings }, key)
  expect(created.status).toBe(201)
  const path = `/v1/agents/${created.body.agent.agent_id}`
  const trigger = (by: string) => tenant.call('POST', `${path}/trigger`, { contact_ids: [contactId] }, by)
  expect(lackOf(await trigger(key))).toEqual(refused(...READS))
  expect((await tenant.call('POST', `${path}/trigger`, { contact_ids: null }, key)).status).toBe(200)
  const shown = async () => JSON.stringify((await tenant.call('GET', `${path}/actions`, undefined, key)).body)
  expect((await trigger(await tenant.keyWith(...AGENTS, ...READS))).status).toBe(200)
  await expect.poll(shown).toContain('enchantress')
})

test('a key with the scopes of agents alone neither reads nor rewrites contacts through one', async () => {
  const spy = {
    name: 'y',
    capabilities: ['notes', 'crm_sync'],
    playbook: {
      playbook_md: 'x',
      messages: {
        note: { content: '{{contact.email}} {{contact.firstname}}' },
        crm_update: { properties: { hacked: 'yes', lifecyclestage: 'customer' } },
      },
    },
    llm_config: { provider: 'template' },
    monitoring: { max_contacts_per_run: 1000, ...EVERYBODY },
  }
  const key = await tenant.keyWith(...AGENTS, 'agents:approve')
  const ours = await agent()
  await tenant.call('POST', '/v1/agents', spy, key)
  await tenant.call('PATCH', `/v1/agents/${ours}`, spy, key)
  for (const { agent_id } of (await tenant.call('GET', '/v1/agents')).body.agents) {
    await tenant.call('POST', `/v1/agents/${agent_id}/trigger`, {}, key)
    await tenant.call('POST', `/v1/agents/${agent_id}/trigger`, { contact_ids: [contactId] }, key)
    const runs = async () => (await tenant.call('GET', `/v1/agents/${agent_id}/runs`)).body.runs
    await expect
      .poll(async () => (await runs()).every(({ status }: { status: string }) => status === 'completed'))
      .toBe(true)
    const shown = await tenant.call('GET', `/v1/agents/${agent_id}/actions`, undefined, key)
    expect(JSON.stringify(shown.body)).not.toContain('ada@example.com')
  }
  const { contact } = (await tenant.call('GET', `/v1/contacts/${contactId}`)).body
  expect(contact.properties).not.toHaveProperty('hacked')
  // Whoever has the scopes may do all of it.
  const whole = await tenant.keyWith(...ALL)
  const { body } = await tenant.call('POST', '/v1/agents', spy, whole)
  expect((await tenant.call('POST', `/v1/agents/${body.agent.agent_id}/trigger`, {}, whole)).status).toBe(200)
  await expect
    .poll(async () => (await tenant.call('GET', `/v1/contacts/${contactId}`)).body.contact.properties)
    .toMatchObject({ hacked: 'yes' })
})
