import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from 'vitest'
import { type ConnectedSystem, connectedTo, startConnectedSystem } from '../../../test/connected-system.ts'
import { connectionWhich } from '../../../test/connection-rows.ts'
import { connectWith, type TestConnection } from '../../../test/connections.ts'
import { API_TOKEN, justNow, PipedriveAccount, person } from '../../../test/pipedrive.ts'
import { makeCertificate } from '../../../test/receiver.ts'
import { createTestTenant, startTestService, type TestService, type TestTenant } from '../../../test/service.ts'

const SCORE = '2222222222222222222222222222222222222222'
const PLAN = '3333333333333333333333333333333333333333'
const TOPICS = '4444444444444444444444444444444444444444'
const RENEWAL = 'aaaa555555555555555555555555555555555555'
const BUDGET = '6666666666666666666666666666666666666666'

let account: PipedriveAccount
let system: ConnectedSystem
let service: TestService
let tenant: TestTenant
let connection: TestConnection

beforeAll(async () => {
  system = await startConnectedSystem(makeCertificate(), (request) => account.respond(request))
  service = await startTestService({}, connectedTo(system, 'pipedrive'))
})
beforeEach(async () => {
  tenant = await createTestTenant(service)
  account = new PipedriveAccount()
  account.personFields = [
    field(SCORE, 'Lead score', 'double'),
    field(PLAN, 'Plan', 'enum', [
      { id: 12, label: 'Gold' },
      { id: 13, label: 'Silver' },
    ]),
    field(TOPICS, 'Topics', 'set', [
      { id: 21, label: 'Tea' },
      { id: 22, label: 'Cake' },
    ]),
    field(RENEWAL, 'Renewal', 'date'),
    field(BUDGET, 'Budget', 'monetary'),
    { field_code: 'name', field_name: 'Name', field_type: 'varchar', is_custom_field: false },
  ]
  system.requests = []
  system.intercept = () => undefined
})
// Pipedrive is the same for all tests: this connection must not read or write the next one's persons.
afterEach(() => tenant.call('DELETE', `/v1/connections/${connection.id}`))
afterAll(async () => {
  await service?.close()
  await system?.close()
})

async function connect(pairs: Parameters<TestConnection['writeBack']>[0], createsMissing = false): Promise<void> {
  connection = await connectWith(tenant, { connector: 'pipedrive', credentials: { api_token: API_TOKEN } })
  await connection.pulled()
  await connection.writeBack(pairs, createsMissing)
  system.requests = []
}

const there = (id: number) => account.persons.find((each) => each.id === id)
const byEmail = (email: string) => account.persons.filter(({ emails }) => JSON.stringify(emails).includes(`"${email}"`))
const here = async (email: string) => (await tenant.contactOf(email)).properties
const updatesHere = async () =>
  (await tenant.call('GET', '/v1/events?event_type=contact_updated&limit=100')).body.events.length
const isWrite = ({ path, method }: { path: string; method: string }) =>
  path.startsWith('/api/v2/persons') && method !== 'GET'
const sent = () => system.requests.filter(isWrite).map(({ method, body }) => ({ method, ...JSON.parse(body) }))

async function change(email: string, properties: Record<string, unknown>): Promise<void> {
  const { contact_id } = await tenant.contactOf(email)
  const response = await tenant.call('PUT', `/v1/contacts/${contact_id}`, { properties })
  expect([response.status, response.body.error]).toEqual([200, undefined])
}

/** Changes a person as somebody in Pipedrive does. */
function changeThere(id: number, values: object): void {
  Object.assign(there(id) ?? {}, values, { update_time: justNow(1_000) })
}

async function linkOf(email: string): Promise<string> {
  const { contact_id } = await tenant.contactOf(email)
  return (await tenant.call('GET', `/v1/contacts/${contact_id}`)).body.unified_profile.sources.pipedrive.external_id
}

