import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from 'vitest'
import { type ConnectedSystem, connectedTo, startConnectedSystem } from '../../../test/connected-system.ts'
import { connectionWhich } from '../../../test/connection-rows.ts'
import { connectBySignIn, type TestConnection } from '../../../test/connections.ts'
import { makeCertificate } from '../../../test/receiver.ts'
import { contact, idOf, record, SalesforceOrganization } from '../../../test/salesforce.ts'
import { createTestTenant, startTestService, type TestService, type TestTenant } from '../../../test/service.ts'

const COLLECTIONS = '/services/data/v62.0/composite/sobjects'
let organization: SalesforceOrganization
let system: ConnectedSystem
let service: TestService
let tenant: TestTenant
let connection: TestConnection

beforeAll(async () => {
  system = await startConnectedSystem(makeCertificate(), (request) => organization.respond(request))
  service = await startTestService(
    {},
    { ...connectedTo(system, 'salesforce'), providerUrls: { salesforce: system.url } },
  )
})
beforeEach(async () => {
  tenant = await createTestTenant(service)
  organization = new SalesforceOrganization()
  system.requests = []
  system.intercept = () => undefined
})
// Salesforce is the same for all tests: this connection must not read or write the next one's records.
afterEach(() => tenant.call('DELETE', `/v1/connections/${connection.id}`))
afterAll(async () => {
  await service?.close()
  await system?.close()
})

type Pairs = Parameters<TestConnection['writeBack']>[0]

async function connect(pairs: Pairs, createsMissing = false): Promise<void> {
  connection = await connectBySignIn(tenant, 'salesforce')
  await connection.pulled()
  await connection.writeBack(pairs, createsMissing)
  system.requests = []
}

const of = (sobject: string) => organization.records[sobject] ?? []
const there = (id: string) =>
  Object.values(organization.records)
    .flat()
    .find(({ Id }) => Id === id)
const byEmail = (email: string) => [...of('Contact'), ...of('Lead')].filter(({ Email }) => Email === email)
const updatesHere = async () =>
  (await tenant.call('GET', '/v1/events?event_type=contact_updated&limit=100')).body.events.length
const here = async (email: string) => (await tenant.contactOf(email)).properties
/** The records that were sent, without their types. */
const sent = () =>
  system.requests
    .filter(({ path }) => path === COLLECTIONS)
    .map(({ method, body }) => ({
      method,
      records: JSON.parse(body).records.map(({ attributes: _, ...fields }: Record<string, unknown>) => fields),
    }))

async function change(email: string, properties: Record<string, unknown>): Promise<void> {
  const { contact_id } = await tenant.contactOf(email)
  const response = await tenant.call('PUT', `/v1/contacts/${contact_id}`, { properties })
  expect([response.status, response.body.error]).toEqual([200, undefined])
}

/** Changes a record as a person there does. */
function changeThere(id: string, fields: Record<string, string | number | boolean | null>): void {
  Object.assign(there(id) ?? {}, fields, { SystemModstamp: new Date().toISOString() })
}

const ADA = idOf('003', 1)
const LEAD = idOf('00Q', 1)
const lead = (more = {}) =>
  record(LEAD, { LastName: 'Lead', Email: 'lead@example.com', Company: 'Looms', IsConverted: false, ...more })

