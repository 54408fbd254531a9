import { beforeAll, expect, test } from 'vitest'
import { createTestTenant, sharedService, type TestService, type TestTenant } from '../../../test/service.ts'
import { openGroupCommit } from '../../cli/session.ts'
import { eventIdOf } from '../../journal/sent-ids.ts'
import { ServiceError } from '../../platform/errors.ts'
import { NOWHERE } from '../../platform/places.ts'
import { type Call, EMPTY_CALL } from './call.ts'
import { type CallSender, createCallRecorder, type RecordCalls } from './record-calls.ts'

/** What SDKs send and POST /v1/events does not accept: properties, groups, previous ids, browser keys. */

let service: TestService
let tenant: TestTenant
let recordCalls: RecordCalls
const counted: number[] = []
let requiresSignature = false

beforeAll(async () => {
  service = await sharedService()
  tenant = await createTestTenant(service)
  recordCalls = createCallRecorder({
    ...service.writing,
    groupCommit: openGroupCommit(service.stores, service.postgres.pool),
    placeOf: () => NOWHERE,
    sourceUsage: { note: (_source, events) => void counted.push(events) },
    findIdentificationKeys: async () => ({ requiresSignature, keys: [] }),
  })
})

const SERVER: CallSender = { sourceId: crypto.randomUUID(), trust: 'verified', page: null }
const BROWSER: CallSender = {
  sourceId: crypto.randomUUID(),
  trust: 'unverified',
  page: { host: 'shop.example', address: '', hints: null },
}

const send = (calls: (Partial<Call> | ServiceError)[], sender = SERVER) =>
  recordCalls(
    tenant.handle,
    sender,
    calls.map((call) => (call instanceof ServiceError ? call : { ...EMPTY_CALL, ...call })),
  )
const event = (name: string, sentId: string | null = null, context: Record<string, unknown> = {}) => ({
  event: { event: name, sentId, sessionId: null, context, clockCorrection: 0 },
})
const page = (path: string, timestamp: string) => {
  const seen = event('page_view').event
  return { event: { ...seen, url: `https://shop.example${path}`, timestamp } }
}
const contactOf = async (id: string | null | undefined) => (await tenant.call('GET', `/v1/contacts/${id}`)).body.contact
const accepted = (results: Awaited<ReturnType<RecordCalls>>) =>
  results.map((result) => (result.status === 'accepted' ? result : expect.fail(JSON.stringify(result))))
const count = async (query: string) => (await tenant.call('GET', `/v1/events?count_only=true&${query}`)).body.count

test('calls of one person take effect in their order, and events belong to the person from the start', async () => {
  const calls: Partial<Call>[] = [
    { visitorId: 'a1', ...event('seen') },
    { userId: 'a', visitorId: 'a1', properties: { plan: 'free', seats: 1 } },
    { userId: 'a', ...event('paid') },
    { userId: 'a', email: 'a@example.com', properties: { plan: 'pro' } },
    { userId: 'a', properties: { seats: 2 } },
    { userId: 'b', properties: { plan: 'basic' } },
  ]
  const results = accepted(await send(calls))
  const [, first, , , , other] = results
  expect(new Set(results.slice(1, 5).map(({ contactId }) => contactId)).size).toBe(1)
  expect(await contactOf(first?.contactId)).toMatchObject({
    properties: { plan: 'pro', seats: 2, email: 'a@example.com' },
  })
  expect(await contactOf(other?.contactId)).toMatchObject({ properties: { plan: 'basic' } })
  expect(await count(`contact_id=${first?.contactId}`)).toBe(2)
  expect(counted.at(-1)).toBe(2)
})

test('people whom a request names first are created with their properties and their first page', async () => {
  const tooMuch = 'x'.repeat(300_000)
  const calls = Array.from(
    { length: 200 },
    (_, n): Partial<Call> => ({
      userId: `new-${n}`,
      email: n % 2 ? `new-${n}@example.com` : null,
      properties: n === 7 ? { bio: tooMuch } : { plan: `plan ${n}` },
      visitorId: n % 3 ? `visitor-${n}` : null,
      ...page(`/first/${n}`, '2026-03-01T00:00:00Z'),
    }),
  )
  const results = await send([...calls, { userId: 'new-0', ...page('/zeroth', '2026-02-01T00:00:00Z') }])
  const [failed] = results.splice(7, 1)
  expect(failed).toMatchObject({ status: 'failed', error: { code: 'contact_too_large' } })
  const ids = accepted(results).map(({ contactId }) => contactId)
  expect(new Set(ids).size).toBe(199)
  expect(await contactOf(ids[199])).toMatchObject({
    properties: { plan: 'plan 0', first_landing_page: 'https://shop.example/zeroth' },
    first_seen_at: '2026-02-01T00:00:00.000Z',
  })
  expect(await contactOf(ids[10])).toMatchObject({
    properties: { plan: 'plan 11', email: 'new-11@example.com', first_landing_page: 'https://shop.example/first/11' },
  })
  // Not created first and given their properties later, which webhooks would report as a change.
  const { events } = (await tenant.call('GET', `/v1/events?contact_id=${ids[10]}&include=system&sort_dir=asc`)).body
  expect(events).toMatchObject([
    { event: 'page_view' },
    { event: 'contact_created', data: { properties: { plan: 'plan 11' } } },
    { event: 'contact_identified' },
  ])
})