describe('writing back to Pipedrive', () => {
  test('does not loop, in two rounds of changes from both sides', async () => {
    account.persons = [person(1, { custom_fields: { [SCORE]: 1, [PLAN]: 12 } })]
    await connect([
      ['score', SCORE, 'newest'],
      ['plan', PLAN, 'newest'],
    ])
    // The fields are read under the names of the properties.
    expect(await here('person1@example.com')).toMatchObject({ score: 1, plan: 'Gold' })
    for (let round = 1; round <= 2; round++) {
      system.requests = []
      await change('person1@example.com', { score: round + 0.5, plan: 'Silver' })
      await connection.written()
      expect(there(1)?.custom_fields).toMatchObject({ [SCORE]: round + 0.5, [PLAN]: 13 })
      const updates = await updatesHere()
      await connection.pull()
      expect(await updatesHere()).toBe(updates)
      changeThere(1, { custom_fields: { [SCORE]: round + 0.5, [PLAN]: 12 } })
      await connection.pull()
      await connection.written()
      expect(await here('person1@example.com')).toMatchObject({ score: round + 0.5, plan: 'Gold' })
      expect(sent()).toHaveLength(1)
    }
  })

  test('writes options by their labels, dates, the name, and the primary phone beside the others', async () => {
    const phones = [
      { value: '1', primary: true, label: 'mobile' },
      { value: '2', primary: false, label: 'home' },
    ]
    account.persons = [person(1, { phones, custom_fields: { [TOPICS]: [21] } })]
    await connect([
      ['topics', TOPICS, 'ours'],
      ['renewal', RENEWAL, 'ours'],
      ['full_name', 'name', 'ours'],
      ['phone', 'phone', 'ours'],
    ])
    await change('person1@example.com', {
      topics: ['Cake', 'Tea'],
      renewal: '2026-05-01T10:00:00Z',
      full_name: 'Ada Lovelace',
      phone: '3',
    })
    await connection.written()
    expect(there(1)).toMatchObject({
      name: 'Ada Lovelace',
      phones: [
        { value: '3', primary: true, label: 'mobile' },
        { value: '2', primary: false, label: 'home' },
      ],
      custom_fields: { [TOPICS]: [22, 21], [RENEWAL]: '2026-05-01' },
    })
    await connection.pull()
    expect(await here('person1@example.com')).toMatchObject({
      phone: '3',
      topics: ['Cake', 'Tea'],
      lastname: 'Lovelace',
    })
    await change('person1@example.com', { topics: null, phone: null, full_name: null })
    await connection.written()
    // The other phone becomes the primary one. A person keeps a name.
    expect(there(1)).toMatchObject({ name: 'Ada Lovelace', phones: [{ value: '2', primary: true, label: 'home' }] })
    expect(there(1)?.custom_fields).toMatchObject({ [TOPICS]: null, [RENEWAL]: '2026-05-01' })
    // The date without its time is not written again.
    expect(sent().map(({ custom_fields }) => Object.keys(custom_fields))).toEqual([[TOPICS, RENEWAL], [TOPICS]])
  })

  test('decides a conflict on the values that Pipedrive has at that moment', async () => {
    account.persons = [
      person(1, { phones: [{ value: '1', primary: true }], custom_fields: { [SCORE]: 1, [PLAN]: 12 } }),
    ]
    await connect([
      ['score', SCORE, 'newest'],
      ['phone', 'phone', 'theirs'],
      ['plan', PLAN, 'ours'],
    ])
    await connection.hold()
    await change('person1@example.com', { score: 2, phone: '2', plan: 'Silver' })
    changeThere(1, { phones: [{ value: '3', primary: true }], custom_fields: { [SCORE]: 3, [PLAN]: null } })
    await connection.release()
    await connection.written()
    expect(there(1)).toMatchObject({ phones: [{ value: '3' }], custom_fields: { [SCORE]: 3, [PLAN]: 13 } })
    await connection.pull()
    expect(await here('person1@example.com')).toMatchObject({ score: 3, phone: '3', plan: 'Silver' })
  })

  test('a deleted person, an unknown option and a refused value are listed, and do not stop the others', async () => {
    account.persons = [1, 2, 3, 4].map((id) => person(id))
    await connect([
      ['score', SCORE, 'ours'],
      ['plan', PLAN, 'ours'],
    ])
    await connection.hold()
    await change('person1@example.com', { score: 'many' })
    await change('person2@example.com', { score: 2, plan: 'Bronze' })
    await change('person3@example.com', { score: 3 })
    await change('person4@example.com', { score: 4 })
    account.delete('person', 3)
    await connection.release()
    await connection.written()
    expect(there(4)?.custom_fields).toMatchObject({ [SCORE]: 4 })
    const errors = await connection.errors()
    expect(errors.map(({ code }: { code: string }) => code).toSorted()).toEqual([
      'not_found',
      'refused',
      'unknown_option',
    ])
    expect(JSON.stringify(errors)).toContain('The field Plan in Pipedrive has no option “Bronze”.')
    // With the option, it is written after its next change.
    account.personFields[1] = field(PLAN, 'Plan', 'enum', [{ id: 14, label: 'Bronze' }])
    await change('person2@example.com', { score: 5 })
    await connection.written()
    expect(there(2)?.custom_fields).toMatchObject({ [SCORE]: 5, [PLAN]: 14 })
  })

  test('waits for a rate limit in the middle of a batch, and shows a server error: nothing is lost or written twice', async () => {
    account.persons = [1, 2].map((id) => person(id))
    await connect([['score', SCORE, 'ours']], true)
    await connection.hold()
    await change('person1@example.com', { score: 1 })
    await change('person2@example.com', { score: 2 })
    await tenant.contact('new@example.com', { score: 3 })
    const limited = { 'x-daily-ratelimit-token-remaining': '0' }
    system.intercept = (request) =>
      isWrite(request) && sent().length > 2 ? { status: 429, headers: limited, body: {} } : undefined
    await connection.release()
    await connectionWhich(tenant, connection.id, ({ write_back_at }) => write_back_at.getTime() > Date.now() + 600_000)
    expect((await connection.read()).write_back).toMatchObject({ waiting: 3, error: null })
    system.intercept = (request) => (isWrite(request) ? { status: 500, body: { error: 'down' } } : undefined)
    await connection.release()
    await connectionWhich(tenant, connection.id, ({ write_back_error }) => write_back_error !== null)
    expect((await connection.read()).write_back.error).toBe('Pipedrive responded with status 500: down')
    system.intercept = () => undefined
    await connection.release()
    await connection.written()
    const scores = account.persons.map(({ custom_fields }) => custom_fields)
    expect(scores).toEqual([1, 2, 3].map((score) => expect.objectContaining({ [SCORE]: score })))
    expect(await linkOf('new@example.com')).toBe(String(byEmail('new@example.com')[0]?.id))
  })

  test('refuses fields that cannot be written, by name', async () => {
    await connect([['score', SCORE, 'ours']])
    const targets = ['first_name', 'job_title', BUDGET, 'f'.repeat(40)]
    const properties = targets.map((target) => ({ property: `p_${target}`, target, conflict: 'ours' }))
    const set = (some: object[]) =>
      tenant.call('PUT', `/v1/connections/${connection.id}/write-back`, { properties: some })
    expect((await set(properties.slice(0, 1))).body.error.details[0].message).toBe('cannot be written in Pipedrive')
    const { status, body } = await set(properties.slice(1))
    expect(status).toBe(400)
    expect(body.error.details).toHaveLength(3)
  })
})

