import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest'
import { type ConnectedSystem, connectedTo, startConnectedSystem } from '../../../test/connected-system.ts'
import { connectBySignIn, erased, eventsOf, signIn, TestConnection, WITHIN } from '../../../test/connections.ts'
import { makeCertificate } from '../../../test/receiver.ts'
import { contact, idOf, record, SalesforceOrganization } from '../../../test/salesforce.ts'
import { createTestTenant, startTestService, type TestService, TestTenant } from '../../../test/service.ts'

let organization: SalesforceOrganization
let system: ConnectedSystem
let service: TestService
let tenant: TestTenant
let options: ReturnType<typeof connectedTo> & { providerUrls: Record<string, string> }

beforeAll(async () => {
  system = await startConnectedSystem(makeCertificate(), (request) => organization.respond(request))
  options = { ...connectedTo(system, 'salesforce'), providerUrls: { salesforce: system.url } }
  service = await startTestService({}, options)
})
beforeEach(async () => {
  tenant = await createTestTenant(service)
  organization = new SalesforceOrganization()
  system.requests = []
  system.intercept = () => undefined
})
afterAll(async () => {
  await service?.close()
  await system?.close()
})

const connect = () => connectBySignIn(tenant, 'salesforce')
const asked = (part: string) => system.requests.filter(({ path }) => path.includes(part))
const queries = () => system.requests.map(({ query }) => query.get('q') ?? '').filter((soql) => soql !== '')
const of = (sobject: string) => organization.records[sobject] ?? []
const now = () => new Date().toISOString()

/** A run reads only activities and conversions from before it started. */
async function aMomentLater(): Promise<void> {
  await new Promise((resolve) => setTimeout(resolve, 5))
}

async function whole(email: string) {
  const { contact_id } = await tenant.contactOf(email)
  return (await tenant.call('GET', `/v1/contacts/${contact_id}?include=raw`)).body
}

const ACCOUNT = record(idOf('001', 1), {
  Name: 'Engines',
  Website: 'https://www.engines.example',
  Industry: 'Machines',
  NumberOfEmployees: 12,
  BillingCity: 'London',
})