test("a page that names its visitor at once creates the contact, whose first page is that of the visitor's first event", async () => {
  const [direct] = accepted(await send([{ userId: 'direct', ...page('/direct', '2026-03-02T00:00:00Z') }], BROWSER))
  expect(await contactOf(direct?.contactId)).toMatchObject({
    properties: { first_landing_page: 'https://shop.example/direct' },
  })
  await send([{ visitorId: 'early', ...page('/landing', '2026-03-01T00:00:00Z') }], BROWSER)
  const [later] = accepted(
    await send([{ visitorId: 'early', userId: 'early', ...page('/later', '2026-03-02T00:00:00Z') }], BROWSER),
  )
  expect(await contactOf(later?.contactId)).toMatchObject({
    properties: { first_landing_page: 'https://shop.example/landing' },
    first_seen_at: '2026-03-01T00:00:00.000Z',
  })
  const [, named] = accepted(
    await send(
      [
        { visitorId: 'batch', ...page('/landing', '2026-03-01T00:00:00Z') },
        { visitorId: 'batch', userId: 'batch', ...page('/later', '2026-03-02T00:00:00Z') },
      ],
      BROWSER,
    ),
  )
  expect(await contactOf(named?.contactId)).toMatchObject({
    properties: { first_landing_page: 'https://shop.example/landing' },
  })
})

test('successive calls about a person are one change of the contact, and a bad one fails alone', async () => {
  const [first] = accepted(await send([{ userId: 'often', properties: { plan: 'basic' } }]))
  const calls = Array.from({ length: 20 }, (_, n) => ({
    userId: 'often',
    properties: { plan: `plan ${n}`, [`key_${n}`]: n },
  }))
  accepted(await send(calls))
  const updates = `contact_id=${first?.contactId}&event_type=contact_updated&include=system`
  expect(await count(updates)).toBe(1)
  const results = await send([
    { userId: 'often', properties: { plan: 'good' } },
    { userId: 'often', properties: { bio: 'x'.repeat(300_000) } },
    { userId: 'often', properties: { plan: 'better' } },
  ])
  expect(results.map(({ status }) => status)).toEqual(['accepted', 'failed', 'accepted'])
  expect(await contactOf(first?.contactId)).toMatchObject({ properties: { plan: 'better', key_19: 19 } })
})

test('known contacts get the first pages of a request', async () => {
  const people = Array.from({ length: 250 }, (_, n) => `known-${n}`)
  await send(people.map((userId) => ({ userId, properties: { plan: 'pro' } })))
  const results = accepted(
    await send(people.map((userId, n) => ({ userId, ...page(`/page/${n}`, '2026-03-01T00:00:00Z') }))),
  )
  for (const n of [0, 199, 200, 249]) {
    expect(await contactOf(results[n]?.contactId)).toMatchObject({
      properties: { plan: 'pro', first_landing_page: `https://shop.example/page/${n}` },
      first_seen_at: '2026-03-01T00:00:00.000Z',
    })
  }
})

test('the id of a message, any text, is recorded once within its source, also when its batch is repeated', async () => {
  const ids = [SERVER, BROWSER].map(({ sourceId }) => eventIdOf(sourceId ?? '', 'ajs-next-1'))
  expect(ids[0]).not.toBe(ids[1])
  const calls = (id = '') => [
    { userId: 'm', ...event('message', id) },
    { visitorId: 'm1', ...event('message', id) },
  ]
  await Promise.all([send(calls(ids[0])), send(calls(ids[0])), send(calls(ids[1]), BROWSER)])
  const [result] = accepted(await send(calls(ids[0])))
  expect(result?.eventId).toBe(ids[0])
  expect(await count('event_type=message')).toBe(2)
})

test('a previous id is linked as a visitor, unless it is another contact', async () => {
  await send([{ visitorId: 'anon-7', ...event('before') }])
  const [alias] = accepted(await send([{ userId: 'alias', previousId: 'anon-7' }]))
  expect(await count(`contact_id=${alias?.contactId}`)).toBe(1)
  const [taken, fine] = await send([
    { userId: 'someone', previousId: 'alias' },
    { userId: 'someone', ...event('fine') },
  ])
  expect(taken).toMatchObject({ status: 'failed', error: { code: 'previous_id_taken' } })
  expect(fine).toMatchObject({ status: 'accepted' })
})

