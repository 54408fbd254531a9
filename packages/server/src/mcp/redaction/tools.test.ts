import { beforeAll, describe, expect, test } from 'vitest'
import { callMcp, textOf } from '../../../test/mcp.ts'
import { createPersonalData, EMAIL, expectNoToken } from '../../../test/personal-data.ts'
import { createTestTenant, sharedService, type TestService, type TestTenant } from '../../../test/service.ts'
import { EVENT_DIMENSIONS } from '../../aggregate/event-dimensions.ts'
import { COMPANY_DIMENSIONS } from '../../companies/dimensions.ts'
import { CONTACT_DIMENSIONS } from '../../contacts/dimensions.ts'
import { TOOLS } from '../tools/all-tools.ts'

let service: TestService
let tenant: TestTenant
let ids: Record<string, string>

beforeAll(async () => {
  service = await sharedService()
  tenant = await createTestTenant(service)
  ids = await createPersonalData(service, tenant)
  const agent = { enabled: true, capabilities: ['notes'], llm_config: { provider: 'template' } }
  expect((await tenant.call('PATCH', `/v1/agents/${ids.agent_id}`, agent)).status).toBe(200)
})

/** Sends a call with a key that hides personal data, of a client that can ask the person. */
async function use(name: string, args: object) {
  const { body } = await callMcp(
    service,
    tenant.key,
    'tools/call',
    { name, arguments: args },
    { elicitation: { form: {} } },
  )
  return body
}

const everything = { match: 'all', conditions: [{ property: 'email', operator: 'is_set' }] }
const FIELDS =
  'firstname,lastname,email,phone,Mobile Phone,street,zip,city,date_of_birth,linkedin_url,avatar,bio,last_ip,username,owner_name,jobtitle'

/** Calls that show as much as their tools can, by the name of the tool. */
const calls: Record<string, () => object[]> = {
  describe_schema: () => [{}],
  search_contacts: () => [
    {},
    { query: 'zorblax' },
    { query: EMAIL },
    { query: 'Quintörp', fields: FIELDS },
    { filter: { match: 'all', conditions: [{ property: 'city', operator: 'equals', value: 'Zedburg' }] }, limit: 50 },
    {
      filter: {
        match: 'all',
        conditions: [{ property: 'email', operator: 'equals', value: `email:${ids.contact_id}` }],
      },
    },
    { segment_id: ids.segment_id, sort_by: 'company', fields: FIELDS },
    { company_id: ids.company_id },
  ],
  get_contact: () => [
    { contact_id: ids.contact_id, include_sources: true },
    { contact_id: `firstname:${ids.contact_id}` },
  ],
  contact_timeline: () => [{ contact_id: ids.contact_id, limit: 50 }],
  add_note: () => [{ contact_id: ids.contact_id, content: `Zorblax Quintörp, ${EMAIL}` }],
  update_contact: () => [
    { contact_id: ids.contact_id, properties: { plan: 'platinum', favourite: 'Zorblax Quintörp' } },
  ],
  search_companies: () => [{}, { query: 'plain' }, { filter: everything }],
  get_company: () => [{ company_id: ids.company_id }],
  query_events: () => [
    { include_system: true, limit: 50 },
    { contact_id: ids.contact_id, include_system: true, limit: 50 },
    { title_contains: 'Zorblax' },
    { url_contains: 'mailtoken' },
    { event_type: 'forward' },
  ],
  aggregate: () => [
    ...Object.keys(CONTACT_DIMENSIONS).map((group_by) => ({ entity: 'contacts', group_by })),
    ...Object.keys(COMPANY_DIMENSIONS).map((group_by) => ({ entity: 'companies', group_by })),
    ...Object.keys(EVENT_DIMENSIONS).map((group_by) => ({ entity: 'events', group_by, include_system: true })),
  ],
  event_stats: () => [{ include_system: true }],
  list_segments: () => [{}],
  segment_members: () => [{ segment_id: ids.segment_id }],
  preview_segment: () => [{ filter: everything }],
  create_segment: () => [{ name: `Fans of ${EMAIL}`, description: 'As Zorblax Quintörp asked', filter: everything }],
  conversations: () => [{ contact_id: ids.contact_id, include_messages: true }],
  run_agent: () => [{ agent_id: ids.agent_id, contact_ids: [ids.contact_id] }],
  run_result: () => [{ run_id: ids.run_id }],
  list_approvals: () => [{}, { contact_id: ids.contact_id }],
  decide_approval: () =>
    ['approve', 'reject'].map((decision) => ({
      run_id: ids.run_id,
      contact_id: ids.contact_id,
      action_index: 0,
      decision,
    })),
  propose_action: () => [
    {
      agent_id: ids.agent_id,
      contact_id: ids.contact_id,
      type: 'note',
      params: { content: `Call firstname:${ids.contact_id} of Zedburg` },
      reason: `${EMAIL} asked for it.`,
    },
  ],
  list_webhooks: () => [{}],
}

test('every tool is called', () => {
  expect(Object.keys(calls).sort()).toEqual(TOOLS.map(({ name }) => name).sort())
})

describe.each(Object.keys(calls))('%s', (name) => {
  test('shows no personal value', async () => {
    for (const args of calls[name]?.() ?? []) {
      const body = await use(name, args)
      const where = String((args as { group_by?: string }).group_by ?? name)
      expect([args, body.error, body.result.isError ? textOf(body.result) : '']).toEqual([args, undefined, ''])
      expectNoToken(body, where)
    }
  })

  test('shows no personal value in its errors', async () => {
    for (const args of calls[name]?.() ?? []) {
      for (const field of Object.keys(args)) {
        // A pseudonym where it does not belong: an error must not quote what it stands for.
        for (const value of [`email:${ids.contact_id}`, { property: `firstname:${ids.contact_id}` }]) {
          const { error, result } = await use(name, { ...args, [field]: value })
          expectNoToken(error ?? result, `${name} ${field}`)
        }
      }
    }
    const merged = await use(name, { ...calls[name]?.()[0], contact_id: ids.merged_id })
    expectNoToken(merged, name)
  })
})

test('the schema as a resource shows no personal value', async () => {
  const { body } = await callMcp(service, tenant.key, 'resources/read', { uri: 'cds://schema' })
  expect(body.result.contents).toHaveLength(1)
  expectNoToken(body, 'cds://schema')
})
