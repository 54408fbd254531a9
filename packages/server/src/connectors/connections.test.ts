import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest'
import {
  type ConnectedSystem,
  connectedTo,
  insertConnection,
  type SystemRequest,
  startConnectedSystem,
} from '../../test/connected-system.ts'
import { runOf } from '../../test/connection-rows.ts'
import { makeCertificate } from '../../test/receiver.ts'
import { createTestTenant, startTestService, type TestService, type TestTenant } from '../../test/service.ts'
import { simultaneously } from '../../test/simultaneous.ts'

const TOKEN = '0123456789abcdef0123456789abcdef'

type Item = Record<string, unknown> & { id: number; update_time: string }

let system: ConnectedSystem
let service: TestService
let tenant: TestTenant
let persons: Item[]
let organizations: Item[]

/** Pages of two, so that a few records need several. */
function respond({ path, query, headers }: SystemRequest) {
  if (headers['x-api-token'] !== TOKEN) return { status: 401, body: { success: false, error: 'unauthorized access' } }
  if (path === '/api/v1/users/me')
    return { body: { success: true, data: { id: 1, company_id: 77, company_name: 'Analytical Engines' } } }
  const all = path === '/api/v2/persons' ? persons : path === '/api/v2/organizations' ? organizations : []
  const since = query.get('updated_since') ?? ''
  const changed = all.filter(({ update_time }) => update_time >= since)
  const from = Number(query.get('cursor') ?? 0)
  const next = from + 2 < changed.length ? String(from + 2) : null
  return { body: { success: true, data: changed.slice(from, from + 2), additional_data: { next_cursor: next } } }
}

function person(id: number, more: object = {}): Item {
  return {
    id,
    first_name: `Person ${id}`,
    emails: [{ value: `person${id}@example.com`, primary: true }],
    org_id: null,
    update_time: '2026-01-01T00:00:00Z',
    ...more,
  }
}

beforeAll(async () => {
  system = await startConnectedSystem(makeCertificate(), respond)
  service = await startTestService({}, connectedTo(system, 'pipedrive'))
})
beforeEach(async () => {
  tenant = await createTestTenant(service)
  persons = []
  organizations = []
  system.requests = []
  system.intercept = () => undefined
})
afterAll(async () => {
  await service?.close()
  await system?.close()
})

async function connect(more: object = {}) {
  const body = { connector: 'pipedrive', credentials: { api_token: TOKEN }, ...more }
  const response = await tenant.call('POST', '/v1/connections', body)
  expect(response.status).toBe(201)
  return response.body.connection.connection_id as string
}

async function read(id: string) {
  return (await tenant.call('GET', `/v1/connections/${id}`)).body.connection
}

/** Waits for a run that ended after `before`. */
async function pulled(id: string, before?: string) {
  await runOf(tenant, id, before, 'wait')
  return (await read(id)).last_run
}

async function contactOf(email: string) {
  const { body } = await tenant.call('GET', `/v1/contacts?search=${encodeURIComponent(email)}`)
  return body.contacts.find((contact: { properties: { email?: string } }) => contact.properties.email === email)
}

test('a connector is shown alone as it is in the list', async () => {
  const { connectors } = (await tenant.call('GET', '/v1/connectors')).body
  for (const connector of connectors) {
    expect((await tenant.call('GET', `/v1/connectors/${connector.name}`)).body.connector).toEqual(connector)
  }
  const unknown = await tenant.call('GET', '/v1/connectors/nope')
  expect([unknown.status, unknown.body.error.code]).toEqual([404, 'unknown_connector'])
})

describe('a connected system', () => {
  test('is read page by page, companies first, and then only for what changed', async () => {
    organizations = [{ id: 7, name: 'Engines', website: 'engines.example', update_time: '2026-01-01T00:00:00Z' }]
    persons = [person(1, { org_id: 7 }), person(2), person(3)]
    const id = await connect()
    const run = await pulled(id)
    expect(run.counts).toMatchObject({ organizations: { created: 1 }, persons: { created: 3 } })
    const contact = await contactOf('person1@example.com')
    expect(contact).toMatchObject({ properties: { firstname: 'Person 1' } })
    const { companies } = (await tenant.call('GET', '/v1/companies')).body
    expect(companies).toMatchObject([{ name: 'Engines', domain: 'engines.example' }])
    expect((await tenant.call('GET', `/v1/contacts/${contact.contact_id}`)).body.contact.company_id).toBe(
      companies[0].company_id,
    )

    persons[1] = person(2, { first_name: 'Grace', update_time: new Date(Date.now() + 60_000).toISOString() })
    expect((await tenant.call('POST', `/v1/connections/${id}/pull`)).status).toBe(202)
    expect((await pulled(id, run.run_id)).counts.persons).toEqual({ updated: 1 })
    expect(await contactOf('person2@example.com')).toMatchObject({ properties: { firstname: 'Grace' } })
  })

  test('refuses wrong credentials, with the response of the system', async () => {
    const body = { connector: 'pipedrive', credentials: { api_token: 'wrong-token' } }
    const response = await tenant.call('POST', '/v1/connections', body)
    expect(response.status).toBe(400)
    expect(response.body.error).toMatchObject({
      code: 'connection_refused',
      message: 'Pipedrive responded with status 401: unauthorized access',
    })
    expect((await tenant.call('GET', '/v1/connections')).body.connections).toEqual([])
  })

  test('is refused for an unknown connector', async () => {
    const unknown = await tenant.call('POST', '/v1/connections', { connector: 'nope', credentials: {} })
    expect([unknown.status, unknown.body.error.code]).toEqual([404, 'unknown_connector'])
    expect(unknown.body.error.message).toContain('pipedrive')
  })

  test('is refused if there are 50 connections, even if several are created at the same time', async () => {
    for (let n = 0; n < 48; n++) await insertConnection(tenant, { source: `source-${n}` })
    const requests = ['a', 'b', 'c', 'd'].map(
      (source) => () =>
        tenant.call('POST', '/v1/connections', { connector: 'pipedrive', source, credentials: { api_token: TOKEN } }),
    )
    const responses = await simultaneously(service, 'connections', requests)
    const refused = [409, 'too_many_connections']
    expect(responses.map(({ status, body }) => [status, body.error?.code]).sort()).toEqual([
      [201, undefined],
      [201, undefined],
      refused,
      refused,
    ])
  })
})