describe('writing back to Salesforce', () => {
  test('changes contacts and leads, and does not loop, in two rounds of changes from both sides', async () => {
    of('Contact').push(contact(1, { Title: 'Countess' }))
    of('Lead').push(lead())
    await connect([
      ['jobtitle', 'Title', 'newest'],
      ['salesforce_score', 'Score__c', 'newest'],
      ['city', 'MailingCity', 'newest'],
    ])
    for (let round = 1; round <= 2; round++) {
      system.requests = []
      await connection.hold()
      await change('person1@example.com', { jobtitle: `Ours ${round}`, salesforce_score: round + 0.5, city: 'London' })
      await change('lead@example.com', { jobtitle: `Lead ${round}`, salesforce_score: round, city: `Paris ${round}` })
      await connection.release()
      await connection.written()
      expect(there(ADA)).toMatchObject({ Title: `Ours ${round}`, Score__c: round + 0.5, MailingCity: 'London' })
      // A lead has another field for the city, and none for the score.
      expect(there(LEAD)).toMatchObject({ Title: `Lead ${round}`, City: `Paris ${round}` })
      expect(there(LEAD)).not.toHaveProperty('Score__c')
      expect(sent()).toHaveLength(2)

      // The echo changes nothing here, and is not written again.
      const updates = await updatesHere()
      await connection.pull()
      expect(await updatesHere()).toBe(updates)
      changeThere(ADA, { Title: `Theirs ${round}` })
      changeThere(LEAD, { City: `Rome ${round}` })
      await connection.pull()
      await connection.written()
      expect(await here('person1@example.com')).toMatchObject({ jobtitle: `Theirs ${round}`, city: 'London' })
      expect(await here('lead@example.com')).toMatchObject({ jobtitle: `Lead ${round}`, city: `Rome ${round}` })
      expect(sent()).toHaveLength(2)
    }
  })

  test('reads a property from its target alone, and writes each kind of value as the JSON of its field', async () => {
    of('Contact').push(contact(1, { Title: 'Countess', Score__c: 3 }))
    await connect([
      ['tier', 'Title', 'ours'],
      ['has_opted_out_of_email', 'HasOptedOutOfEmail', 'ours'],
      ['renewal', 'Renewal__c', 'ours'],
      ['salesforce_score', 'Score__c', 'ours'],
    ])
    expect(await here('person1@example.com')).toMatchObject({ tier: 'Countess' })
    await change('person1@example.com', {
      tier: ['gold', 'silver'],
      has_opted_out_of_email: true,
      renewal: '2026-01-01T01:00:00+01:00',
      salesforce_score: '4.5',
    })
    organization.stored = (field, value) => (field === 'Renewal__c' ? new Date(String(value)).toISOString() : value)
    await connection.written()
    expect(there(ADA)).toMatchObject({
      Title: 'gold;silver',
      HasOptedOutOfEmail: true,
      Renewal__c: '2026-01-01T00:00:00.000Z',
      Score__c: 4.5,
    })
    // What Salesforce stores in another form is written once. The title is no longer read as the job title.
    await connection.pull()
    expect(await here('person1@example.com')).toMatchObject({ tier: ['gold', 'silver'], jobtitle: 'Countess' })
    await change('person1@example.com', { tier: null, salesforce_score: null, has_opted_out_of_email: null })
    await connection.written()
    const cleared = { Title: null, Score__c: null, HasOptedOutOfEmail: false }
    expect(sent().map(({ records }) => records)).toEqual([
      [expect.objectContaining({ Renewal__c: '2026-01-01T01:00:00+01:00' })],
      [{ id: ADA, ...cleared }],
    ])
    expect(there(ADA)).toMatchObject(cleared)
  })

  test('decides a conflict on the values that Salesforce has at that moment', async () => {
    of('Contact').push(contact(1, { Title: 'Countess', Phone: '1', MailingCity: 'London' }))
    await connect([
      ['jobtitle', 'Title', 'newest'],
      ['phone', 'Phone', 'theirs'],
      ['city', 'MailingCity', 'ours'],
    ])
    await connection.hold()
    await change('person1@example.com', { jobtitle: 'Ours', phone: '2', city: 'Paris' })
    changeThere(ADA, { Title: 'Theirs, later', Phone: '3', MailingCity: 'Rome' })
    await connection.release()
    await connection.written()
    expect(there(ADA)).toMatchObject({ Title: 'Theirs, later', Phone: '3', MailingCity: 'Paris' })
    await connection.pull()
    expect(await here('person1@example.com')).toMatchObject({ jobtitle: 'Theirs, later', phone: '3', city: 'Paris' })
    await change('person1@example.com', { jobtitle: 'Ours, later still' })
    await connection.written()
    expect(there(ADA)).toMatchObject({ Title: 'Ours, later still', Phone: '3' })
  })

  test('follows a merge and a conversion, and lists a deleted contact', async () => {
    of('Contact').push(contact(1), contact(2), contact(3))
    of('Lead').push(lead())
    await connect([['jobtitle', 'Title', 'ours']])
    await connection.hold()
    for (const name of ['person1', 'person2', 'lead']) await change(`${name}@example.com`, { jobtitle: name })
    changeThere(ADA, { IsDeleted: true, MasterRecordId: idOf('003', 3) })
    changeThere(LEAD, { IsConverted: true, ConvertedContactId: idOf('003', 2) })
    await connection.release()
    await connection.written()
    expect(there(idOf('003', 3))?.Title).toBe('person1')
    expect(['person2', 'lead']).toContain(there(idOf('003', 2))?.Title)

    await connection.hold()
    changeThere(idOf('003', 3), { IsDeleted: true })
    await change('person3@example.com', { jobtitle: 'Gone' })
    await connection.release()
    await connection.written()
    const { contact_id } = await tenant.contactOf('person3@example.com')
    expect((await connection.errors())[0]).toMatchObject({
      object: 'write_back',
      external_id: contact_id,
      code: 'entity_is_deleted',
    })
  })

  test('a contact that Salesforce refuses, or with a value of the wrong type, does not stop the others', async () => {
    const names = [1, 2, 3, 4, 5].map((number) => `person${number}@example.com`)
    of('Contact').push(...[1, 2, 3, 4, 5].map((number) => contact(number)))
    await connect([
      ['jobtitle', 'Title', 'ours'],
      ['salesforce_score', 'Score__c', 'ours'],
    ])
    organization.problemOf = ({ Title }) => (Title === 'Refused' ? 'Titles are assigned by the office.' : null)
    await connection.hold()
    for (const email of names) await change(email, { jobtitle: 'Same', salesforce_score: 1 })
    await change('person2@example.com', { jobtitle: 'Refused' })
    await change('person4@example.com', { salesforce_score: 'many' })
    await connection.release()
    await connection.written()
    expect(of('Contact').map(({ Title }) => Title ?? null)).toEqual(['Same', null, 'Same', null, 'Same'])
    const errors = await connection.errors()
    expect(errors.map(({ code }: { code: string }) => code).toSorted()).toEqual([
      'field_custom_validation_exception',
      'json_parser_error',
    ])
    expect(JSON.stringify(errors)).toContain('assigned by the office')
    // Once it is corrected, it is written.
    await change('person2@example.com', { jobtitle: 'Countess' })
    await connection.written()
    expect(there(idOf('003', 2))?.Title).toBe('Countess')
  })

  test('waits for a rate limit, and shows a server error: nothing is lost', async () => {
    of('Contact').push(contact(1))
    await connect([['jobtitle', 'Title', 'ours']])
    await connection.hold()
    organization.isLimited = true
    await change('person1@example.com', { jobtitle: 'Late' })
    await connection.release()
    await connectionWhich(tenant, connection.id, ({ write_back_at }) => write_back_at.getTime() > Date.now() + 600_000)
    expect((await connection.read()).write_back).toMatchObject({ waiting: 1, error: null })
    organization.isLimited = false
    system.intercept = ({ path }) => (path === COLLECTIONS ? { status: 503, body: [{ message: 'down' }] } : undefined)
    await connection.release()
    await connectionWhich(tenant, connection.id, ({ write_back_error }) => write_back_error !== null)
    expect((await connection.read()).write_back).toMatchObject({
      waiting: 1,
      error: 'Salesforce responded with status 503: down',
    })
    system.intercept = () => undefined
    await connection.release()
    await connection.written()
    expect(there(ADA)?.Title).toBe('Late')
    expect((await connection.read()).write_back.error).toBeNull()
  })

  test('refuses fields that the user may not change, and those that contacts do not have', async () => {
    organization.hiddenFields = ['Contact.Phone']
    await connect([['jobtitle', 'Title', 'ours']])
    const targets = ['Email', 'SystemModstamp', 'AccountId', 'Phone', 'Titel']
    const properties = targets.map((target) => ({ property: target, target, conflict: 'ours' }))
    const set = (some: object[]) =>
      tenant.call('PUT', `/v1/connections/${connection.id}/write-back`, { properties: some })
    expect((await set(properties.slice(0, 1))).body.error.details[0].message).toBe('cannot be written in Salesforce')
    const { status, body } = await set(properties.slice(1))
    expect(status).toBe(400)
    expect(body.error.details).toHaveLength(4)
    expect(body.error.details[0].message).toBe('is not a field of contacts in Salesforce that can be written')
  })
})

