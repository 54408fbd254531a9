import { beforeAll, beforeEach, expect, test } from 'vitest'
import { callMcp, dataOf, textOf } from '../../test/mcp.ts'
import { createTestTenant, sharedService, type TestService, type TestTenant } from '../../test/service.ts'

let service: TestService
let tenant: TestTenant
let id: string
let other: string

beforeAll(async () => {
  service = await sharedService()
})
beforeEach(async () => {
  tenant = await createTestTenant(service)
  id = await tenant.contact('mail7@example.com', { firstname: 'Ottilie', lastname: 'Quant', plan: 'pro' })
  other = await tenant.contact('benno@example.com', { firstname: 'Benno', plan: 'pro' })
})

/** Calls a tool with a key from which personal values are hidden. */
async function use(name: string, args: object) {
  const { body } = await callMcp(service, tenant.key, 'tools/call', { name, arguments: args })
  return body.result
}

const FILTER = (value: string, property = 'firstname') => ({
  match: 'all',
  conditions: [{ property, operator: 'equals', value }],
})

test('pseudonyms stand for their values in searches and filters, and in texts about their contact', async () => {
  for (const args of [{ query: `email:${id}` }, { filter: FILTER(`firstname:${id}`) }, { query: `firstname:${id}` }]) {
    const { contacts, total } = dataOf(await use('search_contacts', args))
    expect([total, contacts[0].contact_id]).toEqual([1, id])
  }
  await use('add_note', { contact_id: `email:${id}`, content: `firstname:${id} wants a demo.` })
  const { notes } = (await tenant.call('GET', `/v1/contacts/${id}/notes`)).body
  expect(notes[0].content).toBe('Ottilie wants a demo.')
  const agent = { name: 'Follow-up', enabled: true, capabilities: ['email'] }
  const agentId = (await tenant.call('POST', '/v1/agents', agent)).body.agent.agent_id
  const params = { subject: 'Your trial', message: `Hello firstname:${id}` }
  const proposal = { agent_id: agentId, contact_id: id, type: 'email_message', params, reason: `For lastname:${id}` }
  expect((await use('propose_action', proposal)).isError ?? false).toBe(false)
  const { actions } = (await tenant.call('GET', '/v1/approvals')).body
  expect(actions[0]).toMatchObject({ params: { message: 'Hello Ottilie' } })
  expect(JSON.stringify(await use('list_approvals', {}))).not.toMatch(/ottilie|quant/i)
})

test('a pseudonym cannot be stored where its value would be shown', async () => {
  const about = { contact_id: other, content: `firstname:${id}` }
  expect(textOf(await use('add_note', about))).toMatch(/^pseudonym_of_another: /)
  await use('create_segment', {
    name: `firstname:${id}`,
    description: `firstname:${id}`,
    filter: FILTER(`firstname:${id}`, 'plan'),
  })
  await use('update_contact', { contact_id: other, properties: { plan: `firstname:${id}`, nick: `lastname:${id}` } })
  const results = [
    await use('list_segments', {}),
    await use('describe_schema', {}),
    await use('get_contact', { contact_id: other }),
    await use('aggregate', { entity: 'contacts', group_by: 'country', filters: { industry: `firstname:${id}` } }),
  ]
  expect(JSON.stringify(results)).not.toMatch(/ottilie|quant/i)
})

test('a first name is hidden from a result about its contact that does not name it', async () => {
  const events = [{ event: 'page_view', email: 'mail7@example.com', url: 'https://x.example/', title: 'Hello Ottilie' }]
  await tenant.call('POST', '/v1/events', { events })
  const args = { entity: 'events', group_by: 'title', filters: { contact_id: id } }
  const result = await use('aggregate', args)
  expect(dataOf(result)).toMatchObject({ total: 1, buckets: [{ key: `Hello firstname:${id}` }] })
})

test('a pseudonym that stands for nothing is refused', async () => {
  const unknown = 'email:01a20ee5-33d1-76b2-a4e1-f2ccfc62409e'
  expect(textOf(await use('search_contacts', { query: `x ${unknown}` }))).toMatch(/^unknown_pseudonym: /)
})
