import { beforeAll, describe, expect, test } from 'vitest'
import { callMcp, expectDeclared, textOf } from '../../../test/mcp.ts'
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
  const event = 'Zorblax Quintörp signed'
  await tenant.track({ visitor_id: 'v-z', events: [{ event }] })
  const filter = { match: 'all', conditions: [{ event: { type: event }, operator: 'did' }] }
  const named: [string, object][] = [
    ['/v1/segments', { name: 'Signed', filter }],
    ['/v1/webhooks', { event, url: 'https://example.com/hook' }],
  ]
  for (const [path, body] of named) expect((await tenant.call('POST', path, body)).status).toBe(201)
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
  expectDeclared(name, body.result)
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
    { segment_id: ids.segment_id, sort_by: 'createdate', fields: FIELDS },
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
  run_insight: () => [
    { kind: 'trend', question: { series: [{}], breakdown: ['title', 'url'] } },
    { kind: 'trend', question: { series: [{}], breakdown: ['contact.city', 'city'] } },
    {
      kind: 'trend',
      question: { series: [{ where: [{ property: 'contact.city', operator: 'equals', value: 'Zedburg' }] }] },
    },
  ],
  insight_people: () => [{ kind: 'trend', question: { series: [{}] }, at: { series: 'A' } }],
  list_reports: () => [{}, { query: 'zorblax' }],
  list_alerts: () => [{}, { query: 'zorblax' }],
  get_report: () => [{ report_id: ids.report_id }],
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
    // Of calls with the same fields, the first: each of its fields is replaced in turn.
    const kinds = Map.groupBy(calls[name]?.() ?? [], (args) =>
      [...Object.keys(args), 'entity' in args && args.entity].join(),
    )
    for (const args of [...kinds.values()].flatMap(([first]) => first ?? [])) {
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

describe('names that stay', () => {
  let named: TestTenant
  let anna: string

  beforeAll(async () => {
    named = await createTestTenant(service)
    anna = await named.contact('anna.page@mailtoken.example', {
      firstname: 'Anna',
      lastname: 'Page',
      city: 'Rome',
      seats: 3,
      lifecyclestage: 'lead',
    })
    await named.contact('will@plain.example', {
      firstname: 'Will',
      lastname: 'Mark',
      source: 'Will',
      'Mobile Phone': '1',
    })
    const events = [
      'page_view',
      'Anna Page signed',
      'anna_page_left',
      'page anna',
      'Anna left',
      'Will bought',
      'mark_as_read',
      'Anna Pageant',
      'mail to anna.page@mailtoken.example',
    ].map((event) => ({
      event,
      email: 'anna.page@mailtoken.example',
      data: { firstname: 'Anna', phone: '1', plan: 'x' },
    }))
    expect((await named.call('POST', '/v1/events', { events })).status).toBe(200)
  })

  // biome-ignore lint/suspicious/noExplicitAny: results of every shape
  const read = async (name: string, args: object = {}): Promise<any> => {
    const { body } = await callMcp(service, named.key, 'tools/call', { name, arguments: args })
    expect(body.result.isError).toBeUndefined()
    expectDeclared(name, body.result)
    return body.result.structuredContent
  }
  const SHOWN = [
    'page_view',
    'name:ID signed',
    'name:ID_left',
    'name:ID',
    'Anna left',
    'Will bought',
    'mark_as_read',
    'Anna Pageant',
    'mail to email:ID',
  ].sort()
  const shownOf = (events: string[]) => events.map((event) => event.replaceAll(anna, 'ID')).sort()

  test('describe_schema has the names of properties and fields, and their choices, as a person reads them', async () => {
    const { contacts, events } = await read('describe_schema')
    const names = contacts.properties.map(({ name }: { name: string }) => name)
    expect(names).toEqual(
      expect.arrayContaining(['email', 'firstname', 'lastname', 'city', 'seats', 'Mobile Phone', 'source']),
    )
    expect(names.filter((name: string) => /^[a-z]+:[a-z2-7]{12}$/.test(name))).toEqual([])
    const stage = contacts.properties.find(({ name }: { name: string }) => name === 'lifecyclestage')
    expect(stage.choices).toEqual(expect.arrayContaining(['lead', 'customer', 'other']))
    const hidden = contacts.properties.filter((property: { hidden?: boolean }) => property.hidden)
    const hiddenNames = hidden.map(({ name }: { name: string }) => name)
    expect(hiddenNames).toEqual(expect.arrayContaining(['email', 'firstname', 'lastname', 'city', 'Mobile Phone']))
    expect(hiddenNames.filter((name: string) => /^(seats|lifecyclestage|source)$/.test(name))).toEqual([])
    const ofEvents = events.properties.map(({ name }: { name: string }) => name)
    expect(ofEvents).toEqual(expect.arrayContaining(['data.firstname', 'data.phone', 'data.plan', 'url']))
    const plan = events.properties.find(({ name }: { name: string }) => name === 'data.plan')
    expect(plan).toMatchObject({ kinds: ['text'], top_values: [expect.any(String)] })
    const known = Object.keys(events.event_types).filter((name) => !/^contact_/.test(name))
    expect(shownOf(known)).toEqual(SHOWN)
  })

  test('of the names of events only known full names and addresses are hidden, wherever they stand', async () => {
    const { events } = await read('query_events', { limit: 50 })
    expect(shownOf(events.map(({ event }: { event: string }) => event))).toEqual(SHOWN)
    const { by_type } = await read('event_stats')
    expect(shownOf(by_type.map(({ type }: { type: string }) => type))).toEqual(SHOWN)
    const { buckets } = await read('aggregate', { entity: 'events', group_by: 'event_type' })
    expect(shownOf(buckets.map(({ key }: { key: string }) => key))).toEqual(SHOWN)
    const { items } = await read('contact_timeline', { contact_id: anna, limit: 50 })
    const inTimeline = items
      .map(({ event }: { event: string }) => event)
      .filter((name: string) => !/^contact_/.test(name))
    expect(shownOf(inTimeline)).toEqual(SHOWN)
    const { latest_events: latest } = await read('get_contact', { contact_id: anna })
    expect(SHOWN).toEqual(expect.arrayContaining(shownOf(latest.map(({ event }: { event: string }) => event))))
  })

  test('a unified profile keeps the names of fields and sources, hides the values, and never has raw data', async () => {
    const { unified_profile: profile } = await read('get_contact', { contact_id: anna, include_sources: true })
    expect(Object.keys(profile.profile)).toEqual(
      expect.arrayContaining(['email', 'firstname', 'lastname', 'city', 'seats']),
    )
    expect(profile.profile.firstname).toMatchObject({
      unique_values: [{ value: `firstname:${anna}`, sources: [{ source: 'manual' }] }],
      all_sources: ['manual'],
    })
    expect(profile.profile.seats.unique_values[0].value).toBe(3)
    expect(JSON.stringify(profile)).not.toContain('raw_data')
  })

  test('a visit in a timeline names its events', async () => {
    const at = new Date(Date.now() - 86_400_000).toISOString()
    const visited = ['page_view', 'Anna Page signed', 'clicked'].map((event) => ({
      event,
      email: 'anna.page@mailtoken.example',
      session_id: 's1',
      visitor_id: 'v1',
      timestamp: at,
    }))
    await named.call('POST', '/v1/events', { events: visited })
    const { items } = await read('contact_timeline', { contact_id: anna, limit: 50 })
    const visit = items.find(({ kind }: { kind: string }) => kind === 'visit')
    expect(visit.event_count).toBe(3)
    expect(shownOf(visit.event_names)).toEqual(['clicked', 'name:ID signed', 'page_view'])
  })
})
