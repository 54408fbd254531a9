import { sql } from 'kysely'
import { afterAll, beforeAll, beforeEach, expect, test } from 'vitest'
import {
  type ConnectedSystem,
  connectedTo,
  type SystemRequest,
  startConnectedSystem,
} from '../../../test/connected-system.ts'
import { connectBySignIn, connectWith, eventsOf, type TestConnection, WITHIN } from '../../../test/connections.ts'
import { executed } from '../../../test/executed-actions.ts'
import { API_TOKEN, PipedriveAccount, person } from '../../../test/pipedrive.ts'
import { makeCertificate } from '../../../test/receiver.ts'
import { contact, idOf, SalesforceOrganization } from '../../../test/salesforce.ts'
import { createTestTenant, startTestService, type TestService, type TestTenant } from '../../../test/service.ts'

let account: PipedriveAccount
let organization: SalesforceOrganization
let system: ConnectedSystem
let service: TestService
let tenant: TestTenant

const isOfPipedrive = ({ path }: SystemRequest) => path.startsWith('/api/')

beforeAll(async () => {
  system = await startConnectedSystem(makeCertificate(), (request) =>
    (isOfPipedrive(request) ? account : organization).respond(request),
  )
  const providerUrls = { salesforce: system.url }
  service = await startTestService({}, { ...connectedTo(system, 'pipedrive', 'salesforce'), providerUrls })
})
beforeEach(async () => {
  tenant = await createTestTenant(service)
  account = new PipedriveAccount()
  organization = new SalesforceOrganization()
  system.intercept = () => undefined
})
afterAll(async () => {
  await service?.close()
  await system?.close()
})

/** Executes a note and a mail. The responses to the first attempts are lost, so each is tried twice. */
async function storeBoth(connection: TestConnection, contactId: string): Promise<void> {
  const path = `/v1/connections/${connection.id}/activities`
  expect((await tenant.call('PUT', path, { enabled: true })).status).toBe(200)
  const lost = new Set<string>()
  system.intercept = (request) => {
    const { method, path: of, body } = request
    const isFirst = method === 'POST' && /Task$|\/(notes|activities)$/.test(of) && !lost.has(body)
    if (!isFirst) return undefined
    lost.add(body)
    ;(isOfPipedrive(request) ? account : organization).respond(request)
    return null
  }
  await executed(service, tenant, contactId, 'note')
  await executed(service, tenant, contactId, 'email_message')
  await expect
    .poll(async () => {
      // Ends the pause after a failure.
      await tenant.handle.db.updateTable('connections').set({ activities_at: sql`now()` }).execute()
      return (await connection.read()).activities
    }, WITHIN)
    .toEqual({ waiting: 0, error: null })
  expect(lost.size).toBe(2)
  // A run reads only activities from before the second in which it started.
  await new Promise((resolve) => setTimeout(resolve, 1_100))
}

test('Salesforce: a note is a completed task, a mail one of an email, each stored once and not read back', async () => {
  organization.records.Contact?.push(contact(1))
  const connection = await connectBySignIn(tenant, 'salesforce')
  await connection.pulled()
  const { contact_id } = await tenant.contactOf('person1@example.com')
  await storeBoth(connection, contact_id)
  const done = { WhoId: idOf('003', 1), Status: 'Completed', ActivityDate: expect.stringMatching(/^\d{4}-\d\d-\d\d$/) }
  expect(organization.records.Task).toHaveLength(2)
  expect(organization.records.Task).toEqual(
    expect.arrayContaining([
      expect.objectContaining({
        ...done,
        Subject: 'Note from an agent',
        Description: 'Asked for pricing.',
        TaskSubtype: 'Task',
      }),
      expect.objectContaining({ ...done, Subject: 'Hello', Description: 'How is it going?', TaskSubtype: 'Email' }),
    ]),
  )
  expect((await connection.pull()).tasks).toEqual({ unchanged: 2 })
  expect(await eventsOf(tenant, contact_id)).toEqual([])
})

test('Pipedrive: a note is a note of the person, a mail a completed activity, each stored once and not read back', async () => {
  account.persons = [person(1)]
  const connection = await connectWith(tenant, { connector: 'pipedrive', credentials: { api_token: API_TOKEN } })
  await connection.pulled()
  const { contact_id } = await tenant.contactOf('person1@example.com')
  await storeBoth(connection, contact_id)
  expect(account.notes).toMatchObject([{ person_id: 1, content: expect.stringContaining('<strong>pricing</strong>') }])
  expect(account.activities).toMatchObject([
    { person_id: 1, type: 'email', subject: 'Hello', done: true, note: expect.stringContaining('How is it going?') },
  ])
  expect((await connection.pull()).activities).toEqual({ unchanged: 1 })
  expect(await eventsOf(tenant, contact_id)).toEqual([])
})