describe('creating contacts that Salesforce does not have', () => {
  test('needs a last name, links the record with the same email instead, and is not repeated', async () => {
    of('Contact').push(contact(1))
    of('Lead').push(lead())
    await connect([['jobtitle', 'Title', 'ours']], true)
    // These two have come to Salesforce since the last read.
    const SystemModstamp = new Date().toISOString()
    of('Contact').push(contact(7, { Email: "O'Hara@example.com", Title: 'Writer', SystemModstamp }))
    const newLead = { LastName: 'New', Email: 'new-lead@example.com', IsConverted: false, SystemModstamp }
    of('Lead').push(record(idOf('00Q', 7), newLead))
    await connection.hold()
    await tenant.contact("o'hara@example.com", { jobtitle: 'Writer' })
    await tenant.contact('new-lead@example.com', { jobtitle: 'Poet' })
    await tenant.contact('full@example.com', { firstname: 'Grace', lastname: 'Hopper', jobtitle: 'Admiral' })
    await tenant.contact('bare@example.com')
    await tenant.contact('never@example.com', { do_not_contact: true })
    await connection.release()
    await connection.written()
    expect(byEmail('full@example.com')).toMatchObject([{ FirstName: 'Grace', LastName: 'Hopper', Title: 'Admiral' }])
    expect(byEmail('bare@example.com')).toMatchObject([{ LastName: 'bare' }])
    expect(of('Contact')).toHaveLength(4)
    expect(of('Lead').map(({ Title }) => Title ?? null)).toEqual([null, 'Poet'])
    const { unified_profile } = (
      await tenant.call('GET', `/v1/contacts/${(await tenant.contactOf("o'hara@example.com")).contact_id}`)
    ).body
    expect(unified_profile.sources.salesforce).toMatchObject({ external_id: idOf('003', 7) })

    // The last name that only Salesforce needed does not become one here.
    const before = sent().length
    await connection.pull()
    await connection.written()
    expect(await here('bare@example.com')).not.toHaveProperty('lastname')
    expect(await here("o'hara@example.com")).toMatchObject({ lastname: '7' })
    expect(sent()).toHaveLength(before)
    await change('bare@example.com', { jobtitle: 'Countess' })
    await connection.written()
    expect(byEmail('bare@example.com')).toMatchObject([{ Title: 'Countess' }])
    expect(sent().at(-1)).toMatchObject({ method: 'PATCH' })
  })

  test('as leads if the connection says so, with a company', async () => {
    await connect([
      ['jobtitle', 'Title', 'ours'],
      ['salesforce_score', 'Score__c', 'ours'],
    ])
    const set = await tenant.call('PATCH', `/v1/connections/${connection.id}`, { settings: { create_as: 'lead' } })
    expect([set.status, set.body.error]).toEqual([200, undefined])
    await connection.pulled()
    await connection.writeBack([['salesforce_score', 'Score__c', 'ours']], true)
    await tenant.contact('lead@example.com', { lastname: 'Lovelace', company: 'Looms', salesforce_score: 4 })
    await tenant.contact('bare@example.com', { salesforce_score: 4 })
    await connection.written()
    expect(of('Contact')).toEqual([])
    expect(byEmail('lead@example.com')).toMatchObject([{ LastName: 'Lovelace', Company: 'Looms' }])
    expect(byEmail('bare@example.com')).toMatchObject([{ Company: '[not provided]' }])
    await connection.pull()
    expect(await here('bare@example.com')).not.toHaveProperty('company')
  })

  test('happens once if the response is lost after Salesforce created the contact', async () => {
    await connect([['jobtitle', 'Title', 'ours']], true)
    system.intercept = (request) => {
      if (request.path !== COLLECTIONS) return undefined
      system.intercept = () => undefined
      organization.respond(request)
      return null
    }
    await tenant.contact('once@example.com', { jobtitle: 'Once' })
    await connectionWhich(tenant, connection.id, ({ write_back_error }) => write_back_error !== null)
    expect(byEmail('once@example.com')).toHaveLength(1)
    await connection.release()
    await connection.written()
    expect(byEmail('once@example.com')).toHaveLength(1)
    const { contact_id } = await tenant.contactOf('once@example.com')
    const { unified_profile } = (await tenant.call('GET', `/v1/contacts/${contact_id}`)).body
    expect(unified_profile.sources.salesforce).toMatchObject({ external_id: byEmail('once@example.com')[0]?.Id })
  })
})
