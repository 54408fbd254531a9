import { beforeAll, describe, expect, test } from 'vitest'
import { MAIL, propose } from '../../../test/actions.ts'
import { fill, oneOfEach } from '../../../test/one-of-each.ts'
import { call, createTestTenant, sharedService, type TestService, type TestTenant } from '../../../test/service.ts'
import { until } from '../../../test/webhooks.ts'
import { OPERATIONS } from '../../assembly/all-operations.ts'
import { routeOf, type Values } from '../../operations/declare.ts'
import { contactOfPseudonym, createRedactor, redactionKeyOf } from './redactor.ts'

const EMAIL = 'zorblax.quintorp@mailtoken.example'
const PERSON = {
  firstname: 'Zorblax',
  lastname: 'Quintörp',
  phone: '+49 171 5550123',
  'Mobile Phone': '0172-6660123',
  street: 'Wibblestraße 17',
  zip: '80331',
  city: 'Zedburg',
  date_of_birth: '1984-03-09',
  linkedin_url: 'https://www.linkedin.com/in/zq-profiletoken',
  avatar: 'https://img.example/avatartoken.png',
  bio: 'Loves bioflugel.',
  last_ip: '203.0.113.77',
  nick: 'plain',
  username: 'zedtoken99',
  owner_name: 'Ownertoken Wibb',
  country: 'France',
  state: 'Bavaria',
  industry: 'Software',
  lifecyclestage: 'lead',
  plan: 'gold',
  seats: 12,
  jobtitle: 'Assistant of Zorblax Quintörp',
}
/** Every part of the person's values, in lower case, and of the texts that people wrote. */
const TOKENS = [
  'zorblax', 'quintörp', 'quintorp', 'quint%c3%b6rp', 'mailtoken', '5550123', '6660123', 'wibblestra', '80331', 'zedburg',
  '1984-03-09', 'profiletoken', 'avatartoken', 'bioflugel', '203.0.113.77', 'zedtoken', 'ownertoken', 'notetoken', 'subjecttoken',
  'bodytoken', 'rawtoken', 'oldtoken', 'formtoken', 'querytoken', 'fragmenttoken', 'chattoken', 'strangertoken', 'lossttoken',
] // biome-ignore format: a list

let service: TestService
let tenant: TestTenant
let ids: Record<string, string>
let contactId: string
let mergedId: string

const redactorOf = (of: TestTenant) => createRedactor(of.handle, redactionKeyOf('secret', of.id))
// biome-ignore lint/suspicious/noExplicitAny: outputs of every shape
const redact = (values: Values, of = tenant): Promise<any> => redactorOf(of).redact(values)
const ok = async (method: string, path: string, body?: unknown) => {
  const answer = await tenant.call(method, path, body)
  expect([path, answer.status, JSON.stringify(answer.body).slice(0, 300)]).toEqual([
    path,
    expect.toSatisfy((status: number) => status < 300),
    expect.anything(),
  ])
  return answer.body
}

