import { sql } from 'kysely'
import { beforeAll, beforeEach, describe, expect, test } from 'vitest'
import {
  CHROME,
  call,
  createTestTenant,
  sharedService,
  type TestService,
  type TestTenant,
} from '../../../test/service.ts'
import { createSegment } from '../../segments/segments.ts'

const ADA = 'ada@example.com'
const OLD = 'ada.old@example.com'

let service: TestService
let tenant: TestTenant
/** The contact that survives, and the one that is merged into it. */
let ada: string
let old: string

beforeAll(async () => {
  service = await sharedService()
})
beforeEach(async () => {
  tenant = await createTestTenant(service)
  ada = await tenant.contact(ADA, { firstname: 'Ada', city: 'London' })
  old = await tenant.contact(OLD, { firstname: 'A.', jobtitle: 'Analyst' })
})

const merge = (contactId = old, into = ada) => tenant.call('POST', `/v1/contacts/${contactId}/merge`, { into })
const unmerge = (contactId = old) => tenant.call('POST', `/v1/contacts/${contactId}/unmerge`)
const track = (visitor_id: string, event: string, more: object = {}) =>
  tenant.track({ visitor_id, events: [{ event, url: `https://${tenant.site}/${event}` }], ...more })
const identify = (body: object) => tenant.call('POST', '/v1/identify', body)
const read = async (id: string) => (await tenant.call('GET', `/v1/contacts/${id}?include=provenance,raw`)).body
const propertiesOf = async (id: string) => (await read(id)).contact.properties
const push = (source: string, external_id: string, more: object = {}) =>
  tenant.call('POST', `/v1/sources/${source}/contacts`, { records: [{ external_id, ...more }] })
const idOfPush = async (...sent: Parameters<typeof push>) => (await push(...sent)).body.results[0].contact_id
const ownerOf = async (event: string) =>
  (await tenant.call('GET', `/v1/events?event_type=${event}`)).body.events[0].internal_contact_id

/** Every response that includes one of the contacts. */
async function everything() {
  const { id } = tenant
  const segments = (await tenant.call('GET', '/v1/segments')).body
  const paths = [ada, old].flatMap((contact) => [
    `/v1/contacts/${contact}?include=provenance,raw`,
    `/v1/contacts/events/${contact}`,
    `/v1/contacts/${contact}/notes`,
    `/v1/contacts/${contact}/conversations`,
    `/v1/events?contact_id=${contact}`,
    `/v1/events?contact_id=${contact}&count_only=true`,
  ])
  const responses = await Promise.all(
    [
      ...paths,
      '/v1/contacts?include=provenance',
      '/v1/contacts?count_only=true',
      '/v1/contacts?has_event_type=pricing',
      '/v1/contacts?has_event_type=docs',
      '/v1/contacts?search=ada',
      '/v1/events',
      '/v1/events?identified_only=true&count_only=true',
      '/v1/events/stats',
      ...segments.segments.map((segment: { segment_id: string }) => `/v1/segments/${segment.segment_id}/contacts`),
    ].map(async (path) => [path, await tenant.call('GET', path)] as const),
  )
  const posted = await Promise.all(
    [
      ['/v1/aggregate', { entity: 'events', group_by: 'contact_id' }],
      ['/v1/aggregate', { entity: 'contacts', group_by: 'city' }],
      ['/v1/batch/activity', { contact_ids: [ada, old] }],
      ['/v1/batch/details', { entity_type: 'contacts', ids: [ada, old] }],
    ].map(async ([path, body]) => [path, await tenant.call('POST', path as string, body)] as const),
  )
  const visitors = await tenant.handle.db
    .selectFrom('visitors')
    .select(['visitor_id', 'contact_id'])
    .orderBy('visitor_id')
    .execute()
  const shown = [...responses, ...posted].map(([path, { status, body }]) => ({ path, status, body }))
  return JSON.parse(
    JSON.stringify({ id, segments, shown, visitors }, (key, value) => {
      // A restored contact counts as changed, so that readers that poll updated_at notice it.
      if (key === 'updated_at' && typeof value === 'string') return undefined
      return ['timestamp', 'request_id'].includes(key) && !value?.event ? undefined : value
    }),
  )
}

