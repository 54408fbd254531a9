import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest'
import { createTestTenant, startTestService, type TestService, type TestTenant } from '../../../test/service.ts'
import { newId } from '../../platform/ids.ts'
import { DAY_MS, HOUR_MS } from '../../platform/time.ts'
import { lookAtDue } from './look.ts'

const START = new Date('2026-03-02T12:00:00Z')
let now = START
let service: TestService
let tenant: TestTenant

beforeAll(async () => {
  service = await startTestService({}, { clock: () => now })
})
beforeEach(async () => {
  now = new Date(Math.max(now.getTime(), START.getTime()))
  tenant = await createTestTenant(service)
})
afterAll(() => service?.close())

const later = (ms: number) => {
  now = new Date(now.getTime() + ms)
}

const PRICING = { event: 'page_view', where: [{ property: 'url_path', operator: 'starts_with', value: '/pricing' }] }

async function agent(monitoring: object = { triggers: [PRICING] }, more: object = {}): Promise<string> {
  const body = { name: 'Pricing', playbook_template: 'pricing_visitor_followup', enabled: true, monitoring, ...more }
  const response = await tenant.call('POST', '/v1/agents', body)
  if (response.status !== 201) throw new Error(JSON.stringify(response.body))
  return response.body.agent.agent_id
}

async function identified(visitor: string, email: string): Promise<string> {
  const { status, body } = await tenant.call('POST', '/v1/identify', { visitor_id: visitor, email })
  if (status !== 200 && status !== 201) throw new Error(JSON.stringify(body))
  return body.contact_id
}

const view = (visitor_id: string, path: string, more: object = {}) =>
  tenant.track({ visitor_id, events: [{ event: 'page_view', url: `https://${tenant.site}${path}`, ...more }] })
const runsOf = async (id: string) => (await tenant.call('GET', `/v1/agents/${id}/runs`)).body.runs
const ended = async (id: string, count: number) => {
  await expect
    .poll(async () => (await runsOf(id)).filter(({ status }: { status: string }) => status === 'completed').length, {
      timeout: 20_000,
    })
    .toBe(count)
  return runsOf(id)
}
const resultsOf = async ({ run_id }: { run_id: string }) =>
  (await tenant.call('GET', `/v1/agents/runs/${run_id}`)).body.run.contact_results
const looks = () =>
  tenant.handle.db.selectFrom('agent_looks').select(['agent_id', 'owner_id', 'due_at', 'looked_at']).execute()
/** Everything that is due has been decided. An anonymous visitor is not due until it is identified. */
const settled = () =>
  expect.poll(async () => (await looks()).filter(({ due_at }) => due_at !== null && due_at <= now)).toEqual([])

