import { beforeAll, describe, expect, test } from 'vitest'
import { createTestTenant, sharedService, type TestService, type TestTenant } from '../../test/service.ts'
import { type Stream, type StreamEvent, writeStream } from '../../test/streams.ts'
import { until } from '../../test/webhooks.ts'

let service: TestService
let tenant: TestTenant
let stream: Stream

const RANGE = { date_from: '2026-03-28', date_to: '2026-03-30' }
const [FIRST, LAST] = [Date.parse('2026-03-28T00:00:00Z'), Date.parse('2026-03-31T00:00:00Z') - 1]

beforeAll(async () => {
  service = await sharedService()
  tenant = await createTestTenant(service)
  const span = { from: FIRST - 86_400_000, until: LAST + 86_400_000 }
  stream = await writeStream(service, tenant, { seed: 11, events: 160, ...span })
})

const counted = (event: StreamEvent) => !event.isBot && !event.isSystem && event.at >= FIRST && event.at <= LAST
const people = (body: object) => tenant.call('POST', '/v1/insights/people', body)

async function contactsIn(filter: unknown): Promise<string[]> {
  const query = `limit=100&filter=${encodeURIComponent(JSON.stringify(filter))}`
  const { status, body } = await tenant.call('GET', `/v1/contacts?${query}`)
  expect([status, body.error]).toEqual([200, undefined])
  return body.contacts.map((contact: { contact_id: string }) => contact.contact_id).sort()
}

interface Place {
  series: string
  interval?: string
  breakdown?: unknown[]
  by?: string[]
}
const OF_EVENTS = ['country', 'data.plan']
const OF_CONTACTS = ['contact.tags', 'company.industry']

test.each<[Place, (event: StreamEvent) => boolean]>([
  [{ series: 'B' }, (event: StreamEvent) => event.name === 'signup'],
  [
    { series: 'B', interval: '2026-03-29' },
    (event: StreamEvent) => event.name === 'signup' && new Date(event.at).getUTCDate() === 29,
  ],
  [
    { series: 'A', breakdown: ['DE', 'pro'] },
    (event: StreamEvent) => event.country === 'DE' && [event.data.plan].flat().includes('pro'),
  ],
  [{ series: 'A', breakdown: [null, 5] }, (event: StreamEvent) => event.country === '' && event.data.plan === 5],
  [
    { series: 'A', breakdown: ['beta', 'Rail'], by: OF_CONTACTS },
    ({ person }: StreamEvent) =>
      [stream.valueOf(person, 'contact.tags')].flat().includes('beta') &&
      stream.valueOf(person, 'company.industry') === 'Rail',
  ],
  [
    { series: 'A', breakdown: [null, null], by: OF_CONTACTS },
    ({ person }: StreamEvent) =>
      ['', undefined].includes([stream.valueOf(person, 'contact.tags')].flat()[0] as string) &&
      stream.valueOf(person, 'company.industry') === undefined,
  ],
])('the people behind %j of a trend are those of its events', async ({ by = OF_EVENTS, ...at }: Place, isMeant) => {
  const breakdown = 'breakdown' in at ? { breakdown: by } : {}
  const question = {
    ...RANGE,
    ...breakdown,
    series: [{}, { event: 'signup', metric: 'unique_people' }],
    interval: 'day',
  }
  const { status, body } = await people({ kind: 'trend', question, at })
  expect([status, body.error]).toEqual([200, undefined])
  const behind = stream.events.filter((event) => counted(event) && isMeant(event) && event.person !== null)
  const contacts = [...new Set(behind.filter(({ isContact }) => isContact).map(({ person }) => person))].sort()
  const anonymous = new Set(behind.filter(({ isContact }) => !isContact).map(({ person }) => person))
  expect(behind.length).toBeGreaterThan(1)
  expect(body).toMatchObject({ contacts: contacts.length, anonymous: anonymous.size })
  expect(body.filter.conditions).toEqual([{ insight: 'trend', question, at, operator: 'did' }])
  expect(await contactsIn(body.filter)).toEqual(contacts)
  const others = { match: 'all', conditions: [{ ...body.filter.conditions[0], operator: 'did_not' }] }
  const alive = await contactsIn({ match: 'all', conditions: [] })
  expect(await contactsIn(others)).toEqual(alive.filter((id) => !contacts.includes(id)))
})