/** Creates both contacts, with everything that a contact can have. */
async function furnish() {
  await tenant.handle.db
    .insertInto('companies')
    .values({ company_id: COMPANY, name: 'Engines', properties: '{}', created_at: new Date(), updated_at: new Date() })
    .execute()
  await tenant.call('PUT', `/v1/contacts/${old}`, { company_id: COMPANY })
  await track('v-ada', 'docs')
  await track('v-old', 'pricing')
  await track('v-old', 'pricing')
  await identify({ visitor_id: 'v-ada', email: ADA, user_id: 'u-ada' })
  await identify({ visitor_id: ['v-old', 'w-old'], email: OLD, user_id: 'u-old', properties: { phone: '1' } })
  await track('w-old', 'signup')
  await push('hubspot', 'hs-1', { email: ADA, properties: { fax: '11', role: 'lead' }, raw: { a: 1 } })
  await push('hubspot', 'hs-2', { email: OLD, properties: { fax: '22', role: 'boss' }, raw: { b: 2 } })
  await push('intercom', 'ic-2', { email: OLD, properties: { plan: 'pro' } })
  await tenant.call('POST', `/v1/contacts/${ada}/notes`, { content: 'of Ada' })
  await tenant.call('POST', `/v1/contacts/${old}/notes`, { content: 'of the old one' })
  await tenant.call('POST', '/v1/sources/intercom/conversations', {
    records: [
      {
        thread_key: 't',
        messages: [
          {
            message_id: 'm',
            direction: 'inbound',
            from: { address: OLD, name: 'A.' },
            to: [{ name: 'Support' }],
            sent_at: '2026-01-31T08:00:00Z',
            text: 'Hello',
          },
        ],
      },
    ],
  })
}
const COMPANY = '01990000-0000-7000-8000-000000000001'

