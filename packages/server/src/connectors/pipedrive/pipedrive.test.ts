import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest'
import {
  type ConnectedSystem,
  connectedTo,
  pausesBetween,
  startConnectedSystem,
} from '../../../test/connected-system.ts'
import { connectBySignIn, connectWith, erased, eventsOf, signIn, TestConnection } from '../../../test/connections.ts'
import { API_TOKEN, activity, deal, justNow, PipedriveAccount, person } from '../../../test/pipedrive.ts'
import { makeCertificate } from '../../../test/receiver.ts'
import { createTestTenant, startTestService, type TestService, TestTenant } from '../../../test/service.ts'

const WEBSITE = '1111111111111111111111111111111111111111'
const SCORE = '2222222222222222222222222222222222222222'
const PLAN = '3333333333333333333333333333333333333333'
const BUDGET = '4444444444444444444444444444444444444444'
const OWNER = '5555555555555555555555555555555555555555'

let account: PipedriveAccount
let system: ConnectedSystem
let service: TestService
let tenant: TestTenant
let options: ReturnType<typeof connectedTo> & { providerUrls: Record<string, string> }

beforeAll(async () => {
  system = await startConnectedSystem(makeCertificate(), (request) => account.respond(request))
  options = { ...connectedTo(system, 'pipedrive'), providerUrls: { pipedrive: system.url } }
  service = await startTestService({}, options)
})
beforeEach(async () => {
  tenant = await createTestTenant(service)
  account = new PipedriveAccount()
  system.requests = []
  system.intercept = () => undefined
})
afterAll(async () => {
  await service?.close()
  await system?.close()
})

const connect = () => connectWith(tenant, { connector: 'pipedrive', credentials: { api_token: API_TOKEN } })
const isActivity = ({ event }: { event: string }) => event === 'pipedrive_activity'
const asked = (path: string) => system.requests.filter((request) => request.path === path)

async function whole(email: string) {
  const { contact_id } = await tenant.contactOf(email)
  return (await tenant.call('GET', `/v1/contacts/${contact_id}?include=raw`)).body
}

