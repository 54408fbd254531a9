import { sql } from 'kysely'
import { beforeAll, expect, test } from 'vitest'
import { insertIdentity, MAIL, propose } from '../../test/actions.ts'
import {
  call,
  createTestTenant,
  refuseUpdates,
  sharedService,
  type TestResponse,
  type TestService,
  type TestTenant,
} from '../../test/service.ts'
import { OPERATIONS } from '../assembly/all-operations.ts'
import { newId } from '../platform/ids.ts'
import { listAudit } from './audit-list.ts'
import { isReading, routeOf } from './declare.ts'

/** A retry with the same Idempotency-Key after the first request was interrupted: its response could not be stored. */

let service: TestService
let tenant: TestTenant

beforeAll(async () => {
  service = await sharedService()
  tenant = await createTestTenant(service)
})

function post(path: string, key: string, body: unknown = {}): Promise<TestResponse> {
  const headers = { authorization: `Bearer ${tenant.key}`, 'idempotency-key': key }
  return call(service, 'POST', path, { headers, body: JSON.stringify(body) })
}

/** Sends a request whose response cannot be stored, then sends it again. @returns the response to the second. */
async function interrupted(path: string, body: unknown = {}): Promise<TestResponse> {
  const key = newId()
  const storesResponse = sql`old.key = ${sql.lit(key)} AND new.response_sealed IS NOT NULL`
  const mend = await refuseUpdates(service.stores.database, 'idempotency_keys', storesResponse)
  try {
    expect((await post(path, key, body)).status).toBe(500)
  } finally {
    await mend()
  }
  const response = await post(path, key, body)
  const replayed = await post(path, key, body)
  expect([replayed.status, replayed.body]).toEqual([response.status, response.body])
  expect([response, replayed].map(({ headers }) => headers.get('idempotent-replayed'))).toEqual([null, 'true'])
  expect(replayed.headers.get('etag')).toBe(response.headers.get('etag'))
  return response
}

const audited = async () => (await listAudit(tenant.handle, {}, { page: 1, limit: 1 })).total
const count = async (path: string) => (await tenant.call('GET', path)).body.pagination.total_items

test('every POST that changes something is atomic, or says how it can be repeated', () => {
  const posts = OPERATIONS.filter((operation) => routeOf(operation).method === 'POST' && !isReading(operation))
  const changes = posts.filter(({ audit, isAtomic }) => typeof audit !== 'function' && !isAtomic)
  expect(changes.map(({ name }) => name).sort()).toEqual([
    'ask',
    'changeCompanies',
    'changeContacts',
    'checkEmailAccount',
    'completeAuthorization',
    'dryRunAgent',
    'enrichContact',
    'pushSourceConversations',
    'replayAgent',
    'runHookBody',
    'sendEvents',
  ])
  for (const { name, description } of changes)
    expect([name, description]).toEqual([name, expect.stringContaining('interrupt')])
})

test('a note is added once', async () => {
  const path = `/v1/contacts/${await tenant.contact('note@example.com')}/notes`
  expect((await interrupted(path, { content: 'Called.' })).status).toBe(201)
  expect(await count(path)).toBe(1)
})

test('a contact and a company are created once', async () => {
  const contact = await interrupted('/v1/contacts', { email: 'once@example.com', visitor_id: 'once' })
  expect([contact.status, contact.headers.get('etag')]).toEqual([201, expect.any(String)])
  const company = await interrupted('/v1/companies', { name: 'Once' })
  expect(company.status).toBe(201)
  expect(await count('/v1/companies?search=Once')).toBe(1)
  const { events } = (await tenant.call('GET', '/v1/events?include=system&event_type=contact_created&limit=100')).body
  const { contact_id } = contact.body.contact
  expect(
    events.filter((event: { internal_contact_id: string }) => event.internal_contact_id === contact_id),
  ).toHaveLength(1)
})