test('a group is a company, by its domain or by its own id, and the person belongs to it', async () => {
  const company = { domain: 'acme.example', externalId: null, name: 'Acme', properties: { plan: 'team' } }
  const own = { domain: null, externalId: 'acct-1', properties: { plan: 'solo' } }
  const [first, second, again] = accepted(
    await send([
      { userId: 'g1', company },
      { userId: 'g2', company: own },
      { userId: 'g3', company: { ...own, name: 'Solo', properties: { plan: 'duo' } } },
    ]),
  )
  const companyOf = async (id?: string | null) => {
    const { company_id } = await contactOf(id)
    return (await tenant.call('GET', `/v1/companies/${company_id}`)).body.company
  }
  expect(await companyOf(first?.contactId)).toMatchObject({ domain: 'acme.example', name: 'Acme', external_id: null })
  const solo = await companyOf(second?.contactId)
  expect(solo).toMatchObject({ domain: null, name: 'Solo', external_id: 'acct-1', properties: { plan: 'duo' } })
  expect((await companyOf(again?.contactId)).company_id).toBe(solo.company_id)
  // A page only fills blanks of the company.
  const sent = { ...company, properties: { plan: 'free', city: 'Ulm' } }
  const [page] = accepted(await send([{ userId: 'g4', company: sent }], BROWSER))
  expect(page?.warnings.join()).toContain('company.plan')
  expect((await companyOf(page?.contactId)).properties).toEqual({ plan: 'team', city: 'Ulm' })
})

test('what a browser key says is unverified: it overrides nothing, and its ids are provisional', async () => {
  const contactId = await tenant.contact('owned@example.com', { plan: 'pro' })
  const [result] = accepted(
    await send([{ email: 'owned@example.com', userId: 'claimed', properties: { plan: 'free', city: 'Ulm' } }], BROWSER),
  )
  expect(result).toMatchObject({ contactId, warnings: [expect.stringContaining('properties.plan')] })
  expect((await contactOf(contactId)).properties).toMatchObject({ plan: 'pro', city: 'Ulm' })
  const [taker] = accepted(await send([{ userId: 'claimed', email: 'taker@example.com', ...event('taken') }]))
  expect(taker?.contactId).not.toBe(contactId)
  const [later] = accepted(await send([{ userId: 'claimed', ...event('later') }], BROWSER))
  expect(later?.contactId).toBe(taker?.contactId)
})

test('a page’s bots are flagged, a server’s are not', async () => {
  const bot = { user_agent: 'Googlebot/2.1 (+http://www.google.com/bot.html)' }
  await send([{ visitorId: 'bot', ...event('crawled', null, bot) }], BROWSER)
  await send([{ visitorId: 'bot', ...event('called', null, bot) }])
  const { events } = (await tenant.call('GET', '/v1/events?visitor_id=bot')).body
  const flags = events.map((each: { event: string; is_bot: boolean }) => [each.event, each.is_bot])
  expect(Object.fromEntries(flags)).toEqual({ crawled: true, called: false })
})

test('without a signature, a tenant that requires one keeps the events of the visitor only', async () => {
  requiresSignature = true
  try {
    const calls = [{ userId: 'unsigned', visitorId: 'u1', properties: { plan: 'pro' }, ...event('kept') }]
    const [result] = accepted(await send(calls, BROWSER))
    expect(result).toMatchObject({ contactId: null, warnings: [expect.stringContaining('signed identification')] })
    expect(await send([{ userId: 'unsigned', ...event('lost') }], BROWSER)).toMatchObject([{ status: 'failed' }])
    expect(accepted(await send(calls))[0]?.contactId).not.toBeNull()
  } finally {
    requiresSignature = false
  }
})

test('a bad call among those of one person fails alone', async () => {
  const tooLarge = { text: 'x'.repeat(300_000) }
  const results = await send([
    { userId: 'large', properties: { plan: 'pro' } },
    { userId: 'large', properties: tooLarge },
    new ServiceError(400, 'validation_error', 'rejected before'),
    { userId: 'large', ...event('after') },
    { visitorId: 'large-1', properties: { plan: 'x' } },
  ])
  expect(results.map(({ status }) => status)).toEqual(['accepted', 'failed', 'failed', 'accepted', 'accepted'])
  expect(results[1]).toMatchObject({ error: { code: 'contact_too_large' } })
  expect(results[4]).toMatchObject({ warnings: [expect.stringContaining('anonymous')] })
  const [first] = results
  expect(first?.status === 'accepted' && (await contactOf(first.contactId)).properties).toMatchObject({ plan: 'pro' })
})

test('a person who changes browsers within a batch keeps both; a shared browser moves to the last person', async () => {
  const [one, , two] = accepted(
    await send([
      { userId: 's1', visitorId: 'phone', ...event('s') },
      { userId: 's1', visitorId: 'shared', ...event('s') },
      { userId: 's2', visitorId: 'shared', ...event('s') },
    ]),
  )
  expect([await count(`contact_id=${one?.contactId}`), await count(`contact_id=${two?.contactId}`)]).toEqual([2, 1])
  const results = accepted(await send(['phone', 'shared'].map((visitorId) => ({ visitorId, ...event('s') }))))
  expect(results.map(({ contactId }) => contactId)).toEqual([null, null])
  expect([await count(`contact_id=${one?.contactId}`), await count(`contact_id=${two?.contactId}`)]).toEqual([3, 2])
})
