import { beforeAll, beforeEach, describe, expect, test } from 'vitest'
import { NOTE, propose } from '../../test/actions.ts'
import { createClaimedSegment, evaluateNow } from '../../test/segments.ts'
import { call, createTestTenant, sharedService, type TestService, type TestTenant } from '../../test/service.ts'
import type { SegmentCondition } from '../conditions/language.ts'
import { DAY_MS } from '../platform/time.ts'
import { queueChecks } from './check-queue.ts'
import { cacheDefinitions } from './definitions.ts'
import { createSegment } from './segments.ts'

let service: TestService
let tenant: TestTenant

beforeAll(async () => {
  service = await sharedService()
})
beforeEach(async () => {
  tenant = await createTestTenant(service)
})

const LEAD: SegmentCondition = { property: 'lifecyclestage', operator: 'equals', value: 'lead' }
const bought = (more: object = {}): SegmentCondition => ({ event: { type: 'purchase', ...more }, operator: 'did' })

/** Defines a segment and waits until the service has found its members. */
async function define(...conditions: SegmentCondition[]): Promise<string> {
  const segment = { name: 'Some', description: null, filter: { match: 'all', conditions } }
  const { segmentId } = await createSegment(tenant.handle, segment, new Date())
  await eventually(async () => {
    const row = await tenant.handle.db
      .selectFrom('segments')
      .select('evaluated_at')
      .where('segment_id', '=', segmentId)
      .executeTakeFirstOrThrow()
    expect(row.evaluated_at).not.toBeNull()
  })
  return segmentId
}

/** Memberships follow events within seconds (decision 7.2). */
async function eventually(check: () => Promise<void>): Promise<void> {
  await expect.poll(() => check().then(() => 'done', String), { interval: 100 }).toBe('done')
}

/** The recorded entries and exits of a contact, in order. */
async function transitionsOf(contactId: string): Promise<string[]> {
  const both = await Promise.all(
    ['segment_entered', 'segment_exited'].map((type) =>
      tenant.call('GET', `/v1/events?contact_id=${contactId}&event_type=${type}&limit=100`),
    ),
  )
  const events = both.flatMap(
    (response) => response.body.events as { event: string; timestamp: string; event_id: string }[],
  )
  const inOrder = events.sort((a, b) => (a.timestamp + a.event_id < b.timestamp + b.event_id ? -1 : 1))
  return inOrder.map(({ event }) => event)
}

const segmentsOf = async (contactId: string): Promise<string[]> =>
  (await tenant.call('GET', `/v1/contacts/${contactId}`)).body.contact.segment_ids
const countOf = async (segmentId: string): Promise<number> =>
  (await tenant.call('GET', `/v1/segments/${segmentId}`)).body.segment.contact_count
const visit = (visitor_id: string, event: string, more: object = {}) =>
  tenant.track({ visitor_id, events: [{ event, url: `https://${tenant.site}/x`, ...more }] })