test('an identification and a push create their contacts once', async () => {
  const identified = await interrupted('/v1/identify', { visitor_id: 'identified', email: 'identified@example.com' })
  expect(identified.body).toMatchObject({ created: true, linked_visitors: 1 })
  const records = [{ external_id: '1', email: 'pushed@example.com', properties: { firstname: 'Ada' } }]
  const pushed = await interrupted('/v1/sources/crm/contacts', { records })
  expect(pushed.body.results).toMatchObject([{ status: 'created' }])
})

test('a merge and an unmerge happen once', async () => {
  const [one, other] = [await tenant.contact('one@example.com'), await tenant.contact('other@example.com')]
  const before = await audited()
  expect((await interrupted(`/v1/contacts/${one}/merge`, { into: other })).status).toBe(200)
  expect((await interrupted(`/v1/contacts/${one}/unmerge`)).status).toBe(200)
  expect(await audited()).toBe(before + 2)
})

test('actions are proposed and decided once', async () => {
  const contactId = await tenant.contact('decided@example.com')
  const identityId = await insertIdentity(tenant.handle)
  const waiting = () => propose(tenant.handle, service.jobs, { contactId, identityId, ...MAIL })
  const [single, first, second] = [await waiting(), await waiting(), await waiting()]
  expect((await interrupted(`${single.path}/approve`)).body.action.status).toBe('approved')
  const actions = [first, second].map(({ ref }) => ({
    run_id: ref.runId,
    contact_id: contactId,
    action_index: ref.actionIndex,
  }))
  const { body } = await interrupted('/v1/approvals/reject', { actions })
  expect(body.decisions).toMatchObject([{ action: { status: 'rejected' } }, { action: { status: 'rejected' } }])
})

test('events without an id of their own are recorded once', async () => {
  const sent = [
    { event: 'interrupted', email: 'events@example.com' },
    { event: 'interrupted', visitor_id: 'visitor-1' },
    { event: 'interrupted', visitor_id: 'visitor-1' },
    { event: '' },
  ]
  const { body } = await interrupted('/v1/events', { events: sent })
  expect(body.failed).toBe(1)
  const { events } = (await tenant.call('GET', '/v1/events?event_type=interrupted')).body
  const ids = events.map(({ event_id, id }: Record<string, string>) => event_id ?? id)
  expect(ids.sort()).toEqual(body.results.flatMap(({ event_id = [] }) => event_id).sort())
})

test('a bulk deletion of what matches deletes no other records', async () => {
  for (const from of [0, 65]) {
    const ids = Array.from({ length: 65 }, (_, n) => `bulk${from + n}`)
    const records = ids.map((external_id) => ({ external_id, properties: { city: 'Vaduz' } }))
    await tenant.call('POST', '/v1/sources/crm/contacts', { records })
  }
  const filter = { match: 'all', conditions: [{ property: 'city', operator: 'equals', value: 'Vaduz' }] }
  const { body } = await interrupted('/v1/contacts/bulk', { matching: { filter }, delete: true })
  expect(body).toMatchObject({ done: 100, failed: [], next: expect.any(String) })
  expect(await count('/v1/contacts?city=Vaduz')).toBe(30)
})

test('an invitation, a connected domain and an erasure are requested once', async () => {
  const email = `${newId()}@example.com`
  const invited = await interrupted('/v1/invitations', { email, role: 'viewer' })
  expect(invited.body).toMatchObject({ invitation: { email }, link: expect.any(String) })
  const { domain } = (await tenant.call('POST', '/v1/domains', { domain: `${newId()}.localhost` })).body
  expect((await interrupted(`/v1/domains/${domain.domain_id}/verify`)).status).toBe(200)
  const before = await audited()
  const contact_id = await tenant.contact('erased@example.com')
  const { body } = await interrupted('/v1/erasures', { contact_id })
  expect([body.receipt.contact_id, await audited()]).toEqual([contact_id, before + 1])
})