describe('POST /v1/contacts/:contact_id/merge', () => {
  test('the survivor has the properties, events, visitors, notes and conversations of both; the other returns 404', async () => {
    await furnish()
    const response = await merge()
    expect(response.status, JSON.stringify(response.body)).toBe(200)
    expect(response.body).toMatchObject({ status: 'success', merged_contact_id: old })
    expect(response.body.contact).toMatchObject({
      contact_id: ada,
      company_id: COMPANY,
      properties: {
        email: ADA,
        jobtitle: 'Analyst',
        city: 'London',
        phone: '1',
        fax: '22',
        role: 'boss',
        plan: 'pro',
        // Written later, by a source with the same trust level.
        firstname: 'A.',
      },
    })
    const notes = (await tenant.call('GET', `/v1/contacts/${ada}/notes`)).body.notes
    expect(notes.map(({ content }: { content: string }) => content)).toEqual(['of the old one', 'of Ada'])
    const { events } = (await tenant.call('GET', `/v1/contacts/events/${ada}`)).body
    expect(events.map(({ event }: { event: string }) => event).sort()).toEqual([
      'chat_message_received',
      'docs',
      'pricing',
      'pricing',
      'signup',
    ])
    expect((await tenant.call('GET', `/v1/contacts/${ada}/conversations`)).body.total_items).toBe(1)
    const buckets = (await tenant.call('POST', '/v1/aggregate', { entity: 'events', group_by: 'contact_id' })).body
    expect(buckets.buckets).toEqual([expect.objectContaining({ key: ada, value: 5 })])
    expect((await tenant.call('GET', '/v1/contacts?has_event_type=pricing')).body.contacts).toMatchObject([
      { contact_id: ada },
    ])
    expect((await tenant.call('GET', '/v1/contacts?count_only=true')).body.count).toBe(1)
    for (const [method, path, body] of [
      ['GET', ''],
      ['PUT', '', {}],
      ['DELETE', ''],
      ['GET', '/notes'],
      ['POST', '/notes', { content: 'x' }],
      ['GET', '/conversations'],
    ] as const) {
      const gone = await tenant.call(method, `/v1/contacts/${old}${path}`, body)
      expect([gone.status, gone.body.error.code], `${method} ${path}`).toEqual([404, 'contact_merged'])
      expect(gone.body.error.details).toEqual([{ path: 'contact_id', message: ada }])
    }
    const ofGone = await tenant.call('GET', `/v1/contacts/events/${old}`)
    expect([ofGone.status, ofGone.body.error.code]).toEqual([404, 'contact_merged'])
  })

  test("the merged contact's email, user id, id and source ids lead to the survivor", async () => {
    await furnish()
    await merge()
    expect((await identify({ visitor_id: 'n1', email: OLD })).body).toMatchObject({ contact_id: ada, created: false })
    expect((await identify({ visitor_id: 'n2', user_id: 'u-old' })).body.contact_id).toBe(ada)
    expect((await identify({ email: OLD, user_id: 'u-old' })).body.contact_id).toBe(ada)
    expect((await identify({ email: ADA, user_id: 'u-old' })).body.contact_id).toBe(ada)
    expect((await identify({ email: OLD, user_id: 'u-ada' })).body.contact_id).toBe(ada)
    await track('n3', 'by_page', { identify: { traits: { email: OLD, color: 'red' } } })
    await track('n4', 'by_external_id', { external_contact_id: 'u-old' })
    await track('n5', 'by_contact_id', { external_contact_id: old })
    for (const event of ['by_page', 'by_external_id', 'by_contact_id']) expect(await ownerOf(event), event).toBe(ada)
    const form = await call(service, 'POST', `/v1/public/form-submission/${tenant.id}/f`, {
      headers: { origin: `https://${tenant.site}`, 'user-agent': CHROME },
      body: JSON.stringify({ visitor_id: 'n6', contact_data: { email: OLD, size: 'L' } }),
    })
    expect(form.body.contact_id).toBe(ada)
    expect(await idOfPush('hubspot', 'hs-2', { properties: { fax: '23' } })).toBe(ada)
    expect(await idOfPush('hubspot', 'hs-1', { properties: { fax: '12' } })).toBe(ada)
    expect(await idOfPush('hubspot', 'hs-2', { properties: { fax: '24' } })).toBe(ada)
    expect(await idOfPush('pipedrive', 'p-1', { email: OLD })).toBe(ada)
    const taken = await tenant.call('POST', '/v1/contacts', { email: OLD })
    expect([taken.status, taken.body.error.code, taken.body.error.details]).toEqual([
      409,
      'contact_email_taken',
      [{ path: 'contact_id', message: ada }],
    ])
    const other = await tenant.contact('other@example.com')
    const change = await tenant.call('PUT', `/v1/contacts/${other}`, { properties: { email: OLD } })
    expect([change.status, change.body.error.code]).toEqual([409, 'contact_email_taken'])
    const { contact } = await read(ada)
    expect(contact.properties).toMatchObject({ email: ADA, color: 'red', size: 'L', fax: '24' })
    expect((await tenant.call('GET', '/v1/contacts?count_only=true')).body.count).toBe(2)
    const row = await tenant.handle.db
      .selectFrom('contacts')
      .select('external_id')
      .where('contact_id', '=', ada)
      .executeTakeFirst()
    expect(row?.external_id).toBe('u-ada')
  })

  test("an email sent with the merged contact's user id does not move the id to another contact", async () => {
    await furnish()
    await merge()
    const named = await identify({ user_id: 'u-old', email: 'eve@example.com' })
    expect(named.body).toMatchObject({ created: true })
    expect((await identify({ user_id: 'u-old' })).body.contact_id).toBe(ada)
  })

  test('a survivor without an email or an external id gets those of the other', async () => {
    const { contact_id } = (await identify({ user_id: 'u-9', properties: { a: 1 } })).body
    expect((await merge(old, contact_id)).body.contact.properties).toMatchObject({ email: OLD, a: 1 })
    expect((await identify({ email: OLD, user_id: 'u-9' })).body.contact_id).toBe(contact_id)
    await unmerge()
    expect(await propertiesOf(contact_id)).toEqual({ a: 1 })
    expect(await propertiesOf(old)).toMatchObject({ email: OLD })
  })

  test.each([
    ['the survivor', { do_not_contact: true, unsubscribed: false }, { do_not_contact: false, unsubscribed: 'no' }],
    ['the other', { do_not_contact: false }, { do_not_contact: true, unsubscribed: 'yes' }],
  ])('an opt-out of %s applies to the survivor, whichever value is newer', async (_, ours, theirs) => {
    await tenant.call('PUT', `/v1/contacts/${old}`, { properties: theirs })
    await tenant.call('PUT', `/v1/contacts/${ada}`, { properties: ours })
    const { properties } = (await merge()).body.contact
    expect(properties.do_not_contact).toBe(true)
    if ('unsubscribed' in theirs && theirs.unsubscribed === 'yes') expect(properties.unsubscribed).toBe('yes')
  })

  test('a page’s value does not replace one from the tenant’s systems, and an enriched value only fills blanks', async () => {
    await track('p', 'x', { identify: { traits: { email: OLD, city: 'Paris', color: 'red' } } })
    await tenant.call('POST', '/v1/sources/guesses/contacts', {
      kind: 'enrichment',
      records: [{ external_id: 'g', email: OLD, properties: { color: 'blue', size: 'L', firstname: 'Guess' } }],
    })
    await tenant.call('PUT', `/v1/contacts/${old}`, { properties: { firstname: null } })
    const { properties } = (await merge()).body.contact
    expect(properties).toMatchObject({ city: 'London', color: 'red', size: 'L', firstname: 'Ada' })
  })

  test('is recorded as events, which webhooks receive, and in the audit log', async () => {
    await merge()
    await unmerge()
    const { events } = (await tenant.call('GET', '/v1/events?include=system&limit=100')).body
    const recorded = events.map(({ event, data }: { event: string; data: Record<string, unknown> }) => [event, data])
    expect(recorded).toContainEqual(['contact_deleted', { merged_into: ada }])
    expect(recorded).toContainEqual([
      'contact_updated',
      expect.objectContaining({ merged_contact_id: old, source: 'merge' }),
    ])
    expect(recorded).toContainEqual([
      'contact_updated',
      expect.objectContaining({ unmerged_contact_id: old, source: 'unmerge' }),
    ])
    expect(recorded).toContainEqual(['contact_created', expect.objectContaining({ unmerged_from: ada })])
    const entries = await tenant.handle.db
      .selectFrom('audit_log')
      .select(['action', 'subject_id', 'details'])
      .orderBy('entry_id')
      .execute()
    expect(entries).toMatchObject([
      { action: 'contact.merged', subject_id: old, details: { into: ada } },
      { action: 'contact.unmerged', subject_id: old, details: { from: ada } },
    ])
  })
})