describe('an event', () => {
  test('of a contact becomes a proposal, and the run says which trigger it was', async () => {
    const id = await agent()
    const ada = await identified('v', 'ada@example.com')
    await view('v', '/blog')
    await view('v', '/pricing', { title: 'Plans' })
    const [run, ...others] = await ended(id, 1)
    expect(others).toEqual([])
    expect(run).toMatchObject({ trigger: 'event', triggered_by: PRICING, requested_by: { kind: 'service' } })
    const [result] = await resultsOf(run)
    expect(result.contact_id).toBe(ada)
    expect(result.reasoning).toMatch(/^Noticed because of the event “page_view”\. Viewed “Plans” once, today/)
    const types = result.proposed_actions.map(({ type, status }: { type: string; status: string }) => [type, status])
    expect(types).toContainEqual(['email_message', 'pending_approval'])
  })

  test('has the agent look at a contact once in the cooldown, however many there are', async () => {
    const id = await agent({ triggers: [PRICING, { event: 'signed_up' }], cooldown_hours: 2 })
    await identified('v', 'ada@example.com')
    await Promise.all(Array.from({ length: 20 }, () => view('v', '/pricing')))
    await ended(id, 1)
    later(HOUR_MS)
    await view('v', '/pricing')
    await tenant.track({ visitor_id: 'v', events: [{ event: 'signed_up' }] })
    await settled()
    // Flushes at the same moment may add a row each.
    expect((await looks()).length).toBeLessThanOrEqual(2)
    expect(await runsOf(id)).toHaveLength(1)
    later(2 * HOUR_MS)
    await view('v', '/pricing')
    await ended(id, 2)
  })

  test('of one contact is looked at once, however many processes do so', async () => {
    const id = await agent({ triggers: [PRICING], max_contacts_per_run: 2 })
    for (const each of ['a', 'b', 'c']) await identified(each, `${each}@example.com`)
    await Promise.all(['a', 'b', 'c'].map((each) => view(each, '/pricing')))
    await Promise.all(Array.from({ length: 6 }, () => lookAtDue(tenant.handle, id, now)))
    await settled()
    const runs = await ended(id, 2)
    const contacts = (await Promise.all(runs.map(resultsOf))).flat().map(({ contact_id }) => contact_id)
    expect([contacts.length, new Set(contacts).size]).toEqual([3, 3])
  })

  test('of a visitor counts when it is identified within a day, and not later', async () => {
    const id = await agent()
    await view('soon', '/pricing')
    await view('late', '/pricing')
    later(HOUR_MS)
    await settled()
    expect(await runsOf(id)).toEqual([])
    const ada = await identified('soon', 'ada@example.com')
    const [run] = await ended(id, 1)
    expect((await resultsOf(run)).map(({ contact_id }: { contact_id: string }) => contact_id)).toEqual([ada])
    later(3 * DAY_MS)
    await identified('late', 'late@example.com')
    await settled()
    expect(await runsOf(id)).toHaveLength(1)
  })

  test('that happened long before it arrived, or that another event only resembles, is none', async () => {
    const id = await agent({ triggers: [PRICING, { event: 'contact_created' }] })
    const ada = await tenant.contact('ada@example.com')
    await ended(id, 1)
    const old = new Date(now.getTime() - 2 * DAY_MS).toISOString()
    expect(await looks()).toMatchObject([{ owner_id: ada }])
    await identified('v', 'ada@example.com')
    later(2 * DAY_MS)
    await view('v', '/pricing', { timestamp: old })
    await tenant.track({ visitor_id: 'v', events: [{ event: 'contact_created' }] })
    await settled()
    expect(await runsOf(id)).toHaveLength(1)
  })

  test('of a contact outside of the audience, of a paused agent, and of another tenant has nobody looked at', async () => {
    const filter = { match: 'all', conditions: [{ property: 'email', operator: 'contains', value: '@acme.example' }] }
    const id = await agent({ triggers: [PRICING], filter })
    const paused = await agent({ triggers: [PRICING] }, { enabled: false })
    const stranger = await createTestTenant(service)
    const own = tenant
    tenant = stranger
    const theirs = await agent()
    tenant = own
    await identified('v', 'ada@other.example')
    const bob = await identified('w', 'bob@acme.example')
    await view('v', '/pricing')
    await view('w', '/pricing')
    await settled()
    const [run] = await ended(id, 1)
    expect((await resultsOf(run)).map(({ contact_id }: { contact_id: string }) => contact_id)).toEqual([bob])
    expect(await runsOf(paused)).toEqual([])
    expect((await stranger.call('GET', `/v1/agents/${theirs}/runs`)).body.runs).toEqual([])
  })
})

test('an entry into a segment has the agent look at the contact', async () => {
  const filter = { match: 'all', conditions: [{ property: 'lifecyclestage', operator: 'equals', value: 'lead' }] }
  const segment = async (name: string) =>
    (await tenant.call('POST', '/v1/segments', { name, filter })).body.segment.segment_id
  const [segmentId, otherId] = [await segment('Leads'), await segment('Others')]
  await expect
    .poll(async () => (await tenant.call('GET', `/v1/segments/${segmentId}`)).body.segment.status)
    .not.toBe('evaluating')
  const id = await agent({ triggers: [{ segment_entered: segmentId }] }, { playbook_template: 'cold_outreach' })
  const ada = await tenant.contact('ada@example.com', { lifecyclestage: 'lead' })
  const [run] = await ended(id, 1)
  expect(run).toMatchObject({ trigger: 'segment_entered', triggered_by: { segment_entered: segmentId } })
  const [result] = await resultsOf(run)
  expect(result).toMatchObject({ contact_id: ada, reasoning: expect.stringContaining('entered the segment “Leads”') })
  await tenant.call('PATCH', `/v1/agents/${id}`, { monitoring: { triggers: [{ segment_entered: otherId }] } })
  await tenant.call('DELETE', `/v1/segments/${otherId}`)
  await tenant.contact('bob@example.com', { lifecyclestage: 'lead' })
  await settled()
  expect(await runsOf(id)).toHaveLength(1)
})