test('a number becomes a segment, with the same contacts', async () => {
  const question = { ...RANGE, series: [{ event: 'paid', metric: 'unique_people' }] }
  const { filter, contacts } = (await people({ kind: 'trend', question, at: { series: 'A' } })).body
  const { status, body } = await tenant.call('POST', '/v1/segments', { name: 'Paid', filter })
  expect([status, body.segment?.filter]).toEqual([201, filter])
  const path = `/v1/segments/${body.segment.segment_id}/contacts?limit=100`
  const members = await until(async () => {
    const { counting, contacts: found } = (await tenant.call('GET', path)).body
    expect(counting).toBe(false)
    return found as { contact_id: string }[]
  })
  expect(members.map(({ contact_id }) => contact_id).sort()).toEqual(await contactsIn(filter))
  expect(members.length).toBe(contacts)
})

test.each([
  [{ question: { series: [] } }, 'question.series'],
  [{ question: { series: [{}], last: { value: 0, unit: 'day' } } }, 'question.last.value'],
  [{ question: { series: [{}], nothing: 1 } }, 'question.nothing'],
  [{ at: { series: 'B' } }, 'at.series'],
  [{ at: {} }, 'at.series'],
  [{ at: { series: 'A', interval: '2026-04-01' } }, 'at.interval'],
  [{ at: { series: 'A', breakdown: ['x'] } }, 'at.breakdown'],
])('%j is refused', async (wrong, path) => {
  const sent = { kind: 'trend', question: { ...RANGE, series: [{}] }, at: { series: 'A' }, ...wrong }
  const { status, body } = await people(sent)
  expect([status, body.error?.code, body.error?.details?.[0].path]).toEqual([400, 'validation_error', path])
  const condition = { insight: 'trend', question: sent.question, at: sent.at, operator: 'did' }
  const filter = { match: 'all', conditions: [condition] }
  const segment = await tenant.call('POST', '/v1/segments', { name: `Wrong ${path}`, filter })
  expect([segment.status, segment.body.error?.code]).toEqual([400, 'validation_error'])
})

test('the people of another tenant are not counted', async () => {
  const other = await createTestTenant(service)
  const question = { ...RANGE, series: [{}] }
  const { body } = await other.call('POST', '/v1/insights/people', { kind: 'trend', question, at: { series: 'A' } })
  expect(body).toMatchObject({ contacts: 0, anonymous: 0 })
})

describe('a question about some people', () => {
  const isPlan = (value: string) => ({ match: 'all', conditions: [{ property: 'plan', operator: 'equals', value }] })
  const ask = (body: object, key?: string) => tenant.call('POST', '/v1/insights/trend', { ...RANGE, ...body }, key)

  test('counts the events of contacts alone that meet the filter', async () => {
    const { body } = await ask({ series: [{}, { metric: 'unique_people' }], people: isPlan('pro') })
    const ofPro = stream.events.filter(
      (event) => counted(event) && event.isContact && stream.contacts.indexOf(event.person ?? '') % 2 === 1,
    )
    expect(body.series.map(({ total }: { total: number }) => total)).toEqual([
      ofPro.length,
      new Set(ofPro.map(({ person }) => person)).size,
    ])
    const both = await ask({
      series: [{}],
      people: isPlan('pro'),
      where: [{ property: 'contact.plan', operator: 'equals', value: 'pro' }],
    })
    expect(both.body.series[0].total).toBe(ofPro.length)
  })

  test('may name what they did, and who is behind another number', async () => {
    const did = (type: string) => ({ event: { type }, operator: 'did' })
    const question = { ...RANGE, series: [{ event: 'paid' }] }
    const { filter } = (await people({ kind: 'trend', question, at: { series: 'A' } })).body
    const total = async (filtered: object) => (await ask({ series: [{}], people: filtered })).body.series[0].total
    expect(await total(filter)).toBeGreaterThan(0)
    expect(await total({ match: 'all', conditions: [...filter.conditions, did('signup')] })).toBe(
      await total({ match: 'all', conditions: [did('signup'), ...filter.conditions] }),
    )
    expect(await total({ match: 'all', conditions: [...filter.conditions, did('never')] })).toBe(0)
  })

  test('needs the scope of contacts, and a valid filter', async () => {
    const key = (await tenant.call('POST', '/v1/api-keys', { name: 'events', scopes: ['events:read'] })).body.api_key
    expect((await ask({ series: [{}] }, key)).status).toBe(200)
    const refused = await ask({ series: [{}], people: isPlan('pro') }, key)
    expect([refused.status, refused.body.error.code]).toEqual([403, 'insufficient_scope'])
    const wrong = await ask({ series: [{}], people: { match: 'some', conditions: [] } })
    expect([wrong.status, wrong.body.error.details[0].path]).toEqual([400, 'people.match'])
    const value = [crypto.randomUUID()]
    const unknown = { match: 'all', conditions: [{ property: 'segment', operator: 'in', value }] }
    const answer = await ask({ series: [{}], people: unknown })
    expect([answer.status, answer.body.error.code]).toEqual([400, 'unknown_segment'])
  })
})
