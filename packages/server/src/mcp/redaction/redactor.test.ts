import { beforeAll, describe, expect, test } from 'vitest'
import { fill } from '../../../test/one-of-each.ts'
import { bodyOf, createPersonalData, EMAIL, expectNoToken, schemaOfResponse } from '../../../test/personal-data.ts'
import { createTestTenant, sharedService, type TestService, type TestTenant } from '../../../test/service.ts'
import { OPERATIONS } from '../../assembly/all-operations.ts'
import { routeOf, type Values } from '../../operations/declare.ts'
import { contactOfPseudonym, createRedactor, redactionKeyOf } from './redactor.ts'

let service: TestService
let tenant: TestTenant
let ids: Record<string, string>
let contactId: string
let mergedId: string

const redactorOf = (of: TestTenant) => createRedactor(of.handle, redactionKeyOf('secret', of.id))
/** @param route of the operation that returned the values */
// biome-ignore lint/suspicious/noExplicitAny: outputs of every shape
const redact = (values: Values, route?: string, of = tenant): Promise<any> =>
  redactorOf(of).redact(values, schemaOfResponse(route))
const ok = (method: string, path: string, body?: unknown) => bodyOf(tenant, method, path, body)

beforeAll(async () => {
  service = await sharedService()
  tenant = await createTestTenant(service)
  ids = await createPersonalData(service, tenant)
  contactId = ids.contact_id ?? ''
  mergedId = ids.merged_id ?? ''
})

/** Numbers, flags, ids, times and event names, in their order. */
function harmlessIn(value: unknown, name = ''): unknown[] {
  if (Array.isArray(value)) return value.flatMap((each) => harmlessIn(each, name))
  if (value !== null && typeof value === 'object')
    return Object.entries(value).flatMap(([key, each]) => harmlessIn(each, key))
  if (typeof value !== 'string') return [value]
  return /^[0-9a-f]{8}-[0-9a-f-]{27}$|^\d{4}-\d{2}-\d{2}T|^(active|success)$/.test(value) ||
    /^(event|country|plan|lifecyclestage|source)$/.test(name)
    ? [value]
    : []
}

interface WithRaw {
  unified_profile?: { raw_data?: unknown }
  enrichment?: { results?: { found: unknown }[] }
}

/** Without what is withheld as a whole: raw data of sources, and what enrichers found it in. */
function withoutRaw(body: WithRaw) {
  const { raw_data, ...unified_profile } = body.unified_profile ?? {}
  const results = body.enrichment?.results?.map(({ found: _, ...rest }) => rest)
  return {
    ...body,
    ...(body.unified_profile ? { unified_profile } : {}),
    ...(results ? { enrichment: { ...body.enrichment, results } } : {}),
  }
}

const AGGREGATE = 'POST /v1/aggregate'
// Without those of social networks, which return only the state of a sign-in.
const READS = OPERATIONS.map(routeOf).filter(
  ({ method, url }) => method === 'GET' && !/\/(social|linkedin)\//.test(url),
)
const NEEDED: Record<string, string[]> = {
  '/v1/segments/suggestions': ['?property=firstname', '?property=city', '?property=country', '?property=event.text'],
  '/v1/webhooks/preview': ['?event=contact_created'],
  '/v1/schedules': ['?cron=0+9+*+*+1&time_zone=UTC'],
}
/** Queries to send as well. */
const EXTRA: Record<string, string[]> = {
  '/v1/contacts/:contact_id': ['?include=raw,provenance&events_limit=50'],
  '/v1/contacts/:contact_id/conversations': ['?include_messages=true'],
  '/v1/contacts': ['?include=provenance', '?fields=summary'],
  '/v1/events': ['?include=system&limit=100', '?fields=summary'],
  '/v1/contacts/events/:contact_id': ['?fields=summary'],
}

