import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from 'vitest'
import { HubSpotRecords } from '../../../test/hubspot-records.ts'
import { type HubSpotBench, HubSpotWorkspace, startHubSpotBench } from '../../../test/hubspot-workspace.ts'
import { DAY_MS, MINUTE_MS } from '../../platform/time.ts'

const AGO = (minutes: number) => new Date(Date.now() - minutes * MINUTE_MS)

let bench: HubSpotBench
let records: HubSpotRecords
let workspace: HubSpotWorkspace

beforeAll(async () => {
  // Only the pulls that a test starts, because all tests share HubSpot's limits.
  bench = await startHubSpotBench({ CDS_PULL_MINUTES: '1440' })
  // Requests may arrive closer together than they are sent: here the first of six may arrive late.
  bench.hubspot.limits.searchesSecondly++
})
afterEach(() => expect(bench.hubspot.refused).toBe(0))
afterAll(() => bench?.close())
beforeEach(async () => {
  const { hubspot, service } = bench
  records = new HubSpotRecords()
  hubspot.records = records
  hubspot.requests = []
  hubspot.intercept = () => undefined
  hubspot.owners = [
    { id: '7', email: 'olive@example.com', firstName: 'Olive', lastName: 'Owner', archived: false },
    { id: '8', email: 'left@example.com', firstName: 'Lefty', lastName: '', archived: true },
  ]
  workspace = await HubSpotWorkspace.create(service)
})

function createAda(): string {
  const company = records.create('companies', {
    name: 'Engines',
    domain: 'engines.example',
    numberofemployees: '42',
    hubspot_owner_id: '8',
  })
  return records.create('contacts', {
    email: 'ada@example.com',
    firstname: 'Ada',
    jobtitle: 'Countess',
    annualrevenue: '1200.5',
    lifecyclestage: 'marketingqualifiedlead',
    hs_lead_status: 'OPEN',
    hs_email_optout: 'true',
    hs_linkedin_url: 'https://linkedin.example/ada',
    hubspot_owner_id: '7',
    associatedcompanyid: company,
    score: '7',
  })
}