describe('Pipedrive', () => {
  test('first read: organizations, persons, deals and activities, page by page', async () => {
    account.pageSize = 2
    account.organizations = [{ id: 7, name: 'Engines', update_time: '2026-01-01T00:00:00Z', ...ENGINES }]
    account.organizationFields = [field(WEBSITE, 'Website', 'varchar')]
    account.personFields = [
      field(SCORE, 'Lead score (%)', 'double'),
      field(PLAN, 'Plan', 'enum', [{ id: 12, label: 'Gold' }]),
      field(BUDGET, 'Budget', 'monetary'),
      field(OWNER, 'Second owner', 'user'),
      { field_code: 'name', field_name: 'Name', field_type: 'varchar', is_custom_field: false },
    ]
    account.persons = [
      person(1, {
        org_id: 7,
        job_title: 'Engineer',
        emails: [
          { value: 'old@example.com', primary: false },
          { value: 'person1@example.com', primary: true },
        ],
        phones: [{ value: '+44 20 7946 0000', primary: true, label: 'work' }],
        custom_fields: { [SCORE]: 87.5, [PLAN]: 12, [BUDGET]: { value: 2300, currency: 'EUR' }, [OWNER]: 3 },
      }),
      person(2),
      person(3, { first_name: null, last_name: null, name: 'Mononym', emails: [] }),
    ]
    account.deals = [
      deal(1, 1, { status: 'won', value: 50, update_time: '2026-01-02T00:00:00Z' }),
      deal(2, 1, { status: 'won', value: 70, update_time: '2026-01-03T00:00:00Z' }),
      deal(3, 1, { title: 'Second engine', stage_id: 2, value: 900, update_time: '2026-01-04T00:00:00Z' }),
    ]
    account.activities = [activity(1, 1), activity(2, 1, { done: false }), activity(3, null)]
    const connection = await connect()
    expect(await connection.pulled()).toEqual({
      organizations: { created: 1 },
      persons: { created: 3 },
      // One page of two deals, and one of the third. Each was created, and two were won.
      deals: { updated: 2, accepted: 5 },
      activities: { accepted: 1 },
      deletions: {},
    })

    const { contact, unified_profile } = await whole('person1@example.com')
    expect(contact.properties).toEqual({
      email: 'person1@example.com',
      firstname: 'Person',
      lastname: '1',
      jobtitle: 'Engineer',
      phone: '+44 20 7946 0000',
      pipedrive_lead_score: 87.5,
      pipedrive_plan: 'Gold',
      pipedrive_budget: 2300,
      pipedrive_budget_currency: 'EUR',
      pipedrive_open_deals: 1,
      pipedrive_won_deals: 2,
      pipedrive_deal_title: 'Second engine',
      pipedrive_deal_status: 'open',
      pipedrive_deal_stage: 'Offer',
      pipedrive_deal_value: 900,
      pipedrive_deal_currency: 'EUR',
      pipedrive_won_value: 120,
      pipedrive_won_currency: 'EUR',
    })
    expect(unified_profile.sources.pipedrive).toMatchObject({ external_id: '1' })
    expect(unified_profile.raw_data.pipedrive).toMatchObject({ id: 1, custom_fields: { [SCORE]: 87.5 } })
    const { companies } = (await tenant.call('GET', '/v1/companies')).body
    expect(companies).toMatchObject([{ name: 'Engines', domain: 'engines.example' }])
    expect(contact.company_id).toBe(companies[0].company_id)
    const company = (await tenant.call('GET', `/v1/companies/${companies[0].company_id}`)).body.company
    expect(company.properties).toMatchObject({ city: 'London', country: 'United Kingdom', industry: 'Machines' })
    const activities = (await eventsOf(tenant, contact.contact_id)).filter(isActivity)
    expect(activities).toMatchObject([
      {
        event: 'pipedrive_activity',
        timestamp: '2026-01-05T10:30:00.000Z',
        data: { activity_type: 'call', subject: 'Call 1', note: 'Wants an  offer' },
      },
    ])
    const mononym = await tenant.call('GET', '/v1/contacts?search=Mononym')
    expect(mononym.body.contacts).toMatchObject([{ properties: { firstname: 'Mononym' } }])
    // The names of the fields are read once for all pages of a pull.
    expect(asked('/api/v2/personFields')).toHaveLength(1 + Math.floor(account.personFields.length / 2))
    expect(asked('/api/v2/persons').filter(({ query }) => query.has('cursor'))).toHaveLength(1)
  })

  test('increment: only what changed since the run before, and what a value was replaced with', async () => {
    account.persons = [person(1, { phones: [{ value: '123', primary: true }] }), person(2)]
    account.deals = [deal(1, 1, { status: 'won', value: 50 })]
    account.activities = [activity(1, 1)]
    const connection = await connect()
    await connection.pulled()
    system.requests = []
    account.persons[0] = person(1, { first_name: 'Ada', update_time: justNow() })
    account.deals.push(deal(2, 1, { status: 'won', value: 30, update_time: justNow() }))
    // A run reads only activities from before the second in which it started.
    account.activities.push(activity(2, 1, { update_time: justNow(-1_000) }))
    expect(await connection.pull()).toMatchObject({
      persons: { updated: 1 },
      deals: { updated: 1, accepted: 2 },
      activities: { accepted: 1 },
    })
    const [first] = asked('/api/v2/persons')
    expect(Date.parse(first?.query.get('updated_since') ?? '')).toBeGreaterThan(Date.now() - 600_000)
    const { contact } = await whole('person1@example.com')
    expect(contact.properties).toMatchObject({ firstname: 'Ada', pipedrive_won_value: 80, pipedrive_won_deals: 2 })
    expect(contact.properties).not.toHaveProperty('phone')

    // Another pull changes nothing, although the last minutes are read again.
    expect(await connection.pull()).toMatchObject({
      persons: { unchanged: 1 },
      // Its person, and two events.
      deals: { unchanged: 3 },
      activities: { unchanged: 1 },
    })
    expect(await eventsOf(tenant, contact.contact_id)).toHaveLength(6)
    expect(await connection.reread()).toMatchObject({ persons: { unchanged: 2 }, activities: { unchanged: 2 } })
    expect(await eventsOf(tenant, contact.contact_id)).toHaveLength(6)
  })

  test('deletion: a deleted person loses its record and its values, but not what others wrote', async () => {
    account.organizations = [{ id: 7, name: 'Engines', update_time: '2026-01-01T00:00:00Z', ...ENGINES }]
    account.persons = [person(1, { org_id: 7 }), person(2)]
    account.deals = [deal(1, 2, { status: 'won', value: 50 }), deal(2, 2, { title: 'Other' })]
    const connection = await connect()
    await connection.pulled()
    const { contact_id } = await tenant.contactOf('person1@example.com')
    await tenant.call('PUT', `/v1/contacts/${contact_id}`, { properties: { city: 'London' } })
    account.pageSize = 1
    account.delete('person', 1)
    account.delete('organization', 7)
    account.deals[0] = deal(1, 2, { status: 'won', is_deleted: true, update_time: justNow() })
    expect(await connection.pull()).toMatchObject({ deals: { updated: 1 }, deletions: { deleted: 2 } })
    const { contact, unified_profile } = await whole('person1@example.com')
    expect(contact.properties).toEqual({ email: 'person1@example.com', city: 'London' })
    expect(unified_profile.sources).not.toHaveProperty('pipedrive')
    expect((await tenant.contactOf('person2@example.com')).contact_id).toBeTruthy()
    expect((await whole('person2@example.com')).contact.properties).toMatchObject({
      pipedrive_deal_title: 'Other',
      pipedrive_won_deals: 0,
    })
    expect((await whole('person2@example.com')).contact.properties).not.toHaveProperty('pipedrive_won_value')
    expect((await tenant.call('GET', '/v1/companies')).body.companies).toHaveLength(1)
  })

  test('rate limit: a pull waits for the end of the window', async () => {
    account.persons = [person(1)]
    let refusals = 1
    system.intercept = ({ path }) =>
      path === '/api/v2/persons' && refusals-- > 0
        ? { status: 429, headers: { 'x-ratelimit-reset': '1' }, body: { success: false, error: 'request over limit' } }
        : undefined
    const connection = await connect()
    expect(await connection.pulled()).toMatchObject({ persons: { created: 1 } })
    expect(asked('/api/v2/persons').length).toBe(2)
    expect(pausesBetween(asked('/api/v2/persons'))[0]).toBeGreaterThanOrEqual(1_000)
  })

  test('rate limit: without tokens for the day, it waits and asks again every hour', async () => {
    const headers = { 'x-daily-ratelimit-token-remaining': '0', 'x-ratelimit-reset': '2' }
    const limited = { status: 429, headers, body: { success: false, error: 'daily limit exceeded' } }
    system.intercept = ({ path }) => (path === '/api/v2/persons' ? limited : undefined)
    const connection = await connect()
    const until = await connection.isLimited()
    expect(until.getTime()).toBeGreaterThan(Date.now() + 3_000_000)
    expect(await connection.read()).toMatchObject({ error: null, state: 'waiting' })
    expect(asked('/api/v2/persons')).toHaveLength(1)
    system.intercept = () => undefined
    expect(await connection.pull()).toMatchObject({ persons: {} })
    // It continued with the persons.
    expect(asked('/api/v2/organizations')).toHaveLength(1)
  })

  test('token refresh: an access token that is refused is renewed, and the new refresh token is kept', async () => {
    account.persons = [person(1)]
    const connection = await connectBySignIn(tenant, 'pipedrive')
    expect(await connection.pulled()).toMatchObject({ persons: { created: 1 } })
    expect(await connection.read()).toMatchObject({ settings: { api_domain: 'https://engines.pipedrive.com' } })
    for (const run of [1, 2]) {
      account.accessToken = 'another'
      account.persons.push(person(1 + run, { update_time: justNow() }))
      expect(await connection.pull()).toMatchObject({ persons: { created: 1 } })
      expect(account.refreshToken).toBe(`refresh-${1 + run}`)
    }
  })

  test('expired sign-in: a revoked refresh token signs out, and another sign-in continues where the read stopped', async () => {
    account.persons = [person(1)]
    const connection = await connectBySignIn(tenant, 'pipedrive')
    await connection.pulled()
    account.accessToken = account.refreshToken = 'another'
    await connection.order()
    const { error } = await connection.reaches('signed_out')
    expect(error).toContain('invalid_grant')
    account.persons.push(person(2, { update_time: justNow() }))
    const again = { kind: 'connection', connection_id: connection.id }
    expect((await signIn(tenant, 'pipedrive', again)).status).toBe(200)
    expect(await connection.pulled()).toMatchObject({ persons: { created: 1 } })

    const refused = await connectWith(tenant, {
      connector: 'pipedrive',
      source: 'second',
      credentials: { api_token: API_TOKEN },
    })
    await refused.pulled()
    account.apiToken = 'another'
    await refused.order()
    expect((await refused.reaches('signed_out')).error).toContain('unauthorized access')
  })

  test('a sign-in with the URL of another host connects nothing', async () => {
    system.intercept = ({ path }) =>
      path === '/oauth/token'
        ? {
            body: {
              access_token: 'a',
              refresh_token: 'b',
              expires_in: 60,
              api_domain: 'https://pipedrive.com.evil.example',
            },
          }
        : undefined
    const response = await signIn(tenant, 'pipedrive', { kind: 'connection', connector: 'pipedrive' })
    expect(response).toMatchObject({ status: 400, body: { error: { code: 'validation_error' } } })
    expect((await tenant.call('GET', '/v1/connections')).body.connections).toEqual([])
    for (const api_domain of ['http://a.pipedrive.com', 'https://pipedrive.com', 'https://a.pipedrive.com:8443', 'x']) {
      const body = { connector: 'pipedrive', credentials: { api_token: API_TOKEN }, settings: { api_domain } }
      expect((await tenant.call('POST', '/v1/connections', body)).status).toBe(400)
    }
  })

  test('server error: the connection shows it, and the next pull continues at the same page', async () => {
    account.pageSize = 1
    account.persons = [person(1), person(2), person(3)]
    system.intercept = ({ path, query }) =>
      path === '/api/v2/persons' && query.has('cursor')
        ? { status: 502, headers: { 'content-type': 'text/html' }, body: '<html>Bad gateway</html>' }
        : undefined
    const connection = await connect()
    expect(await connection.reaches('failed')).toMatchObject({ error: 'Pipedrive responded with status 502.' })
    expect(await tenant.contactOf('person1@example.com')).toBeTruthy()
    system.intercept = () => undefined
    system.requests = []
    await connection.order()
    await expect.poll(async () => (await connection.read()).state, { timeout: 120_000 }).toBe('waiting')
    expect(await connection.pulled()).toMatchObject({ persons: { created: 3 } })
    expect(asked('/api/v2/persons').map(({ query }) => query.has('cursor'))).toEqual([true, true])
  })

  test('bad record: it is listed, and the others are written', async () => {
    account.personFields = [field(SCORE, 'x'.repeat(300), 'text')]
    account.persons = [
      person(1, { update_time: '2026-13-45' }),
      person(2, { emails: [{ value: 'no address', primary: true }], first_name: 'No address' }),
      person(3, { custom_fields: { [SCORE]: 'y'.repeat(70_000), unknown: 1 } }),
      person(4, { first_name: 'Nul \u0000 and \ud800' }),
    ]
    account.activities = [activity(1, 99), activity(2, 4, { marked_as_done_time: 'x' }), activity(3, 4)]
    const connection = await connect()
    expect(await connection.pulled()).toMatchObject({
      persons: { created: 1, failed: 3 },
      activities: { accepted: 1, failed: 2 },
    })
    const errors = await connection.errors()
    expect(errors.map(({ object, external_id, code }: Record<string, string>) => [object, external_id, code])).toEqual(
      expect.arrayContaining([
        ['persons', '1', 'validation_error'],
        ['persons', '2', 'invalid_email'],
        ['persons', '3', 'validation_error'],
        ['activities', '1', 'unknown_contact'],
        ['activities', '2', 'validation_error'],
      ]),
    )
    expect((await tenant.call('GET', '/v1/contacts?search=No+address')).body.contacts).toEqual([])
  })

  test('the marketing status of an account with Campaigns silences all but subscribers, without it nobody is asked', async () => {
    const statuses = ['unsubscribed', 'no_consent', 'subscribed']
    account.persons = statuses.map((marketing_status, at) => person(at + 1, { marketing_status }))
    account.personFields = [field(SCORE, 'Score', 'double')]
    const connection = await connect()
    await connection.pulled()
    expect(asked('/api/v2/persons').map(({ query }) => query.get('include_fields'))).not.toContain('marketing_status')
    account.personFields.push({
      field_code: 'marketing_status',
      field_name: 'Marketing status',
      is_custom_field: false,
    })
    account.persons.forEach((each) => {
      each.update_time = justNow()
    })
    await connection.pull()
    expect(asked('/api/v2/persons').map(({ query }) => query.get('include_fields'))).toContain('marketing_status')
    const consents = await Promise.all(
      [1, 2, 3].map(async (at) => (await whole(`person${at}@example.com`)).contact.consent),
    )
    expect(consents.map((consent) => consent?.value ?? null)).toEqual(['unsubscribed', 'no_consent', null])
  })

  test('restart in the middle: another process continues at the page where the first one ended', async () => {
    account.pageSize = 1
    account.persons = [person(1), person(2), person(3)]
    const first = await startTestService({}, options)
    tenant = await createTestTenant(first)
    const reached = new Promise<void>((resolve) => {
      system.intercept = ({ path, query }) => {
        if (path !== '/api/v2/persons' || !query.has('cursor')) return undefined
        resolve()
        return null
      }
    })
    const connection = await connect()
    await reached
    await first.close()
    system.intercept = () => undefined
    system.requests = []
    const { databaseUrl, dataDirectory } = first.config
    const second = await startTestService({ DATABASE_URL: databaseUrl ?? '', CDS_DATA_DIR: dataDirectory }, options)
    try {
      const moved = new TestTenant(second, tenant.id, tenant.key, tenant.site)
      const there = new TestConnection(moved, connection.id)
      await there.order()
      await expect.poll(async () => (await there.read()).error, { timeout: 120_000 }).toBeNull()
      expect(await there.pulled()).toMatchObject({ persons: { created: 3 } })
      expect(asked('/api/v2/persons').map(({ query }) => query.has('cursor'))).toEqual([true, true])
    } finally {
      await second.close()
    }
  })

  test('erase: nothing of an erased person is left, and an unchanged one is not read again', async () => {
    account.persons = [person(1)]
    account.activities = [activity(1, 1)]
    const connection = await connect()
    await connection.pulled()
    const { contact_id } = await tenant.contactOf('person1@example.com')
    await erased(tenant, contact_id)
    expect(await tenant.contactOf('person1@example.com')).toBeUndefined()
    const rows = await tenant.handle.db.selectFrom('contact_sources').select('raw').execute()
    expect(rows).toEqual([])
    expect(await connection.pull()).toMatchObject({ persons: {}, activities: {} })
    expect(await tenant.contactOf('person1@example.com')).toBeUndefined()
  })
})

const ENGINES = {
  address: { value: '1 St James, London', locality: 'London', country: 'United Kingdom', postal_code: 'SW1' },
  industry: 'Machines',
  custom_fields: { [WEBSITE]: 'https://www.engines.example' },
}

function field(field_code: string, field_name: string, field_type: string, options: object[] | null = null) {
  return { field_code, field_name, field_type, options, is_custom_field: true, is_optional_response_field: false }
}