describe('creating contacts that Pipedrive does not have', () => {
  test('gives them a name, links the person with the same email instead, and is not repeated', async () => {
    account.persons = [person(1)]
    await connect([['phone', 'phone', 'theirs']], true)
    const emails = [
      { value: 'main@example.com', primary: true },
      { value: 'Second@example.com', primary: false },
    ]
    account.persons.push(person(2, { emails, update_time: justNow() }))
    await connection.hold()
    await tenant.contact('second@example.com', { phone: '7' })
    await tenant.contact('grace@example.com', { firstname: 'Grace', lastname: 'Hopper', phone: '8' })
    await tenant.contact('bare@example.com')
    await tenant.contact('never@example.com', { do_not_contact: true })
    await connection.release()
    await connection.written()
    expect(account.persons).toHaveLength(4)
    expect(there(2)?.phones).toMatchObject([{ value: '7', primary: true }])
    expect(await linkOf('second@example.com')).toBe('2')
    expect(byEmail('grace@example.com')).toMatchObject([{ name: 'Grace Hopper', phones: [{ value: '8' }] }])
    expect(byEmail('bare@example.com')).toMatchObject([{ name: 'bare@example.com' }])
    const before = sent().length
    await connection.pull()
    await connection.written()
    expect(await here('bare@example.com')).not.toHaveProperty('firstname')
    await change('bare@example.com', { phone: '9' })
    await connection.written()
    expect(sent().slice(before)).toMatchObject([{ method: 'PATCH', phones: [{ value: '9' }] }])
  })

  test('happens once if the response is lost, even while the search does not find the new person', async () => {
    await connect([['phone', 'phone', 'ours']], true)
    account.isSearchLate = true
    system.intercept = (request) => {
      if (!isWrite(request)) return undefined
      system.intercept = () => undefined
      account.respond(request)
      return null
    }
    await tenant.contact('once@example.com', { phone: '1' })
    await connectionWhich(tenant, connection.id, ({ write_back_error }) => write_back_error !== null)
    await connection.release()
    await connection.written()
    expect(byEmail('once@example.com')).toHaveLength(1)
    expect(await linkOf('once@example.com')).toBe(String(byEmail('once@example.com')[0]?.id))
  })
})

function field(field_code: string, field_name: string, field_type: string, options: object[] | null = null) {
  return { field_code, field_name, field_type, options, is_custom_field: true, is_optional_response_field: false }
}