/** The members of a segment are contacts, or companies. */
async function idsOfItsOwn(route: string): Promise<Record<string, string>> {
  if (!route.startsWith('/v1/segments/:segment_id/companies')) return {}
  const definition = { name: 'Companies', entity: 'companies', filter: { match: 'all', conditions: [] } }
  const { segment_id } = (await tenant.call('POST', '/v1/segments', definition)).body.segment
  await expect
    .poll(async () => (await tenant.call('GET', `/v1/segments/${segment_id}`)).body.segment.company_count, {
      timeout: 60_000,
    })
    .toBeGreaterThan(0)
  return { segment_id }
}

describe('every operation that reads', () => {
  test.each(READS.flatMap(({ url }) => [...(NEEDED[url] ?? ['']), ...(EXTRA[url] ?? [])].map((query) => url + query)))(
    '%s shows no personal value',
    async (route) => {
      const { status, body } = await tenant.call('GET', fill(route, { ...ids, ...(await idsOfItsOwn(route)) }))
      expect([status, body.error?.code]).toEqual([200, undefined])
      const [declared] = `GET ${route}`.split('?')
      const redacted = await redact(body, declared)
      expectNoToken(redacted, route)
      expect(await redact(redacted, declared)).toEqual(redacted)
      expect(harmlessIn(redacted)).toEqual(harmlessIn(withoutRaw(body)))
    },
  )

  test.each(['city', 'job_title', 'company', 'country'])('aggregation of contacts by %s', async (group_by) => {
    expectNoToken(
      await redact(await ok('POST', '/v1/aggregate', { entity: 'contacts', group_by }), AGGREGATE),
      group_by,
    )
  })

  test.each(['title', 'url', 'text', 'url_path', 'contact_id', 'visitor_id', 'company_id', 'event_type'])(
    'aggregation of events by %s',
    async (group_by) => {
      expectNoToken(
        await redact(await ok('POST', '/v1/aggregate', { entity: 'events', group_by }), AGGREGATE),
        group_by,
      )
    },
  )

  test('look-ups of several', async () => {
    for (const [path, body] of [
      ['details', { entity_type: 'contacts', ids: [contactId] }],
      ['activity', { contact_ids: [contactId] }],
    ] as const) {
      expectNoToken(await redact(await ok('POST', `/v1/batch/${path}`, body), `POST /v1/batch/${path}`), path)
    }
    const filter = { match: 'all', conditions: [{ property: 'city', operator: 'equals', value: 'Zedburg' }] }
    const preview = await ok('POST', '/v1/segments/preview', { filter })
    expectNoToken(await redact(preview, 'POST /v1/segments/preview'), 'preview')
  })
})

describe('a contact', () => {
  test('has pseudonyms that name it, and keeps what is not personal', async () => {
    const { contact, unified_profile, events } = await redact(
      await ok('GET', `/v1/contacts/${contactId}?include=raw`),
      'GET /v1/contacts/:contact_id',
    )
    expect(contact).toMatchObject({
      contact_id: contactId,
      properties: {
        email: `email:${contactId}`,
        firstname: `firstname:${contactId}`,
        lastname: `lastname:${contactId}`,
        phone: `phone:${contactId}`,
        city: expect.stringMatching(/^address:/),
        bio: '[text withheld: 16 characters]',
        country: 'France', state: 'Bavaria', industry: 'Software', lifecyclestage: 'lead', plan: 'gold', seats: 12, nick: 'plain',
        jobtitle: `Assistant of name:${contactId}`,
      }, // biome-ignore format: a list
    })
    expect(contact._summary).toContain(`name:${contactId} | Assistant`)
    expect(unified_profile).not.toHaveProperty('raw_data')
    const { firstname, plan } = unified_profile.profile
    expect(firstname.all_sources.sort()).toEqual(['form', 'hubspot', 'manual'])
    expect(firstname.unique_values.map(({ value }: { value: string }) => contactOfPseudonym(value))).toEqual([
      contactId,
      contactId,
    ])
    expect(new Set(firstname.unique_values.map(({ value }: { value: string }) => value)).size).toBe(2)
    expect(plan.unique_values).toHaveLength(2)
    expect(JSON.stringify(plan)).toContain('silver')
    expect(events.map(({ event }: { event: string }) => event)).toContain('signup')
  })
})