describe("a contact's own changes", () => {
  test('take effect in the response, and each entry and exit is recorded once', async () => {
    const segmentId = await define(LEAD)
    const created = await tenant.call('POST', '/v1/contacts', {
      email: 'ada@example.com',
      properties: { lifecyclestage: 'lead' },
    })
    const { contact_id } = created.body.contact
    expect(created.body.contact.segment_ids).toEqual([segmentId])
    expect(await countOf(segmentId)).toBe(1)
    const path = `/v1/contacts/${contact_id}`
    await tenant.call('PUT', path, { properties: { city: 'Paris' } })
    expect(await transitionsOf(contact_id)).toEqual(['segment_entered'])
    const changed = await tenant.call('PUT', path, { properties: { lifecyclestage: 'customer' } })
    expect(changed.body.contact.segment_ids).toEqual([])
    expect(await countOf(segmentId)).toBe(0)
    const back = await tenant.call('PUT', path, { properties: { lifecyclestage: 'lead' } })
    expect(back.body.contact.segment_ids).toEqual([segmentId])
    expect(await transitionsOf(contact_id)).toEqual(['segment_entered', 'segment_exited', 'segment_entered'])
    await tenant.call('DELETE', path)
    expect(await countOf(segmentId)).toBe(0)
    expect((await transitionsOf(contact_id)).at(-1)).toBe('segment_exited')
    const { body } = await tenant.call('GET', `/v1/events?event_type=segment_entered&limit=1`)
    expect(body.events[0].data).toEqual({ segment_id: segmentId, segment_name: 'Some' })
  })

  test('that are rejected change no membership', async () => {
    const segmentId = await define(LEAD)
    await tenant.contact('taken@example.com')
    const contactId = await tenant.contact('ada@example.com')
    const response = await tenant.call('PUT', `/v1/contacts/${contactId}`, {
      properties: { lifecyclestage: 'lead', email: 'taken@example.com' },
    })
    expect(response.status).toBe(409)
    expect(await segmentsOf(contactId)).toEqual([])
    expect(await countOf(segmentId)).toBe(0)
  })

  test('made concurrently leave as many entries as exits', async () => {
    const segmentId = await define(LEAD)
    const contactId = await tenant.contact('ada@example.com')
    const stages = Array.from({ length: 24 }, (_, index) => (index % 2 === 0 ? 'lead' : 'customer'))
    await Promise.all(
      stages.map((lifecyclestage) =>
        tenant.call('PUT', `/v1/contacts/${contactId}`, { properties: { lifecyclestage } }),
      ),
    )
    const isMember = (await segmentsOf(contactId)).includes(segmentId)
    const ways = await transitionsOf(contactId)
    const entered = ways.filter((way) => way === 'segment_entered').length
    expect(entered - (ways.length - entered)).toBe(isMember ? 1 : 0)
    expect(await countOf(segmentId)).toBe(isMember ? 1 : 0)
  })

  test('update memberships exactly if a filter uses the changed column', async () => {
    const company = await tenant.call('POST', '/v1/companies', { domain: 'acme.com' })
    const { company_id } = company.body.company
    const contactId = await tenant.contact('ada@example.com', { city: 'Rome', plan: 'pro' })
    const { body } = await tenant.call('GET', `/v1/contacts/${contactId}`)
    const segments = {
      email: await define({ property: 'email', operator: 'contains', value: 'lovelace' }),
      company: await define({ property: 'company_id', operator: 'is_set' }),
      updated: await define({
        property: 'updated_at',
        operator: 'after',
        value: new Date(Date.now() + 1).toISOString(),
      }),
      without: await define({ property: 'plan', operator: 'is_not_set' }),
      nested: await define({ match: 'any', conditions: [{ property: 'city', operator: 'equals', value: 'Oslo' }] }),
    }
    expect(body.contact.properties.city).toBe('Rome')
    const after = async (change: object) => {
      const { body } = await tenant.call('PUT', `/v1/contacts/${contactId}`, change)
      return new Set(body.contact.segment_ids)
    }
    const { email, updated, without, nested } = segments
    expect(await after({ properties: { email: 'ada.lovelace@example.com' } })).toEqual(new Set([email, updated]))
    expect(await after({ properties: { plan: null } })).toEqual(new Set([email, updated, without]))
    expect(await after({ company_id })).toEqual(new Set([email, updated, without, segments.company]))
    expect(await after({ properties: { city: 'Oslo' } })).toEqual(new Set(Object.values(segments)))
    expect(await after({ company_id: null, properties: { city: null } })).toEqual(new Set([email, updated, without]))
    expect(await after({ company_id })).toContain(segments.company)
    await tenant.call('DELETE', `/v1/companies/${company_id}`)
    expect(await segmentsOf(contactId)).not.toContain(segments.company)
    expect(await segmentsOf(contactId)).not.toContain(nested)
  })

  test('include an identification of a visitor and a change of company', async () => {
    const company = await tenant.call('POST', '/v1/companies', { domain: 'acme.com' })
    const { company_id } = company.body.company
    const segmentId = await define({ property: 'company_id', operator: 'equals', value: company_id })
    const identified = await define({ property: 'creation_source', operator: 'equals', value: 'identify' })
    const contactId = await tenant.contact('ada@example.com', {}, { company_id })
    expect(await segmentsOf(contactId)).toEqual([segmentId])
    const { body } = await tenant.call('POST', '/v1/identify', { email: 'bob@example.com' })
    expect(await segmentsOf(body.contact_id)).toEqual([identified])
  })
})