describe('HubSpot', () => {
  test('an address in another spelling is the known contact', async () => {
    const contact_id = await workspace.tenant.contact('kim@xn--bcher-kva.example')
    records.create('contacts', { email: 'Kim@bu\u0308cher.example', jobtitle: 'Librarian' })
    await workspace.connect()
    const properties = { email: 'kim@xn--bcher-kva.example', jobtitle: 'Librarian' }
    const { contacts } = (await workspace.tenant.call('GET', '/v1/contacts')).body
    expect(contacts).toMatchObject([{ contact_id, properties }])
  })

  test('is read: companies, contacts with their owners and deals, and activities as events', async () => {
    const ada = createAda()
    const open = { dealname: 'Engine 2', dealstage: 'appointmentscheduled', amount: '20.10', hs_is_closed: 'false' }
    const won = {
      dealname: 'Engine 1',
      dealstage: 'closedwon',
      amount: '100.2',
      hs_is_closed: 'true',
      hs_is_closed_won: 'true',
    }
    const [company] = records.of('companies')
    for (const [deal, days] of [
      [won, 9],
      [open, 5],
      [{ ...won, amount: '0.1' }, 8],
    ] as const) {
      const id = records.create('deals', { ...deal, closedate: '2026-03-01T00:00:00Z' }, AGO(days * 1_440))
      records.associate(['deals', id], ['contacts', ada])
      records.associate(['deals', id], ['companies', company?.id ?? ''])
    }
    const at = AGO(90 * 1_440).toISOString()
    const call = records.create('calls', {
      hs_timestamp: at,
      hs_call_title: 'Intro',
      hs_call_direction: 'OUTBOUND',
      hs_call_duration: '90000',
      hubspot_owner_id: '7',
    })
    const note = records.create('notes', { hs_timestamp: at, hs_note_body: '<p>Likes <b>tea</b> &amp; cake</p>' })
    const open_task = records.create('tasks', {
      hs_timestamp: at,
      hs_task_subject: 'Later',
      hs_task_status: 'NOT_STARTED',
    })
    const done_task = records.create('tasks', {
      hs_timestamp: AGO(80 * 1_440).toISOString(),
      hs_task_completion_date: at,
      hs_task_subject: 'Send the offer',
      hs_task_status: 'COMPLETED',
      hs_task_type: 'EMAIL',
      hs_task_priority: 'HIGH',
    })
    const meeting = records.create('meetings', {
      hs_timestamp: new Date(Date.now() + DAY_MS).toISOString(),
      hs_meeting_title: 'Tomorrow',
    })
    for (const [type, id] of [
      ['calls', call],
      ['notes', note],
      ['tasks', open_task],
      ['tasks', done_task],
      ['meetings', meeting],
    ] as const)
      records.associate([type, id], ['contacts', ada])

    const counts = await workspace.connect({ settings: { contact_properties: 'score, plan' } })
    expect(counts).toMatchObject({
      companies: { created: 1 },
      contacts: { created: 1 },
      calls: { accepted: 1 },
      notes: { accepted: 1 },
    })
    expect([counts.tasks, counts.meetings]).toEqual([{ accepted: 1 }, {}])
    const contact = await workspace.contact('ada@example.com')
    expect(contact.properties).toMatchObject({
      firstname: 'Ada',
      jobtitle: 'Countess',
      annualrevenue: 1200.5,
      lifecyclestage: 'mql',
      lead_status: 'OPEN',
      unsubscribed: true,
      linkedin_url: 'https://linkedin.example/ada',
      hubspot_owner: 'Olive Owner',
      hubspot_owner_email: 'olive@example.com',
      hubspot_deals: 3,
      hubspot_open_deals: 1,
      hubspot_open_amount: 20.1,
      hubspot_closed_won_deals: 2,
      hubspot_closed_won_amount: 100.3,
      hubspot_latest_deal_name: 'Engine 2',
      hubspot_latest_deal_stage: 'Appointment scheduled',
      hubspot_latest_deal_amount: 20.1,
      score: 7,
    })
    expect(Object.keys(contact.properties).filter((name) => name.startsWith('hs_'))).toEqual([])
    const { company: read } = (await workspace.tenant.call('GET', `/v1/companies/${contact.company_id}`)).body
    expect(read).toMatchObject({
      name: 'Engines',
      domain: 'engines.example',
      properties: {
        numberofemployees: 42,
        hubspot_owner: 'Lefty',
        hubspot_open_deals: 1,
        hubspot_closed_won_amount: 100.3,
      },
    })
    const raw = await workspace.tenant.call('GET', `/v1/contacts/${contact.contact_id}?include=raw`)
    expect(JSON.stringify(raw.body)).toContain('marketingqualifiedlead')
    const [event] = await workspace.events('hubspot_call')
    expect(event).toMatchObject({
      timestamp: at,
      internal_contact_id: contact.contact_id,
      data: { title: 'Intro', direction: 'OUTBOUND', duration_ms: 90_000, hubspot_owner: 'Olive Owner' },
    })
    expect(await workspace.events('hubspot_task')).toMatchObject([
      {
        timestamp: at,
        internal_contact_id: contact.contact_id,
        data: { title: 'Send the offer', type: 'EMAIL', priority: 'HIGH' },
      },
    ])
    expect((await workspace.events('hubspot_note'))[0].data.text).toBe('Likes tea & cake')
    const account = (await workspace.read()).account
    expect(account).toBe('HubSpot account 4711')
  })

  test('is then read for changes: contacts, deals, and activities that have taken place since', async () => {
    const ada = createAda()
    const deal = records.create('deals', { dealname: 'Engine', dealstage: 'appointmentscheduled', amount: '5' })
    records.associate(['deals', deal], ['contacts', ada])
    // Created long ago, it takes place while the first run reads.
    const meeting = records.create('meetings', { hs_meeting_title: 'Soon' }, AGO(600))
    records.associate(['meetings', meeting], ['contacts', ada])
    bench.hubspot.intercept = ({ path }) => {
      const { properties = {} } = records.find('meetings', meeting) ?? {}
      if (path.endsWith('/companies')) properties.hs_timestamp = new Date(Date.now() + 1).toISOString()
      return undefined
    }
    const call = records.create('calls', { hs_timestamp: AGO(1).toISOString(), hs_call_title: 'Once' })
    records.associate(['calls', call], ['contacts', ada])
    await workspace.connect()
    const before = await workspace.contact('ada@example.com')
    expect(before.properties).toMatchObject({ hubspot_open_deals: 1 })

    records.change('contacts', ada, { jobtitle: 'Programmer', phone: '+1 555 0100' })
    records.create('contacts', { email: 'grace@example.com', lifecyclestage: '123456' })
    records.change('deals', deal, { hs_is_closed: 'true', hs_is_closed_won: 'true', dealstage: 'closedwon' })
    expect(await workspace.events('hubspot_meeting')).toEqual([])
    bench.hubspot.intercept = () => undefined
    bench.hubspot.requests = []
    await workspace.pull()
    const after = await workspace.contact('ada@example.com')
    expect(after.properties).toMatchObject({
      jobtitle: 'Programmer',
      phone: '+1 555 0100',
      hubspot_open_deals: 0,
      hubspot_closed_won_amount: 5,
      hubspot_latest_deal_stage: 'Closed won',
    })
    // A stage that only this account has is kept under its own name.
    const grace = await workspace.contact('grace@example.com')
    expect(grace.properties).toMatchObject({ hubspot_lifecyclestage: '123456' })
    expect(grace.properties).not.toHaveProperty('lifecyclestage')
    expect((await workspace.events('hubspot_meeting')).length).toBe(1)
    expect((await workspace.events('hubspot_call')).length).toBe(1)
    const searched = bench.hubspot.requests.filter(({ path }) => path.endsWith('/contacts/search'))
    expect(searched).toHaveLength(1)
    const listed = bench.hubspot.requests.filter(
      ({ path, query }) => path.endsWith('/contacts') && !query.has('archived'),
    )
    expect(listed).toHaveLength(0)
    // Each request is sent 220 ms after the one before. The first may have arrived only when the second was sent.
    const { requests } = bench.hubspot
    const [first, last] = [requests[0]?.at ?? 0, requests.at(-1)?.at ?? 0]
    expect(last - first).toBeGreaterThan((requests.length - 2) * 220 - 100)
  })

  test('does not count deals that were deleted there', async () => {
    const ada = createAda()
    const [company] = records.of('companies')
    const deals = ['Engine 1', 'Engine 2'].map((dealname) => {
      const id = records.create('deals', { dealname, dealstage: 'appointmentscheduled', amount: '5' })
      records.associate(['deals', id], ['contacts', ada])
      records.associate(['deals', id], ['companies', company?.id ?? ''])
      return id
    })
    await workspace.connect()
    const summaries = async () => {
      const { properties, company_id } = await workspace.contact('ada@example.com')
      const { company: read } = (await workspace.tenant.call('GET', `/v1/companies/${company_id}`)).body
      return [properties, read.properties]
    }
    const two = { hubspot_deals: 2, hubspot_open_amount: 10, hubspot_latest_deal_name: 'Engine 2' }
    expect(await summaries()).toMatchObject([two, two])
    records.archive('deals', deals[1] ?? '')
    await workspace.pull()
    const one = { hubspot_deals: 1, hubspot_open_amount: 5, hubspot_latest_deal_name: 'Engine 1' }
    expect(await summaries()).toMatchObject([one, one])
    records.archive('deals', deals[0] ?? '')
    await workspace.pull()
    for (const values of await summaries()) {
      expect(values).toMatchObject({ hubspot_deals: 0, hubspot_open_amount: 0 })
      expect(values).not.toHaveProperty('hubspot_latest_deal_name')
    }
  })

  test('finds more changes than one search returns, even if all happened at the same moment', async () => {
    createAda()
    await workspace.connect()
    bench.hubspot.searchWindow = 400
    const at = new Date()
    for (let n = 0; n < 650; n++) records.create('contacts', { email: `many${n}@example.com` }, at)
    await workspace.pull()
    bench.hubspot.searchWindow = 10_000
    const { body } = await workspace.tenant.call('GET', '/v1/contacts?count_only=true')
    expect(body.count).toBe(651)
  })

  test('keeps contacts that were deleted there, without the values that only HubSpot had', async () => {
    const ada = createAda()
    const gone = records.create('contacts', { email: 'gone@example.com' })
    await workspace.connect()
    await workspace.change('ada@example.com', { phone: '+1 555 0199' })
    const [company] = records.of('companies')
    // Deleted two minutes ago, because newer deletions may be merges and are left to the next read.
    records.archive('contacts', ada, AGO(2))
    records.archive('companies', company?.id ?? '', AGO(2))
    records.purge(gone)
    await workspace.lastReadWas(AGO(6 * 60))
    const counts = await workspace.pull()
    expect([counts.contacts?.deleted, counts.companies?.deleted]).toEqual([1, 1])
    const left = await workspace.contact('ada@example.com')
    expect(left.properties).toEqual({ email: 'ada@example.com', phone: '+1 555 0199', unsubscribed: true })
    // A record that was purged for privacy is in no list, so it must be erased here too.
    expect(await workspace.contact('gone@example.com')).toBeDefined()
  })

  test('keeps the opt-out of a contact that was deleted there, until somebody else says otherwise', async () => {
    const optedOut = records.create('contacts', { email: 'out@example.com', firstname: 'Out', hs_email_optout: 'true' })
    await workspace.connect()
    records.archive('contacts', optedOut, AGO(2))
    await workspace.lastReadWas(AGO(6 * 60))
    expect((await workspace.pull()).contacts?.deleted).toBe(1)
    const left = await workspace.contact('out@example.com')
    expect(left.properties).toEqual({ email: 'out@example.com', unsubscribed: true })
    expect(left.consent).toEqual({ property: 'unsubscribed', value: true, rule: 'unsubscribed' })
    await workspace.change('out@example.com', { unsubscribed: false })
    expect((await workspace.contact('out@example.com')).consent).toBeNull()
  })

  test('merges contacts that were merged there into a new record', async () => {
    const [first, second] = [
      createAda(),
      records.create('contacts', { email: 'ada2@example.com', phone: '+1 555 0111' }),
    ]
    await workspace.connect()
    const { contact_id } = await workspace.contact('ada@example.com')
    const merged = records.merge(first, second)
    const counts = await workspace.pull()
    expect(counts.contacts).toMatchObject({ merged: 1 })
    const { body } = await workspace.tenant.call('GET', '/v1/contacts?count_only=true')
    expect(body.count).toBe(1)
    const survivor = await workspace.contact('ada@example.com')
    expect(survivor).toMatchObject({ contact_id, properties: { firstname: 'Ada', phone: '+1 555 0111' } })
    // The merged records look deleted, but nothing is deleted here, and changes of the new record still arrive.
    records.change('contacts', merged.id, { jobtitle: 'Programmer' })
    expect((await workspace.pull()).contacts).not.toHaveProperty('deleted')
    expect((await workspace.contact('ada@example.com')).properties.jobtitle).toBe('Programmer')
  })

  test.for([['engines.example'], [null]])(
    'companies that were merged there, with the domain %s, become one with the contacts of both',
    async ([domain]) => {
      const [first, second] = [
        records.create('companies', { name: 'Engines', domain: domain ?? null, phone: '1' }),
        records.create('companies', { name: 'Looms', phone: '2' }),
      ]
      records.create('contacts', { email: 'ada@example.com', associatedcompanyid: first })
      records.create('contacts', { email: 'grace@example.com', associatedcompanyid: second })
      await workspace.connect()
      const ofAda = (await workspace.contact('ada@example.com')).company_id
      const path = `/v1/companies/${ofAda}`
      await workspace.tenant.call('PUT', path, { properties: { phone: '3' } })
      records.merge(first, second, AGO(2), 'companies')
      // The records that were merged look deleted.
      await workspace.lastReadWas(AGO(6 * 60))
      expect((await workspace.pull()).companies).toMatchObject({ deleted: 2 })
      for (const email of ['ada@example.com', 'grace@example.com']) {
        expect((await workspace.contact(email)).company_id).toBe(ofAda)
      }
      const { body } = await workspace.tenant.call('GET', path)
      expect(body.company).toMatchObject({ name: 'Engines', properties: { phone: '3' } })
      // The other one stays, because nothing is deleted here.
      expect((await workspace.tenant.call('GET', '/v1/companies')).body.pagination.total_items).toBe(2)
    },
  )

  test('who opted out there is not written to here, and who bounced gets no mail', async () => {
    records.create('contacts', { email: 'a@example.com', hs_email_optout: 'true' })
    records.create('contacts', { email: 'b@example.com', hs_email_hard_bounce_reason_enum: 'UNKNOWN_USER' })
    records.create('contacts', { email: 'c@example.com', hs_email_bad_address: 'true', hs_email_optout: 'false' })
    records.create('contacts', { email: 'd@example.com', hs_email_quarantined: 'false' })
    await workspace.connect()
    const emails = ['a@example.com', 'b@example.com', 'c@example.com', 'd@example.com']
    const consents = await Promise.all(emails.map(async (email) => (await workspace.contact(email)).consent))
    expect(consents).toEqual([
      { property: 'unsubscribed', value: true, rule: 'unsubscribed' },
      { property: 'email_hard_bounce_reason', value: 'UNKNOWN_USER', rule: 'bounced' },
      { property: 'email_bad_address', value: true, rule: 'bounced' },
      null,
    ])
  })

  test('a bad record fails alone, and so does one with a malformed address', async () => {
    createAda()
    records.create('contacts', { email: null, firstname: 'Nameless' })
    const bad = records.create('contacts', { email: 'bad@example.com' })
    const broken = records.find('contacts', bad)
    // HubSpot's limit is the same; a proxy in between may send anything.
    if (broken) broken.properties.message = 'x'.repeat(70_000)
    const odd = records.create('contacts', { email: 'odd@example.com' })
    const record = records.find('contacts', odd)
    if (record) record.properties.email = 'not an address'
    const counts = await workspace.connect()
    expect(counts.contacts).toEqual({ created: 2, failed: 2 })
    const errors = await workspace.errors()
    expect(errors).toHaveLength(2)
    expect(errors).toMatchObject(
      expect.arrayContaining([
        expect.objectContaining({ object: 'contacts', external_id: bad, code: 'validation_error' }),
        expect.objectContaining({
          object: 'contacts',
          external_id: odd,
          code: 'invalid_email',
          message: expect.stringContaining("'not an address' is not an email address"),
        }),
      ]),
    )
    // The record is written once it is corrected.
    records.change('contacts', odd, { email: 'odd@example.com' })
    expect((await workspace.pull()).contacts).toMatchObject({ created: 1 })
    expect((await workspace.contact('odd@example.com')).properties.email).toBe('odd@example.com')
  })

  test('erasing a contact leaves nothing of it, and the next read of changes does not bring it back', async () => {
    createAda()
    records.create('contacts', { email: 'grace@example.com' })
    await workspace.connect()
    const { contact_id } = await workspace.contact('ada@example.com')
    const erased = await workspace.tenant.call('POST', '/v1/erasures', { contact_id })
    expect(erased.status).toBe(202)
    await expect.poll(() => workspace.contact('ada@example.com'), { timeout: 60_000 }).toBeUndefined()
    // The contact is deleted in HubSpot too, or a later change there would bring it back.
    records.purge(records.of('contacts')[0]?.id ?? '')
    await workspace.pull()
    expect(await workspace.contact('ada@example.com')).toBeUndefined()
    const rows = await workspace.tenant.handle.db.selectFrom('contact_sources').select('contact_id').execute()
    expect(rows.filter((row) => row.contact_id === contact_id)).toEqual([])
  })
})