describe('a score', () => {
  const hasPlan = { match: 'all', conditions: [{ property: 'plan', operator: 'equals', value: 'pro' }] }
  const viewed = {
    match: 'all',
    conditions: [{ event: { type: 'page_view', url_contains: '/pricing' }, operator: 'did' }],
  }
  const rules = [
    { points: 35, filter: hasPlan },
    { points: 27, filter: viewed },
  ]
  const scoreOf = async (id: string) => (await tenant.call('GET', `/v1/contacts/${id}`)).body.contact.properties.score
  const scored = (id: string, value: number) => expect.poll(() => scoreOf(id), { timeout: 20_000 }).toBe(value)

  test('that rises has the agent look at the contact once in the cooldown, and the reasons say from what to what', async () => {
    const ada = await identified('v', 'ada@example.com')
    const bob = await identified('w', 'bob@example.com')
    for (const id of [ada, bob]) await tenant.call('PUT', `/v1/contacts/${id}`, { properties: { plan: 'pro' } })
    await view('w', '/pricing')
    const score = { name: 'score', entity: 'contacts', score: rules }
    const { computed_property_id } = (await tenant.call('POST', '/v1/computed-properties', score)).body
      .computed_property
    await scored(ada, 35)
    await scored(bob, 62)
    const trigger = { score: { name: 'score', gte: 50 } }
    const id = await agent({ triggers: [trigger] }, { playbook_template: 'cold_outreach' })
    // It has been above since before, and stays there.
    await tenant.call('PUT', `/v1/contacts/${bob}`, { properties: { city: 'Paris' } })
    await view('v', '/pricing')
    const [run] = await ended(id, 1)
    expect(run).toMatchObject({ trigger: 'score', triggered_by: trigger })
    const results = await resultsOf(run)
    expect(results).toMatchObject([
      { contact_id: ada, reasoning: expect.stringMatching(/^Score rose to 62 \(from 35\)\./) },
    ])

    await tenant.call('PUT', `/v1/contacts/${ada}`, { properties: { plan: 'free' } })
    await scored(ada, 27)
    await tenant.call('PUT', `/v1/contacts/${ada}`, { properties: { plan: 'pro' } })
    await scored(ada, 62)
    await settled()
    expect(await runsOf(id)).toHaveLength(1)

    // Other rules are no rise.
    later(25 * HOUR_MS)
    const path = `/v1/computed-properties/${computed_property_id}`
    await tenant.call('PATCH', path, { score: [{ points: 10, filter: hasPlan }] })
    await scored(ada, 10)
    await tenant.call('PATCH', path, { score: [{ points: 90, filter: hasPlan }] })
    await scored(ada, 90)
    await settled()
    expect(await runsOf(id)).toHaveLength(1)

    // A new contact begins at 0.
    const eve = await tenant.contact('eve@example.com', { plan: 'pro' })
    const [next] = await ended(id, 2)
    expect(await resultsOf(next)).toMatchObject([
      { contact_id: eve, reasoning: expect.stringContaining('Score rose to 90 (from 0).') },
    ])
  })
})