describe('events', () => {
  test('make an identified contact enter and exit once each', async () => {
    const buyers = await define(bought({ min_count: 2 }))
    const idle = await define({ event: { type: 'purchase' }, operator: 'did_not' })
    const contactId = await tenant.contact('ada@example.com', {}, { visitor_id: 'v' })
    expect(await segmentsOf(contactId)).toEqual([idle])
    await visit('v', 'purchase')
    await eventually(async () => expect(await segmentsOf(contactId)).toEqual([]))
    await Promise.all([visit('v', 'purchase'), visit('v', 'purchase')])
    await eventually(async () => expect(await segmentsOf(contactId)).toEqual([buyers]))
    await visit('v', 'purchase')
    // A change of the contact also considers its events.
    await tenant.call('PUT', `/v1/contacts/${contactId}`, { properties: { city: 'Paris' } })
    await eventually(async () => expect(await checksLeft()).toBe(0))
    expect(await transitionsOf(contactId)).toEqual(['segment_entered', 'segment_exited', 'segment_entered'])
    expect([await countOf(buyers), await countOf(idle)]).toEqual([1, 0])
  })

  test('of an anonymous visitor count once the contact is identified', async () => {
    const segmentId = await define(bought({ url_contains: '/X' }), { property: 'email', operator: 'is_set' })
    await visit('v', 'purchase')
    const { body } = await tenant.call('POST', '/v1/identify', { visitor_id: 'v', email: 'ada@example.com' })
    await eventually(async () => expect(await segmentsOf(body.contact_id)).toEqual([segmentId]))
    expect(await transitionsOf(body.contact_id)).toEqual(['segment_entered'])
  })

  test('recorded by the service count if a condition names them', async () => {
    const segmentId = await define({ event: { type: 'contact_updated', min_count: 2 }, operator: 'did' })
    const any = await define({ event: { min_count: 1 }, operator: 'did' })
    const contactId = await tenant.contact('ada@example.com')
    for (const city of ['Paris', 'Rome']) {
      await tenant.call('PUT', `/v1/contacts/${contactId}`, { properties: { city } })
    }
    await eventually(async () => expect(await segmentsOf(contactId)).toEqual([segmentId]))
    expect(await countOf(any)).toBe(0)
  })

  test('of a form submission count, with and without a linked visitor', async () => {
    const submitted = (more: object = {}): SegmentCondition => ({
      event: { type: 'form_submission', ...more },
      operator: 'did',
    })
    const contactId = await tenant.contact('ada@example.com', {}, { visitor_id: 'v' })
    const once = await define(submitted())
    const twice = await define(submitted({ min_count: 2 }))
    const submit = (more: object) =>
      call(service, 'POST', `/v1/public/form-submission/${tenant.id}/f`, {
        headers: { origin: `https://${tenant.site}` },
        body: JSON.stringify({ contact_data: { email: 'ada@example.com' }, ...more }),
      })
    expect((await submit({ visitor_id: 'v' })).body.contact_id).toBe(contactId)
    await eventually(async () => expect(await segmentsOf(contactId)).toEqual([once]))
    expect((await submit({})).status).toBe(200)
    await eventually(async () => expect(await segmentsOf(contactId)).toEqual([once, twice]))
  })

  test("of agents' actions count", async () => {
    const contactId = await tenant.contact('ada@example.com', { lifecyclestage: 'lead' })
    const acted = (type: string) => define({ event: { type }, operator: 'did' })
    const [proposed, executed] = [await acted('agent_action_proposed'), await acted('agent_action_executed')]
    const agent = { name: 'A', playbook_template: 'cold_outreach', capabilities: ['email'] }
    const { agent_id } = (await tenant.call('POST', '/v1/agents', agent)).body.agent
    await tenant.call('POST', `/v1/agents/${agent_id}/trigger`, { contact_ids: [contactId] })
    await eventually(async () => expect(await segmentsOf(contactId)).toEqual([proposed]))
    await propose(tenant.handle, service.jobs, { contactId, ...NOTE })
    await eventually(async () => expect(await segmentsOf(contactId)).toEqual([proposed, executed]))
  })

  test("of another tenant's contact do not count", async () => {
    const segmentId = await define(bought())
    const contactId = await tenant.contact('ada@example.com', {}, { visitor_id: 'v' })
    const stranger = await createTestTenant(service)
    await stranger.contact('ada@example.com', {}, { visitor_id: 'v' })
    await stranger.track({ visitor_id: 'v', events: [{ event: 'purchase' }] })
    await tenant.call('PUT', `/v1/contacts/${contactId}`, { properties: { city: 'Paris' } })
    expect(await countOf(segmentId)).toBe(0)
    expect(await segmentsOf(contactId)).toEqual([])
  })
})

async function checksLeft(): Promise<number> {
  const rows = await tenant.handle.db.selectFrom('segment_checks').select('contact_id').execute()
  return rows.length
}