describe('POST /v1/contacts/:contact_id/unmerge', () => {
  test('both contacts are restored, in every response', async () => {
    await furnish()
    const filter = (property: string, value: string) => ({
      match: 'all',
      conditions: [{ property, operator: 'equals', value }],
    })
    await tenant.handle.transaction(async (tx) => {
      await createSegment(
        tx,
        { name: 'Analysts', description: '', filter: filter('jobtitle', 'Analyst') as never },
        new Date(),
      )
      const did = { match: 'all', conditions: [{ event: { type: 'pricing' }, operator: 'did' }] }
      await createSegment(tx, { name: 'Priced', description: '', filter: did as never }, new Date())
    })
    const readCounts = async () => {
      const { segments } = (await tenant.call('GET', '/v1/segments')).body
      return segments.map((s: { contact_count: number | null; name: string }) => [s.name, s.contact_count])
    }
    const membersOf = async () =>
      (await tenant.handle.db.selectFrom('segment_members').select('contact_id').execute()).map((m) => m.contact_id)
    await expect.poll(readCounts).toEqual([
      ['Priced', 1],
      ['Analysts', 1],
    ])
    await expect.poll(membersOf).toEqual([old, old])
    const before = await everything()
    expect((await merge()).status).toBe(200)
    await expect.poll(membersOf).toEqual([ada, ada])
    expect(await everything()).not.toEqual(before)
    const back = await unmerge()
    expect([back.status, back.body.unmerged_from]).toEqual([200, ada])
    await expect.poll(membersOf).toEqual([old, old])
    expect(await everything()).toEqual(before)
  })

  test('everything since the merge stays with the survivor; later events of the visitors belong to the restored contact', async () => {
    await furnish()
    await merge()
    await track('v-old', 'in_between')
    await tenant.call('PUT', `/v1/contacts/${ada}`, {
      properties: { jobtitle: 'Countess', planet: 'Earth', phone: null },
    })
    await push('hubspot', 'hs-2', { properties: { fax: '99' } })
    const note = await tenant.call('POST', `/v1/contacts/${ada}/notes`, { content: 'in between' })
    await unmerge()
    await track('v-old', 'afterwards')
    expect([await ownerOf('in_between'), await ownerOf('afterwards'), await ownerOf('signup')]).toEqual([ada, old, old])
    expect(await propertiesOf(ada)).toEqual({
      email: ADA,
      firstname: 'Ada',
      city: 'London',
      jobtitle: 'Countess',
      planet: 'Earth',
      fax: '99',
      role: 'lead',
      ...firstTouch('docs'),
    })
    expect(await propertiesOf(old)).toEqual({
      email: OLD,
      firstname: 'A.',
      jobtitle: 'Analyst',
      phone: '1',
      fax: '22',
      role: 'boss',
      plan: 'pro',
      ...firstTouch('pricing'),
    })
    const { notes } = (await tenant.call('GET', `/v1/contacts/${ada}/notes`)).body
    expect(notes[0].note_id).toBe(note.body.note.note_id)
    expect(await idOfPush('hubspot', 'hs-2', { properties: { fax: '1' } })).toBe(old)
    expect((await identify({ user_id: 'u-old' })).body.contact_id).toBe(old)
  })
  const firstTouch = (page: string) => ({ first_landing_page: `https://${tenant.site}/${page}` })

  test('an opt-out since the merge remains, even if the merge had already set it', async () => {
    await tenant.call('PUT', `/v1/contacts/${old}`, { properties: { unsubscribed: true } })
    await merge()
    await push('mailer', 'x', { email: ADA, properties: { unsubscribed: true } })
    await unmerge()
    expect([(await propertiesOf(ada)).unsubscribed, (await propertiesOf(old)).unsubscribed]).toEqual([true, true])
  })

  test('is 409 while another contact has the email, and works once it is free', async () => {
    await merge()
    await tenant.call('PUT', `/v1/contacts/${ada}`, { properties: { email: OLD } })
    const refused = await unmerge()
    expect([refused.status, refused.body.error.code, refused.body.error.details]).toEqual([
      409,
      'contact_email_taken',
      [{ path: 'contact_id', message: ada }],
    ])
    await tenant.call('PUT', `/v1/contacts/${ada}`, { properties: { email: ADA } })
    expect((await unmerge()).status).toBe(200)
  })

  test('omits a company that was deleted since the merge', async () => {
    await furnish()
    await merge()
    expect((await tenant.call('DELETE', `/v1/companies/${COMPANY}`)).status).toBe(200)
    expect((await unmerge()).body.contact.company_id).toBeNull()
    expect((await read(ada)).contact.company_id).toBeNull()
  })
})