describe('pseudonyms', () => {
  test('are the same in each output and process, and found by a search; a stranger has others in another tenant', async () => {
    const other = await createTestTenant(service)
    const values = { details: { email: 'nobody@elsewhere.example', firstname: 'Nobodyhere' } }
    const first = await redact(values)
    expect(first.details).toEqual({
      email: expect.stringMatching(/^email:[a-z2-7]{12}$/),
      firstname: expect.stringMatching(/^firstname:[a-z2-7]{12}$/),
    })
    expect(await redact({ details: { email: ' Nobody@Elsewhere.example', firstname: 'NOBODYHERE' } })).toEqual(first)
    const elsewhere = await redact(values, undefined, other)
    expect([elsewhere.details.email, elsewhere.details.firstname]).not.toEqual([
      first.details.email,
      first.details.firstname,
    ])
    // Another tenant does not know the contact.
    expect((await redact({ text: EMAIL }, undefined, other)).text).toMatch(/^email:[a-z2-7]{12}$/)
    expect((await redact({ text: EMAIL })).text).toBe(`email:${contactId}`)
  })

  test.each([
    [`email:${'019a2b3c-4d5e-7f60-8a1b-2c3d4e5f6071'}`, '019a2b3c-4d5e-7f60-8a1b-2c3d4e5f6071'],
    ['firstname:019A2B3C-4D5E-7F60-8A1B-2C3D4E5F6071~abcdef ', '019a2b3c-4d5e-7f60-8a1b-2c3d4e5f6071'],
    ['email:abcdefghijkl', null],
    ['other:019a2b3c-4d5e-7f60-8a1b-2c3d4e5f6071', null],
    ['019a2b3c-4d5e-7f60-8a1b-2c3d4e5f6071', null],
    ['x email:019a2b3c-4d5e-7f60-8a1b-2c3d4e5f6071', null],
  ])('%j stands for the contact %j', (text, contact) => {
    expect(contactOfPseudonym(text)).toBe(contact)
  })

  test('are issued with their values', async () => {
    const redactor = redactorOf(tenant)
    await redactor.redact(
      await ok('GET', `/v1/contacts/${contactId}`),
      schemaOfResponse('GET /v1/contacts/:contact_id'),
    )
    expect(redactor.issued.get(`email:${contactId}`)).toBe(EMAIL)
    expect(redactor.issued.get(`firstname:${contactId}`)).toBe('Zorblax')
    expect(redactor.issued.get(`name:${contactId}`)).toBe('Zorblax Quintörp')
    const mobile = [...redactor.issued].find(([, value]) => value === '0172-6660123')
    expect(mobile?.[0]).toMatch(new RegExp(`^phone:${contactId}~[a-z2-7]{6}$`))
  })

  test("a merged contact's id and address lead to its survivor", async () => {
    const { text, contact } = await redact({
      text: 'lossttoken@mailtoken.example',
      contact: { contact_id: mergedId, firstname: 'Zorblax' },
    })
    expect([text.split('~')[0], contact]).toEqual([
      `email:${contactId}`,
      { contact_id: mergedId, firstname: `firstname:${contactId}` },
    ])
  })

  test('an erased contact is a stranger', async () => {
    const email = 'erased.person@gone.example'
    const id = await tenant.contact(email, { firstname: 'Erasedperson' }, { visitor_id: 'v-erased' })
    await tenant.track({ visitor_id: 'v-erased', events: [{ event: 'e', title: email, url: '/' }] })
    await ok('POST', '/v1/erasures', { contact_id: id })
    const shown = await redact({
      events: [{ event: 'e', internal_contact_id: id, contact: null, data: { title: `To ${email}`, email } }],
    })
    expect(shown.events[0].data).toEqual({
      title: expect.stringMatching(/^To email:[a-z2-7]{12}$/),
      email: shown.events[0].data.title.slice(3),
    })
  })
})
