import { beforeAll, expect, test } from 'vitest'
import { createPerson, signedIn } from '../../test/people.ts'
import { createTestTenant, sharedService, type TestService, type TestTenant } from '../../test/service.ts'
import { audit } from '../operations/audit.ts'

let service: TestService
let tenant: TestTenant

interface Entry {
  action: string
  subject_name: string | null
  subject_exists: boolean | null
}

beforeAll(async () => {
  service = await sharedService()
  tenant = await createTestTenant(service)
})

/** The newest entry of each action. */
async function entries(): Promise<Record<string, Entry>> {
  const { status, body } = await tenant.call('GET', '/v1/audit-log?limit=100')
  expect(status, JSON.stringify(body)).toBe(200)
  return Object.fromEntries(body.entries.toReversed().map((entry: Entry) => [entry.action, entry]))
}

const make = async (path: string, body: unknown) => (await tenant.call('POST', path, body)).body

test('each entry has the name of its subject as it is now, and says when the subject is gone', async () => {
  const filter = { match: 'all', conditions: [] }
  const { segment } = await make('/v1/segments', { name: 'Leads', filter })
  await tenant.call('PATCH', `/v1/segments/${segment.segment_id}`, { name: 'Hot leads' })
  const gone = (await make('/v1/segments', { name: 'Old', filter })).segment.segment_id
  await tenant.call('DELETE', `/v1/segments/${gone}`)
  await make('/v1/webhooks', { event: 'page_view', url: 'https://hooks.example.com/secret-path' })
  await make('/v1/identities', { firstName: 'Ida', lastName: 'Bell', role: 'Sales' })
  await make('/v1/api-keys', { name: 'CRM', scopes: ['contacts:read'] })
  await make('/v1/domains', { domain: 'named.example' })
  await make('/v1/invitations', { email: 'new@example.com', role: 'viewer' })
  await make('/v1/views', { name: 'Mine', page: 'contacts', query: {}, columns: [] })
  await tenant.upload('email\nada@example.com\n', { name: 'leads.csv' })
  const user = await createPerson(service.stores, tenant.id, {
    email: `mo-${tenant.id}@example.com`,
    name: 'Mo',
    role: 'viewer',
  })
  const owner = await signedIn(service, tenant.id, 'owner')
  await owner.call('PATCH', `/v1/members/${user}`, { role: 'member' })
  const named = await entries()
  const nameOf = (action: string) => [named[action]?.subject_name, named[action]?.subject_exists]
  expect(nameOf('segment.updated')).toEqual(['Hot leads', true])
  expect(nameOf('segment.deleted')).toEqual([null, false])
  expect(nameOf('webhook.created')).toEqual(['page_view → hooks.example.com', true])
  expect(nameOf('identity.created')).toEqual(['Ida Bell', true])
  expect(nameOf('api_key.created')).toEqual(['CRM', true])
  expect(nameOf('domain.added')).toEqual(['named.example', true])
  expect(nameOf('invitation.created')).toEqual(['new@example.com', true])
  expect(nameOf('import.uploaded')).toEqual(['leads.csv', true])
  expect(nameOf('view.created')).toEqual(['Mine', true])
  expect(nameOf('member.role_changed')).toEqual(['Mo', true])
})

test('an entry about an action has the name of its contact, also one without a first name', async () => {
  const contactId = await tenant.contact('ada@example.com')
  const { agent } = await make('/v1/agents', { name: 'Qualifier', description: 'x' })
  const { job_id: runId } = await make(`/v1/agents/${agent.agent_id}/trigger`, { contact_ids: [contactId] })
  const actor = { kind: 'service' } as const
  const subjectId = `${runId}/${contactId}/99`
  await audit(tenant.handle, { actor, action: 'action.executed', subjectKind: 'action', subjectId }, new Date())
  await audit(tenant.handle, { actor, action: 'run.cancelled', subjectKind: 'run', subjectId: runId }, new Date())
  const named = await entries()
  expect(named['action.executed']).toMatchObject({ subject_name: 'ada@example.com', subject_exists: true })
  expect(named['run.cancelled']).toMatchObject({ subject_name: 'Qualifier', subject_exists: true })
  await tenant.call('DELETE', `/v1/contacts/${contactId}`)
  expect((await entries())['action.executed']).toMatchObject({ subject_name: null, subject_exists: false })
})

test("an entry never names another tenant's records, and a kind without a record keeps what it recorded", async () => {
  const other = await createTestTenant(service)
  const stranger = await other.contact('secret@example.com', { firstname: 'Secret' })
  const actor = { kind: 'service' } as const
  const about = (action: string, subjectKind: string, subjectId: string | null, details = {}) =>
    audit(tenant.handle, { actor, action, subjectKind, subjectId, details }, new Date())
  await about('contact.merged', 'contact', stranger)
  await about('made.up', 'constructor', 'no uuid', { name: 'Kept' })
  await about('contact.odd', 'contact', 'no uuid')
  const named = await entries()
  expect(named['contact.merged']).toMatchObject({ subject_name: null, subject_exists: false })
  expect(named['made.up']).toMatchObject({ subject_name: 'Kept', subject_exists: null })
  expect(named['contact.odd']).toMatchObject({ subject_name: null })
})
