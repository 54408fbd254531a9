import { afterAll, beforeAll, expect, test } from 'vitest'
import { insertConnection } from '../../test/connected-system.ts'
import { createTestTenant, startTestService, type TestService, type TestTenant } from '../../test/service.ts'
import { noteErrors } from './runs.ts'

const WITHIN = { timeout: 120_000, interval: 100 }

let service: TestService
let tenant: TestTenant

beforeAll(async () => {
  service = await startTestService()
  tenant = await createTestTenant(service)
})
afterAll(() => service?.close())

const identify = async (user_id: string, email: string): Promise<string> => {
  expect((await tenant.call('POST', '/v1/identify', { user_id, email })).status).toBeLessThan(300)
  const { body } = await tenant.call('GET', `/v1/contacts?search=${encodeURIComponent(email)}`)
  return body.contacts[0].contact_id
}

/** Notes an error for each id. */
const note = (connectionId: string, object: string, ids: readonly string[]) =>
  tenant.handle.transaction((tx) =>
    noteErrors(
      tx,
      { connectionId, runId: null, object },
      ids.map((externalId) => ({ externalId, code: 'refused', message: 'It has a value that is too long.' })),
      new Date(),
    ),
  )

test('erasing a contact removes the errors about its ids in every system, and its address from what systems responded', async () => {
  const contactId = await identify('ada@old.example', 'ada@example.com')
  const mergedId = await identify('countess-1', 'countess@example.com')
  const merged = await tenant.call('POST', `/v1/contacts/${mergedId}/merge`, { into: contactId })
  expect([merged.status, merged.body.error]).toEqual([200, undefined])
  const records = [{ external_id: '42', email: 'ada@example.com' }]
  expect((await tenant.call('POST', '/v1/sources/crm/contacts', { records })).body.results).toHaveLength(1)
  const crm = await insertConnection(tenant, { source: 'crm' })
  const analytics = await insertConnection(tenant, { source: 'mixpanel' })
  await note(crm, 'contacts', ['42', '420'])
  await note(crm, 'calls', ['7/42', '42/7', '7/420'])
  await note(analytics, 'people', ['ada@example.com', 'ada@old.example', 'countess-1', '42', 'countess-10'])
  await tenant.handle.db
    .updateTable('connections')
    .set({ error: 'Grace is unknown.', write_back_error: 'ADA@example.com is not valid.' })
    .where('connection_id', '=', crm)
    .execute()
  await tenant.handle.db
    .updateTable('connections')
    .set({ error: 'Status 400: countess@example.com', write_back_error: 'bada@example.com is not valid.' })
    .where('connection_id', '=', analytics)
    .execute()

  const at = '2026-01-01T00:00:00.000Z'
  const place = { since: at, isHistory: false, read: null, isDone: true }
  const persons = { ...place, error: 'Status 400: Ada@example.com' }
  const deals = { ...place, error: 'Status 400: bada@example.com' }
  const position = { runId: null, runAt: null, objects: { persons, organizations: place, deals } }
  await tenant.handle.db
    .updateTable('connections')
    .set({ position: JSON.stringify(position) })
    .execute()

  const erased = await tenant.call('POST', '/v1/erasures', { contact_id: contactId })
  expect(erased.status).toBe(202)
  const left = async () => {
    const rows = await tenant.handle.db
      .selectFrom('connection_errors')
      .innerJoin('connections', 'connections.connection_id', 'connection_errors.connection_id')
      .select(['connections.source', 'connection_errors.external_id'])
      .orderBy('error_id')
      .execute()
    return rows.map(({ source, external_id }) => `${source} ${external_id}`)
  }
  await expect
    .poll(left, WITHIN)
    .toEqual(['crm 701', 'mixpanel 701', 'crm 420', 'crm 42/7', 'crm 7/420', 'mixpanel 42', 'mixpanel countess-10'])
  const shown = () =>
    tenant.handle.db
      .selectFrom('connections')
      .select(['source', 'error', 'write_back_error'])
      .orderBy('source')
      .execute()
  await expect.poll(shown, WITHIN).toEqual([
    { source: 'crm', error: 'Grace is unknown.', write_back_error: null },
    { source: 'mixpanel', error: null, write_back_error: 'bada@example.com is not valid.' },
  ])
  // The objects still count as refused, so that the objects that need them wait.
  const { objects } = (await tenant.call('GET', `/v1/connections/${crm}`)).body.connection
  expect(objects.slice(0, 3)).toMatchObject([
    { name: 'organizations', error: null, read_until: at },
    { name: 'persons', error: 'It was not read. The reason named a person who was erased.', read_until: at },
    { name: 'deals', error: 'Status 400: bada@example.com', read_until: at },
  ])
})