test('a merge of many visitors works; more than 1,000 are rejected, and nothing is written', async () => {
  const visitors = (count: number, prefix: string, contactId: string) =>
    sql`INSERT INTO visitors (tenant_id, visitor_id, contact_id, created_at)
      SELECT ${tenant.id}::uuid, ${prefix}::text || n, ${contactId}::uuid, now()
      FROM generate_series(1, ${count}::int) AS n`.execute(service.stores.database)
  await visitors(600, 'a', ada)
  await visitors(400, 'o', old)
  expect((await merge()).status).toBe(200)
  await unmerge()
  await visitors(1, 'x', old)
  const before = await everything()
  const refused = await merge()
  expect([refused.status, refused.body.error.code]).toEqual([409, 'too_many_visitors'])
  expect(await everything()).toEqual(before)
})

describe('GET /v1/contacts/:contact_id/merges', () => {
  const merges = async (id: string) => (await tenant.call('GET', `/v1/contacts/${id}/merges`)).body

  test('tells who was merged, when and by whom, and which merge can be undone', async () => {
    const [survivor, first, second] = [
      await tenant.contact('survivor@example.com'),
      await tenant.contact('first@example.com', { firstname: 'First' }),
      await tenant.contact('second@example.com'),
    ]
    expect(await merges(survivor)).toMatchObject({ merges: [], pagination: { total_items: 0 } })
    await merge(first, survivor)
    await merge(second, survivor)
    const body = await merges(survivor)
    expect(body.merges).toMatchObject([
      { contact_id: second, email: 'second@example.com', firstname: null, can_unmerge: true },
      { contact_id: first, email: 'first@example.com', firstname: 'First', can_unmerge: false },
    ])
    expect(body.merges[0].merged_by).toEqual({ id: expect.any(String), name: expect.any(String) })
    await tenant.call('POST', `/v1/contacts/${second}/unmerge`)
    expect((await merges(survivor)).merges).toMatchObject([{ contact_id: first, can_unmerge: true }])
  })

  test('is 404 for a stranger, and for a contact that was merged itself', async () => {
    const other = await createTestTenant(service)
    const [one, two] = [await tenant.contact('one@example.com'), await tenant.contact('two@example.com')]
    await merge(one, two)
    expect((await other.call('GET', `/v1/contacts/${two}/merges`)).status).toBe(404)
    const { status, body } = await tenant.call('GET', `/v1/contacts/${one}/merges`)
    expect([status, body.error.code]).toEqual([404, 'contact_merged'])
  })
})