describe('Salesforce', () => {
  test('first read: by jobs, whose results come in parts', async () => {
    organization.pageSize = 2
    organization.pollsOfJobs = 1
    of('Account').push(ACCOUNT)
    of('Contact').push(
      contact(1, {
        Title: 'Engineer, "first"\nclass',
        Phone: '+44 20 7946 0000',
        AccountId: ACCOUNT.Id,
        MailingCity: 'Ödön’s',
        HasOptedOutOfEmail: true,
        Score__c: 87.5,
        Renewal__c: '2026-03-01T00:00:00.000Z',
        Essay__c: 'too long to be a property',
      }),
      contact(2),
      contact(3),
    )
    of('Lead').push(
      record(idOf('00Q', 1), {
        LastName: 'Lead',
        Email: 'lead@example.com',
        Company: 'Looms',
        Status: 'Open',
        IsConverted: false,
      }),
      record(idOf('00Q', 2), { LastName: 'Was a lead', IsConverted: true, ConvertedContactId: idOf('003', 1) }),
    )
    const done = { IsClosed: true, Status: 'Completed', WhoId: idOf('003', 1) }
    of('Task').push(
      record(idOf('00T', 1), { ...done, Subject: 'Call', CompletedDateTime: '2026-01-05T10:00:00.000Z' }),
      record(idOf('00T', 2), { ...done, Subject: 'Old', ActivityDate: '2020-02-03', IsArchived: true }),
      record(idOf('00T', 3), { ...done, Subject: 'Open', IsClosed: false }),
      record(idOf('00T', 4), { ...done, Subject: 'For nobody', WhoId: null }),
    )
    of('Event').push(
      record(idOf('00U', 1), {
        Subject: 'Visit',
        StartDateTime: '2026-01-06T09:00:00.000Z',
        IsPrivate: false,
        WhoId: idOf('003', 1),
      }),
      record(idOf('00U', 2), {
        Subject: 'Dentist',
        StartDateTime: '2026-01-07T09:00:00.000Z',
        IsPrivate: true,
        WhoId: idOf('003', 1),
      }),
      record(idOf('00U', 3), {
        Subject: 'Later',
        StartDateTime: '2036-01-07T09:00:00.000Z',
        IsPrivate: false,
        WhoId: idOf('003', 1),
      }),
    )
    const connection = await connect()
    expect(await connection.read()).toMatchObject({
      account: 'Analytical Engines (00D000000000001EAA)',
      settings: { instance_url: 'https://engines.my.salesforce.com' },
    })
    expect(await connection.pulled()).toEqual({
      accounts: { created: 1 },
      contacts: { created: 3 },
      leads: { created: 1 },
      opportunities: {},
      tasks: { accepted: 2 },
      events: { accepted: 1 },
    })
    const { contact: person, unified_profile } = await whole('person1@example.com')
    expect(person.properties).toEqual({
      email: 'person1@example.com',
      firstname: 'Person',
      lastname: '1',
      jobtitle: 'Engineer, "first"\nclass',
      phone: '+44 20 7946 0000',
      city: 'Ödön’s',
      has_opted_out_of_email: true,
      salesforce_owner: 'Olga Owner',
      salesforce_score: 87.5,
      salesforce_renewal: '2026-03-01T00:00:00.000Z',
    })
    expect(unified_profile.raw_data.salesforce).toMatchObject({ Id: idOf('003', 1), Score__c: 87.5 })
    const { companies } = (await tenant.call('GET', '/v1/companies')).body
    expect(companies).toMatchObject([{ name: 'Engines', domain: 'engines.example' }])
    expect(person.company_id).toBe(companies[0].company_id)
    expect(await eventsOf(tenant, person.contact_id)).toMatchObject([
      { event: 'salesforce_task', timestamp: '2020-02-03T00:00:00.000Z', data: { subject: 'Old' } },
      {
        event: 'salesforce_task',
        timestamp: '2026-01-05T10:00:00.000Z',
        data: { subject: 'Call', status: 'Completed' },
      },
      { event: 'salesforce_event', timestamp: '2026-01-06T09:00:00.000Z', data: { subject: 'Visit' } },
    ])
    expect((await whole('lead@example.com')).contact.properties).toMatchObject({
      company: 'Looms',
      lead_status: 'Open',
    })
    expect(asked('/results').filter(({ query }) => query.has('locator'))).toHaveLength(1)
    // The results of the jobs are personal data: they are deleted.
    expect(organization.jobs.size).toBe(0)
  })

  test('increment: by queries for what changed, page by page', async () => {
    of('Contact').push(contact(1, { Title: 'Engineer', Renewal__c: '2026-03-01T00:00:00.000Z' }), contact(2))
    const connection = await connect()
    await connection.pulled()
    system.requests = []
    organization.pageSize = 1
    Object.assign(of('Contact')[0] ?? {}, { FirstName: 'Ada', Title: null, SystemModstamp: now() })
    of('Contact').push(contact(3, { SystemModstamp: now() }))
    of('Task').push(
      record(idOf('00T', 1), {
        Subject: 'Call',
        IsClosed: true,
        WhoId: idOf('003', 3),
        LastModifiedDate: now(),
        SystemModstamp: now(),
      }),
    )
    await aMomentLater()
    expect(await connection.pull()).toMatchObject({ contacts: { updated: 1, created: 1 }, tasks: { accepted: 1 } })
    expect(asked('/jobs/')).toEqual([])
    expect(asked('/query/01g')).toHaveLength(1)
    const { contact: ada } = await whole('person1@example.com')
    expect(ada.properties).toMatchObject({ firstname: 'Ada', salesforce_renewal: '2026-03-01T00:00:00.000Z' })
    expect(ada.properties).not.toHaveProperty('jobtitle')
    // The last minutes are read again, without duplicates. A read from the start uses jobs.
    expect(await connection.pull()).toMatchObject({ contacts: { unchanged: 2 }, tasks: { unchanged: 1 } })
    expect(await connection.reread()).toMatchObject({ contacts: { unchanged: 3 }, tasks: { unchanged: 1 } })
  })

  test('increment: a large one is read by a job', async () => {
    const connection = await connect()
    await connection.pulled()
    system.requests = []
    of('Contact').push(contact(1, { SystemModstamp: now() }))
    system.intercept = ({ path, query }) =>
      path.endsWith('/query') && query.get('q')?.includes('FROM Contact')
        ? { body: { totalSize: 10_001, done: false, nextRecordsUrl: '/x', records: [] } }
        : undefined
    expect(await connection.pull()).toMatchObject({ contacts: { created: 1 } })
    const [job] = asked('/jobs/query').filter(({ method }) => method === 'POST')
    expect(JSON.parse(job?.body ?? '')).toMatchObject({
      operation: 'query',
      query: expect.stringContaining('SystemModstamp >='),
    })
  })

  test('deletion and merge: a deleted record is removed, a merged one leads to the survivor', async () => {
    of('Account').push({ ...ACCOUNT })
    of('Contact').push(contact(1, { MailingCity: 'London' }), contact(2, { Email: null, Phone: '123' }), contact(3))
    of('Lead').push(record(idOf('00Q', 1), { LastName: 'Lead', Email: 'lead@example.com', IsConverted: false }))
    const task = (number: number, WhoId: string) =>
      record(idOf('00T', number), {
        Subject: 'Call',
        IsClosed: true,
        CompletedDateTime: '2026-01-05T10:00:00.000Z',
        WhoId,
      })
    of('Task').push(task(1, idOf('003', 2)), task(2, idOf('00Q', 1)))
    const connection = await connect()
    await connection.pulled()
    const deleted = { IsDeleted: true, SystemModstamp: now() }
    Object.assign(of('Account')[0] ?? {}, deleted)
    Object.assign(of('Contact')[0] ?? {}, deleted)
    Object.assign(of('Contact')[1] ?? {}, deleted, { MasterRecordId: idOf('003', 3) })
    of('Contact').push(contact(4, { Email: null, SystemModstamp: now() }))
    Object.assign(of('Lead')[0] ?? {}, { IsConverted: true, ConvertedContactId: idOf('003', 4), SystemModstamp: now() })
    await aMomentLater()
    organization.pageSize = 1
    expect(await connection.pull()).toMatchObject({
      accounts: { deleted: 1 },
      contacts: { created: 1, deleted: 1, merged: 1 },
      leads: { merged: 1 },
    })
    const { contact: first, unified_profile } = await whole('person1@example.com')
    expect(first.properties).toEqual({ email: 'person1@example.com' })
    expect(unified_profile.sources).toEqual({})
    expect((await tenant.call('GET', '/v1/companies')).body.companies).toMatchObject([{ name: 'Engines' }])
    for (const email of ['person3@example.com', 'lead@example.com']) {
      const { contact: survivor } = await whole(email)
      expect(await eventsOf(tenant, survivor.contact_id)).toMatchObject([{ event: 'salesforce_task' }])
    }
    expect((await tenant.call('GET', '/v1/contacts?count_only=1')).body.count).toBe(3)
    // Reading the same again changes nothing.
    expect(await connection.pull()).toMatchObject({ contacts: { unchanged: 1 }, leads: {} })
    expect((await tenant.call('GET', '/v1/contacts?count_only=1')).body.count).toBe(3)
  })

  test('rate limit: it waits when the day’s requests are used up, and leaves the last ones to other programs', async () => {
    of('Contact').push(contact(1))
    const connection = await connect()
    await connection.pulled()
    organization.isLimited = true
    await connection.order()
    expect((await connection.isLimited()).getTime()).toBeGreaterThan(Date.now() + 600_000)
    expect(await connection.read()).toMatchObject({ state: 'waiting', error: null })
    organization.isLimited = false
    await connection.pull()
    organization.usage = '14500/15000'
    await connection.order()
    expect((await connection.isLimited()).getTime()).toBeGreaterThan(Date.now() + 3_000_000)
  })

  test('token refresh: an expired session is renewed in the middle of a read', async () => {
    of('Contact').push(contact(1))
    organization.pollsOfJobs = 1
    let isExpired = false
    system.intercept = ({ path }) => {
      if (path.endsWith('/results') && !isExpired) {
        isExpired = true
        organization.accessToken = 'another'
      }
      return undefined
    }
    const connection = await connect()
    expect(await connection.pulled()).toMatchObject({ contacts: { created: 1 } })
    expect(asked('/services/oauth2/token').map(({ body }) => new URLSearchParams(body).get('grant_type'))).toEqual([
      'authorization_code',
      'refresh_token',
    ])
  })

  test('expired sign-in: a revoked refresh token signs out, and another sign-in continues', async () => {
    const connection = await connect()
    await connection.pulled()
    organization.accessToken = organization.refreshToken = 'another'
    await connection.order()
    expect((await connection.reaches('signed_out')).error).toContain('expired access/refresh token')
    of('Contact').push(contact(1, { SystemModstamp: now() }))
    system.requests = []
    expect((await signIn(tenant, 'salesforce', { kind: 'connection', connection_id: connection.id })).status).toBe(200)
    expect(await connection.pulled()).toMatchObject({ contacts: { created: 1 } })
    expect(asked('/jobs/')).toEqual([])
  })

  test('a sign-in with the URL of another host connects nothing', async () => {
    for (const url of [
      'https://salesforce.com.evil.example',
      'http://a.my.salesforce.com',
      'https://evil-salesforce.com',
    ]) {
      organization.instanceUrl = url
      const response = await signIn(tenant, 'salesforce', { kind: 'connection', connector: 'salesforce' })
      expect(response).toMatchObject({ status: 400, body: { error: { code: 'validation_error' } } })
    }
    expect((await tenant.call('GET', '/v1/connections')).body.connections).toEqual([])
    organization.instanceUrl = 'https://engines--test.sandbox.my.salesforce.com'
    const sandbox = await connectBySignIn(tenant, 'salesforce', { domain: 'test.salesforce.com' })
    expect(await sandbox.read()).toMatchObject({ settings: { instance_url: organization.instanceUrl } })
  })

  test('server error: the connection shows a maintenance, and continues afterwards', async () => {
    organization.pageSize = 1
    of('Contact').push(contact(1), contact(2))
    const maintenance = { status: 503, body: [{ errorCode: 'SERVER_UNAVAILABLE', message: 'Down for maintenance' }] }
    system.intercept = ({ query }) => (query.has('locator') ? maintenance : undefined)
    const connection = await connect()
    const { error } = await connection.reaches('failed')
    expect(error).toBe('Salesforce responded with status 503: Down for maintenance')
    system.intercept = () => undefined
    system.requests = []
    await connection.order()
    await expect.poll(async () => (await connection.read()).error, WITHIN).toBeNull()
    expect(await connection.pulled()).toMatchObject({ contacts: { created: 2 } })
    // The job of the contacts already existed.
    const jobs = asked('/jobs/query').filter(({ method }) => method === 'POST')
    expect(jobs.map(({ body }) => /FROM (\w+)/.exec(body)?.[1])).toEqual(['Lead', 'Opportunity', 'Task', 'Event'])
  })

  test('server error: a job that fails is replaced by queries, which say why they fail', async () => {
    organization.pollsOfJobs = null
    organization.pageSize = 1
    of('Contact').push(contact(1), contact(2))
    const connection = await connect()
    expect(await connection.pulled()).toMatchObject({ contacts: { created: 2 } })
  })

  test.for([
    ['Event.IsPrivate', 'events'],
    ['Task.IsClosed', 'tasks'],
    ['Task.WhoId', 'tasks'],
  ] as const)('without the field %s, which decides what may be read, no %s are read', async ([field, object]) => {
    organization.hiddenFields = [field]
    of('Contact').push(contact(1))
    const visit = { StartDateTime: '2026-01-06T09:00:00.000Z', WhoId: idOf('003', 1) }
    of('Event').push(record(idOf('00U', 1), { ...visit, Subject: 'Dentist', IsPrivate: true }))
    of('Event').push(record(idOf('00U', 2), { ...visit, Subject: 'Visit', IsPrivate: false }))
    of('Task').push(record(idOf('00T', 1), { Subject: 'Open', IsClosed: false, WhoId: idOf('003', 1) }))
    const connection = await connect()
    expect((await connection.pulled())[object]).toEqual({ failed: 1 })
    expect(await connection.errors()).toMatchObject([{ object, external_id: field, code: 'object_not_visible' }])
    const { contact: person } = await whole('person1@example.com')
    const subjects = (await eventsOf(tenant, person.contact_id)).map(({ data }: { data: object }) => data)
    expect(subjects).toMatchObject(object === 'events' ? [] : [{ subject: 'Visit' }])
  })

  test('bad record: it is listed, and the others are written', async () => {
    organization.hidden = ['Lead']
    of('Contact').push(
      contact(1, { Title: 'x'.repeat(70_000) }),
      contact(2, { Email: 'no address' }),
      contact(3, { FirstName: 'Nul \u0000 "quoted"' }),
    )
    of('Task').push(
      record(idOf('00T', 1), { IsClosed: true, WhoId: idOf('003', 99), LastModifiedDate: now() }),
      record(idOf('00T', 2), { IsClosed: true, WhoId: idOf('003', 3), CompletedDateTime: '2026-01-01T00:00:00Z' }),
      record(idOf('00T', 3), { IsClosed: true, WhoId: idOf('003', 3), CompletedDateTime: 'yesterday' }),
    )
    const connection = await connect()
    expect(await connection.pulled()).toMatchObject({
      contacts: { created: 1, failed: 2 },
      leads: { failed: 1 },
      tasks: { accepted: 1, failed: 2 },
    })
    const errors = await connection.errors()
    expect(errors.map(({ object, external_id, code }: Record<string, string>) => [object, external_id, code])).toEqual(
      expect.arrayContaining([
        ['contacts', idOf('003', 1), 'validation_error'],
        ['contacts', idOf('003', 2), 'invalid_email'],
        ['leads', 'Lead', 'object_not_visible'],
        ['tasks', idOf('00T', 1), 'unknown_contact'],
        ['tasks', idOf('00T', 3), 'validation_error'],
      ]),
    )
  })

  test('an opt-out and a bounced address silence the contact, a refusal of calls does not', async () => {
    of('Contact').push(
      contact(1, { HasOptedOutOfEmail: true }),
      contact(2, { EmailBouncedDate: '2026-01-01T00:00:00.000Z', EmailBouncedReason: '550 5.1.1 unknown user' }),
      contact(3, { DoNotCall: true }),
    )
    await (await connect()).pulled()
    const consents = await Promise.all(
      [1, 2, 3].map(async (at) => (await whole(`person${at}@example.com`)).contact.consent),
    )
    expect(consents).toEqual([
      { property: 'has_opted_out_of_email', value: true, rule: 'unsubscribed' },
      { property: 'email_bounced_date', value: '2026-01-01T00:00:00.000Z', rule: 'bounced' },
      null,
    ])
  })

  test('contacts that the user may not see: records that refer to them wait, and nothing is missing once they are visible', async () => {
    organization.hidden = ['Contact']
    of('Contact').push(contact(1))
    of('Lead').push(record(idOf('00Q', 1), { LastName: 'Lead', Email: 'lead@example.com', IsConverted: false }))
    of('Task').push(record(idOf('00T', 1), { IsClosed: true, WhoId: idOf('003', 1), CompletedDateTime: '2026-01-01' }))
    const connection = await connect()
    expect((await connection.reaches('failed')).error).toBe(
      [
        "contacts: The user who signed in cannot see Contact, so no Contact records were read. Add the permission to the user's profile.",
        'leads: Waits for contacts, which its records refer to.',
        'opportunities: Waits for contacts, which its records refer to.',
        'tasks: Waits for contacts, which its records refer to.',
        'events: Waits for contacts, which its records refer to.',
      ].join(' '),
    )
    organization.hidden = []
    await connection.order()
    await expect.poll(async () => (await connection.read()).error, WITHIN).toBeNull()
    const { counts } = (await connection.read()).last_run
    expect(counts).toMatchObject({ contacts: { created: 1 }, leads: { created: 1 }, tasks: { accepted: 1 } })
    expect(await connection.errors()).toEqual([])
  })

  test('restart in the middle of a job: another process continues with the next part of its results', async () => {
    const { second, connection } = await restartedInTheMiddle(() => {})
    try {
      expect(await connection.pulled()).toMatchObject({ contacts: { created: 3 } })
      expect(asked('/results').filter(({ query }) => !query.has('locator'))).toHaveLength(4)
      const jobs = asked('/jobs/query').filter(({ method }) => method === 'POST')
      expect(jobs.map(({ body }) => /FROM (\w+)/.exec(body)?.[1])).toEqual(['Lead', 'Opportunity', 'Task', 'Event'])
    } finally {
      await second.close()
    }
  })

  test('restart after the job expired: the object is read again, without duplicates', async () => {
    const { second, connection, moved } = await restartedInTheMiddle(() => organization.jobs.clear())
    try {
      // The first one was created before the restart, in the same run.
      expect(await connection.pulled()).toMatchObject({ contacts: { created: 3, unchanged: 1 } })
      expect((await moved.call('GET', '/v1/contacts?count_only=1')).body.count).toBe(3)
    } finally {
      await second.close()
    }
  })

  test('a query that Salesforce no longer knows starts again', async () => {
    const connection = await connect()
    await connection.pulled()
    organization.pageSize = 1
    of('Contact').push(contact(1, { SystemModstamp: now() }), contact(2, { SystemModstamp: now() }))
    let isForgotten = false
    system.intercept = ({ path }) => {
      if (path.includes('/query/01g') && !isForgotten) {
        isForgotten = true
        organization.forgetQueries()
      }
      return undefined
    }
    expect(await connection.pull()).toMatchObject({ contacts: { created: 2, unchanged: 1 } })
  })

  test('erase: nothing of an erased person is left, and an unchanged one is not read again', async () => {
    of('Contact').push(contact(1))
    const connection = await connect()
    await connection.pulled()
    const { contact_id } = await tenant.contactOf('person1@example.com')
    await erased(tenant, contact_id)
    expect(await tenant.handle.db.selectFrom('contact_sources').select('raw').execute()).toEqual([])
    expect(await connection.pull()).toMatchObject({ contacts: {} })
    expect(await tenant.contactOf('person1@example.com')).toBeUndefined()
    expect(queries().some((soql) => soql.includes('person1'))).toBe(false)
  })
})

/** Stops a service after the first part of the results of the contacts, and starts another one. */
async function restartedInTheMiddle(meanwhile: () => void) {
  organization.pageSize = 1
  of('Contact').push(contact(1), contact(2), contact(3))
  const first = await startTestService({}, options)
  tenant = await createTestTenant(first)
  const reached = new Promise<void>((resolve) => {
    system.intercept = ({ query }) => {
      if (!query.has('locator')) return undefined
      resolve()
      return null
    }
  })
  const { id } = await connect()
  await reached
  await first.close()
  meanwhile()
  system.intercept = () => undefined
  system.requests = []
  const { databaseUrl, dataDirectory } = first.config
  const second = await startTestService({ DATABASE_URL: databaseUrl ?? '', CDS_DATA_DIR: dataDirectory }, options)
  const moved = new TestTenant(second, tenant.id, tenant.key, tenant.site)
  const connection = new TestConnection(moved, id)
  await connection.order()
  await expect.poll(async () => (await connection.read()).error, WITHIN).toBeNull()
  return { second, connection, moved }
}