describe('a merge and a deletion', () => {
  test('are followed: the survivor is looked at once, and a deleted contact never', async () => {
    const id = await agent()
    const ada = await identified('v', 'ada@example.com')
    const old = await identified('w', 'old@example.com')
    const gone = await identified('x', 'gone@example.com')
    await view('v', '/pricing')
    await ended(id, 1)
    // Not looked at yet: the agent's row is locked.
    await tenant.handle.transaction(async (tx) => {
      await tx.db.selectFrom('agents').select('agent_id').where('agent_id', '=', id).forUpdate().execute()
      await view('w', '/pricing')
      await view('x', '/pricing')
      expect((await tenant.call('POST', `/v1/contacts/${old}/merge`, { into: ada })).status).toBe(200)
      expect((await tenant.call('DELETE', `/v1/contacts/${gone}`)).status).toBe(200)
    })
    await settled()
    expect(await runsOf(id)).toHaveLength(1)
    later(25 * HOUR_MS)
    await view('w', '/pricing')
    const [run] = await ended(id, 2)
    expect((await resultsOf(run)).map(({ contact_id }: { contact_id: string }) => contact_id)).toEqual([ada])
  })

  test('of the agent leaves no looks', async () => {
    const id = await agent()
    await view('v', '/pricing')
    expect(await looks()).toHaveLength(1)
    expect((await tenant.call('DELETE', `/v1/agents/${id}`)).status).toBe(200)
    expect(await looks()).toEqual([])
  })
})

describe('a trigger', () => {
  const problemsOf = async (monitoring: object) => {
    const { status, body } = await tenant.call('POST', '/v1/agents', { name: 'Test', monitoring })
    return [status, body.error?.details?.map(({ path }: { path: string }) => path)]
  }

  test.each<[string, unknown, string]>([
    ['of nothing', [{}], 'monitoring.triggers[0]'],
    ['of two things', [PRICING, { event: 'x', segment_entered: newId() }], 'monitoring.triggers[1]'],
    ['with an unknown segment', [{ segment_entered: newId() }], 'monitoring.triggers[0].segment_entered'],
    ['that the agent itself would cause', [{ event: 'agent_action_proposed' }], 'monitoring.triggers[0].event'],
    ['with a blank event', [{ event: ' ' }], 'monitoring.triggers[0].event'],
    [
      'with an operator that does not exist',
      [{ event: 'x', where: [{ property: 'url_path', operator: 'resembles', value: 'x' }] }],
      'monitoring.triggers[0].where[0].operator',
    ],
    [
      'about the contact',
      [{ event: 'x', where: [{ property: 'contact.email', operator: 'is_set' }] }],
      'monitoring.triggers[0].where[0].property',
    ],
    [
      'with a date without a time',
      [{ event: 'x', where: [{ property: 'data.day', operator: 'after', value: '2026-05-01' }] }],
      'monitoring.triggers[0].where',
    ],
    ['of an unknown score', [{ score: { name: 'fit', gte: 5 } }], 'monitoring.triggers[0].score.name'],
    ['of a score with conditions', [{ score: { name: 'fit', gte: 5 }, where: [] }], 'monitoring.triggers[0].where'],
  ])('%s is refused', async (_, triggers, path) => {
    const [status, paths] = await problemsOf({ triggers })
    expect(status).toBe(400)
    expect(paths).toContain(path)
  })

  test('is refused beside more than 19 others, and with a cooldown out of bounds', async () => {
    const many = Array.from({ length: 21 }, () => PRICING)
    expect(await problemsOf({ triggers: many })).toEqual([400, ['monitoring.triggers']])
    for (const hours of [0, 721, 1.5])
      expect(await problemsOf({ cooldown_hours: hours })).toEqual([400, ['monitoring.cooldown_hours']])
  })

  test("of another tenant's segment is refused", async () => {
    const stranger = await createTestTenant(service)
    const filter = { match: 'all', conditions: [{ property: 'email', operator: 'is_set' }] }
    const { body } = await stranger.call('POST', '/v1/segments', { name: 'Theirs', filter })
    const [status] = await problemsOf({ triggers: [{ segment_entered: body.segment.segment_id }] })
    expect(status).toBe(400)
  })

  test('needs the scopes of what its runs read', async () => {
    const key = await tenant.keyWith('agents:write')
    const body = { name: 'Spy', monitoring: { triggers: [PRICING] } }
    const { status, body: refused } = await tenant.call('POST', '/v1/agents', body, key)
    expect([status, refused.error.code]).toEqual([403, 'insufficient_scope'])
    expect(refused.error.message).toContain('events:read')
  })
})