beforeAll(async () => {
  service = await sharedService()
  tenant = await createTestTenant(service)
  ids = await oneOfEach(service, tenant, 'plain')
  mergedId = await tenant.contact(
    'lossttoken@mailtoken.example',
    { firstname: 'Lossttoken', city: 'Zedburg' },
    { visitor_id: 'v-merged' },
  )
  contactId = await tenant.contact(EMAIL, PERSON, { visitor_id: 'v-z', company_id: ids.company_id })
  const url = `https://${tenant.site}/u/Zorblax-Quint%C3%B6rp/zorblax.quintorp?email=zorblax.quintorp%40mailtoken.example&q=querytoken&utm_source=news&utm_content=zorblax.quintorp%40mailtoken.example#fragmenttoken`
  const data = {
    title: 'Welcome back, ZORBLAX Quintorp!',
    text: `Signed in as ${EMAIL} (0049 171 / 5550123)`,
    path: '/u/zorblax_quintorp?x=querytoken',
    message: 'notetoken for you',
    email: EMAIL.toUpperCase(),
    user: { first_name: 'Zorblax', address: { street: 'Wibblestraße 17', city: 'Zedburg', country: 'France' } },
    json: JSON.stringify({ email: EMAIL, last: 'Quint\u00f6rp', firstname: 'Strangertoken' }),
    [EMAIL]: 1,
    count: 3,
  }
  await tenant.track({
    visitor_id: 'v-z',
    context: { referrer: `https://mail.example/inbox/${EMAIL}?q=querytoken` },
    events: [
      { event: 'page_view', url, data },
      { event: 'signup', url: '/', title: 'zorblax quintörp', data: { from: 'Zorblax' } },
    ],
  })
  // An anonymous visitor whose page names the contact by address only.
  await tenant.track({
    visitor_id: 'v-anonymous',
    events: [
      {
        event: 'forward',
        title: `Forward to ${EMAIL}`,
        url: `https://${tenant.site}/f?to=${EMAIL}`,
        data: { firstname: 'Strangertoken', text: 'Hi Strangertoken, from Zorblax' },
      },
    ],
  })
  await call(service, 'POST', `/v1/public/form-submission/${tenant.id}/form-1`, {
    headers: { origin: `https://${tenant.site}` },
    body: JSON.stringify({ contact_data: { email: EMAIL, comments: 'formtoken asks', firstName: 'Zorblax' } }),
  })
  await ok('POST', '/v1/sources/hubspot/contacts', {
    records: [
      {
        external_id: EMAIL,
        email: EMAIL,
        properties: { firstname: 'Oldtoken', notes: 'notetoken', plan: 'silver' },
        updated_at: '2020-01-01T00:00:00Z',
        raw: { deep: 'rawtoken' },
      },
    ],
  })
  const { note } = await ok('POST', `/v1/contacts/${contactId}/notes`, { content: 'Call Zorblax: notetoken' })
  const participants = { from: { address: EMAIL, name: 'Zorblax Quintörp' }, to: [{ name: 'Chattoken Support' }] }
  await ok('POST', '/v1/sources/helpdesk/conversations', {
    records: [
      {
        thread_key: 't',
        subject: 'subjecttoken',
        messages: [
          {
            message_id: EMAIL,
            direction: 'inbound',
            ...participants,
            sent_at: '2026-01-31T08:00:00Z',
            text: 'bodytoken',
            html: '<p>bodytoken</p>',
          },
        ],
      },
    ],
  })
  await tenant.track({
    visitor_id: 'v-merged',
    events: [{ event: 'page_view', title: 'Hello Lossttoken', url: `https://${tenant.site}/lossttoken` }],
  })
  await ok('POST', `/v1/contacts/${mergedId}/merge`, { into: contactId })
  const filter = {
    match: 'all',
    conditions: [
      { property: 'email', operator: 'equals', value: EMAIL },
      { property: 'city', operator: 'in', value: ['Zedburg'] },
      { property: 'country', operator: 'equals', value: 'France' },
    ],
  }
  ids.segment_id = (
    await ok('POST', '/v1/segments', { name: `Like ${EMAIL}`, description: `As ${EMAIL} said`, filter })
  ).segment.segment_id
  const mail = { ...MAIL, params: { subject: 'Hi Zorblax', message: 'bodytoken, Zorblax' } }
  const place = { contactId, agentId: ids.agent_id, runId: ids.run_id, actionIndex: 0 }
  await propose(tenant.handle, service.jobs, { ...place, ...mail } as Parameters<typeof propose>[2])
  await tenant.handle.db
    .updateTable('agent_run_contacts')
    .set({ reasoning: 'Zorblax from Zedburg looked at pricing twice.' })
    .where('contact_id', '=', contactId)
    .execute()
  await ok('POST', '/v1/suppressions', { address: EMAIL, details: `550 ${EMAIL} is full` })
  await ok('POST', '/v1/views', { name: 'Mine', page: 'contacts', query: { search: 'zorblax' }, columns: [] })
  ids.import_id = (await tenant.upload(`email,first name,city\n${EMAIL},Zorblax,Zedburg\n`)).body.import.import_id
  await until(async () =>
    expect((await tenant.call('GET', `/v1/segments/${ids.segment_id}`)).body.segment.contact_count).toBe(1),
  )
  await ok('POST', `/v1/imports/${ids.import_id}/preview`)
  await until(async () => expect((await tenant.call('GET', `/v1/imports/${ids.import_id}/preview`)).status).toBe(200))
  ids = { ...ids, note_id: note.note_id, action_index: '0', contact_id: contactId, visitor_id: 'v-z', address: EMAIL }
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

function withoutRaw(body: { unified_profile?: { raw_data?: unknown } }) {
  const { raw_data, ...unified_profile } = body.unified_profile ?? {}
  return body.unified_profile ? { ...body, unified_profile } : body
}

/** A text as it is, decoded from URLs, and from JSON, in lower case. */
function readings(value: unknown): string {
  const text = JSON.stringify(value)
  const decoded = text.replace(/(%[0-9a-f]{2})+/gi, (bytes) => Buffer.from(bytes.replaceAll('%', ''), 'hex').toString())
  const unescaped = text.replace(/\\+u([0-9a-f]{4})/gi, (_, code) => String.fromCharCode(Number.parseInt(code, 16)))
  return [text, decoded, unescaped].join('\n').toLowerCase()
}

/** In an answer that names no contact, a first name alone is a word like any other; full names are still found. */
const FIRST_NAMES = ['lossttoken', 'strangertoken']
const NAMES_NOBODY = /overview|event.text|^(title|url|text|url_path)$/

function expectNoToken(redacted: unknown, where: string): void {
  const known = NAMES_NOBODY.test(where) ? FIRST_NAMES : []
  const text = known.reduce((rest, name) => rest.replaceAll(name, ''), readings(redacted))
  expect([where, ...TOKENS.filter((token) => text.includes(token)), '']).toEqual([where, ''])
}

// Those of the social network have nothing but the state of a sign-in.
const READS = OPERATIONS.map(routeOf).filter(
  ({ method, url }) => method === 'GET' && !/\/(social|linkedin)\//.test(url),
)
const NEEDED: Record<string, string[]> = {
  '/v1/segments/suggestions': ['?property=firstname', '?property=city', '?property=country', '?property=event.text'],
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

describe('every operation that reads', () => {
  test.each(READS.flatMap(({ url }) => [...(NEEDED[url] ?? ['']), ...(EXTRA[url] ?? [])].map((query) => url + query)))(
    '%s shows no personal value',
    async (route) => {
      const { status, body } = await tenant.call('GET', fill(route, ids))
      expect([status, body.error?.code]).toEqual([200, undefined])
      const redacted = await redact(body)
      expectNoToken(redacted, route)
      expect(await redact(redacted)).toEqual(redacted)
      expect(harmlessIn(redacted)).toEqual(harmlessIn(withoutRaw(body)))
    },
  )

  test.each(['city', 'job_title', 'company', 'country'])('aggregation of contacts by %s', async (group_by) => {
    expectNoToken(await redact(await ok('POST', '/v1/aggregate', { entity: 'contacts', group_by })), group_by)
  })

  test.each(['title', 'url', 'text', 'url_path', 'contact_id', 'visitor_id', 'company_id', 'event_type'])(
    'aggregation of events by %s',
    async (group_by) => {
      expectNoToken(await redact(await ok('POST', '/v1/aggregate', { entity: 'events', group_by })), group_by)
    },
  )

  test('look-ups of several', async () => {
    for (const [path, body] of [
      ['details', { entity_type: 'contacts', ids: [contactId] }],
      ['activity', { contact_ids: [contactId] }],
    ] as const) {
      expectNoToken(await redact(await ok('POST', `/v1/batch/${path}`, body)), path)
    }
    const filter = { match: 'all', conditions: [{ property: 'city', operator: 'equals', value: 'Zedburg' }] }
    expectNoToken(await redact(await ok('POST', '/v1/segments/preview', { filter })), 'preview')
  })
})

describe('a contact', () => {
  test('has pseudonyms that name it, and keeps what is not personal', async () => {
    const { contact, unified_profile, events } = await redact(await ok('GET', `/v1/contacts/${contactId}?include=raw`))
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
  test('are the same in each answer and process, and found by a search; a stranger has others in another tenant', async () => {
    const other = await createTestTenant(service)
    const values = { details: { email: 'nobody@elsewhere.example', firstname: 'Nobodyhere' } }
    const first = await redact(values)
    expect(first.details).toEqual({
      email: expect.stringMatching(/^email:[a-z2-7]{12}$/),
      firstname: expect.stringMatching(/^firstname:[a-z2-7]{12}$/),
    })
    expect(await redact({ details: { email: ' Nobody@Elsewhere.example', firstname: 'NOBODYHERE' } })).toEqual(first)
    const elsewhere = await redact(values, other)
    expect([elsewhere.details.email, elsewhere.details.firstname]).not.toEqual([
      first.details.email,
      first.details.firstname,
    ])
    // Another tenant does not know the contact.
    expect((await redact({ text: EMAIL }, other)).text).toMatch(/^email:[a-z2-7]{12}$/)
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
    await redactor.redact(await ok('GET', `/v1/contacts/${contactId}`))
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
