import { afterAll, beforeAll, expect, test } from 'vitest'
import { helpdesk } from '../../../../examples/connector/helpdesk.ts'
import { type ConnectedSystem, connectedTo, startConnectedSystem } from '../../test/connected-system.ts'
import { makeCertificate } from '../../test/receiver.ts'
import { createTestTenant, startTestService, type TestService } from '../../test/service.ts'
import { CONNECTORS } from './all-connectors.ts'
import type { Connector } from './connector.ts'

const WITHIN = { timeout: 120_000, interval: 20 }
const ADA = { id: 1, email: 'ada@example.com', first_name: 'Ada', plan: 'pro', updated_at: '2026-01-31T08:00:00Z' }
const GRACE = { id: 2, email: 'grace@example.com', updated_at: '2026-01-31T08:00:00Z', is_deleted: false }
const TICKET = {
  id: 9,
  customer: { email: 'ada@example.com' },
  subject: 'It stopped',
  priority: 'high',
  created_at: '2026-01-31T08:00:00Z',
}

let system: ConnectedSystem
let service: TestService
const listed = CONNECTORS as Connector[]

beforeAll(async () => {
  system = await startConnectedSystem(makeCertificate(), ({ path, query }) => {
    if (path === '/me') return { body: { id: 5, workspace: 'Engines' } }
    if (path === '/tickets') return { body: { tickets: [TICKET], next_page: null } }
    const isFirst = query.get('page') === null
    return { body: { customers: [isFirst ? ADA : GRACE], next_page: isFirst ? 2 : null } }
  })
  listed.push(helpdesk)
  service = await startTestService({}, connectedTo(system, 'helpdesk'))
})
afterAll(async () => {
  listed.splice(listed.indexOf(helpdesk), 1)
  await service?.close()
  await system?.close()
})

test('the connector that the guide shows reads customers and tickets, removes deleted ones, and reads nothing twice', async () => {
  const tenant = await createTestTenant(service)
  const settings = { subdomain: 'engines' }
  const body = { connector: 'helpdesk', credentials: { token: 'a-token' }, settings }
  const { status, body: created } = await tenant.call('POST', '/v1/connections', body)
  expect(status).toBe(201)
  const path = `/v1/connections/${created.connection.connection_id}`
  const runsOf = async () => (await tenant.call('GET', `${path}/runs`)).body.runs
  const finished = (count: number) =>
    expect
      .poll(
        async () => (await runsOf()).filter((run: { finished_at: string | null }) => run.finished_at).length,
        WITHIN,
      )
      .toBe(count)
  await finished(1)
  expect(await runsOf()).toMatchObject([{ counts: { customers: { created: 2 }, tickets: { accepted: 1 } } }])
  const { contacts } = (await tenant.call('GET', '/v1/contacts?search=ada')).body
  expect(contacts).toMatchObject([{ properties: { email: 'ada@example.com', firstname: 'Ada', plan: 'pro' } }])
  const events = (await tenant.call('GET', `/v1/contacts/events/${contacts[0].contact_id}`)).body.events
  expect(events).toMatchObject([{ event: 'ticket_created', data: { ticket_id: '9', priority: 'high' } }])

  ADA.plan = 'free'
  Object.assign(ADA, { is_deleted: true })
  await tenant.call('POST', `${path}/reread`, {})
  await finished(2)
  expect((await runsOf())[0].counts).toMatchObject({
    customers: { deleted: 1, unchanged: 1 },
    tickets: { unchanged: 1 },
  })
  const after = (await tenant.call('GET', '/v1/contacts?search=ada')).body.contacts
  expect(after[0].properties).toEqual({ email: 'ada@example.com' })
})