describe('a whole segment', () => {
  const dependencies = (clock = () => new Date()) => ({
    definitions: cacheDefinitions(),
    clock,
  })

  test('gets its first members without events, because they did not enter', async () => {
    const ids = await Promise.all(
      ['a', 'b', 'c'].map((name) =>
        tenant.contact(`${name}@example.com`, { lifecyclestage: name === 'c' ? 'sql' : 'lead' }),
      ),
    )
    const segmentId = await define(LEAD)
    expect(await countOf(segmentId)).toBe(2)
    expect(await Promise.all(ids.map(transitionsOf))).toEqual([[], [], []])
  })

  test('loses members as time passes, with events, when it is evaluated again', async () => {
    const created: SegmentCondition = { property: 'created_at', operator: 'within_days', value: 7 }
    const segmentId = await define(created, bought({ within_days: 3 }))
    const contactId = await tenant.contact('ada@example.com', {}, { visitor_id: 'v' })
    await visit('v', 'purchase')
    await eventually(async () => expect(await segmentsOf(contactId)).toEqual([segmentId]))
    // A pending check would use today's clock and add the contact again. Everything noted so far is queued before later
    // ones are checked, so once this one is done, all are.
    await queueChecks(tenant.handle, [contactId])
    await eventually(async () => expect(await checksLeft()).toBe(0))
    const inFourDays = new Date(Date.now() + 4 * DAY_MS)
    await evaluateNow(
      tenant.handle,
      segmentId,
      dependencies(() => inFourDays),
    )
    expect(await segmentsOf(contactId)).toEqual([])
    expect(await transitionsOf(contactId)).toEqual(['segment_entered', 'segment_exited'])
  })

  test('updates segments that use its exit events', async () => {
    const young = await define({ property: 'created_at', operator: 'within_days', value: 7 })
    const left = await define({ event: { type: 'segment_exited' }, operator: 'did' })
    const contactId = await tenant.contact('ada@example.com')
    expect(await segmentsOf(contactId)).toEqual([young])
    await eventually(async () => expect(await checksLeft()).toBe(0))
    const inTenDays = new Date(Date.now() + 10 * DAY_MS)
    await evaluateNow(
      tenant.handle,
      young,
      dependencies(() => inTenDays),
    )
    // The service's clock lets the contact into the first segment again.
    await eventually(async () => expect(await segmentsOf(contactId)).toContain(left))
  })

  test('includes contacts that change while it is created', async () => {
    const names = Array.from({ length: 40 }, (_, index) => `person${index}@example.com`)
    const contacts = Promise.all(names.map((email) => tenant.contact(email, { lifecyclestage: 'lead' })))
    const segments = await Promise.all([define(LEAD), define(LEAD, { property: 'email', operator: 'is_set' })])
    await contacts
    expect(await Promise.all(segments.map(countOf))).toEqual([40, 40])
  })

  test('includes contacts that are locked during its evaluation', async () => {
    const contactId = await tenant.contact('ada@example.com', { lifecyclestage: 'lead' })
    const segment = { name: 'Some', description: null, filter: { match: 'all', conditions: [LEAD] } }
    await tenant.handle.transaction(async (tx) => {
      await tx.db.selectFrom('contacts').select('contact_id').forUpdate().execute()
      const { segmentId } = await createClaimedSegment(tenant.handle, segment)
      await evaluateNow(tenant.handle, segmentId)
      expect(await countOf(segmentId)).toBe(0)
    })
    await eventually(async () => expect(await segmentsOf(contactId)).toHaveLength(1))
  })

  test('is deleted with its tenant', async () => {
    await define(LEAD)
    await tenant.contact('ada@example.com', { lifecyclestage: 'lead' })
    const { database } = service.stores
    await database.deleteFrom('tenants').where('tenant_id', '=', tenant.id).execute()
    const counts = await database.selectFrom('segment_counts').selectAll().where('tenant_id', '=', tenant.id).execute()
    expect(counts).toEqual([])
  })
})

test('a tenant that creates hundreds of segments does not delay those of others', async () => {
  const busy = tenant.handle
  const filter = { match: 'all', conditions: [LEAD] }
  await busy.transaction(async (tx) => {
    for (let index = 0; index < 400; index++) {
      await createSegment(tx, { name: `Segment ${index}`, description: null, filter }, new Date())
    }
  })
  tenant = await createTestTenant(service)
  await define(LEAD)
  const waiting = await busy.db.selectFrom('segments').select('segment_id').where('evaluated_at', 'is', null).execute()
  expect(waiting.length).toBeGreaterThan(0)
})
