import { beforeAll, beforeEach, expect, test } from 'vitest'
import { act, uploaded } from '../../test/imports.ts'
import { createTestTenant, sharedService, type TestService, type TestTenant } from '../../test/service.ts'
import { DAY_MS } from '../platform/time.ts'
import { expireImport } from './expire.ts'

let service: TestService
let tenant: TestTenant

beforeAll(async () => {
  service = await sharedService()
})
beforeEach(async () => {
  tenant = await createTestTenant(service)
})

/** All contacts with their sources, without the times of changes. */
async function everything() {
  const { contacts } = (await tenant.call('GET', '/v1/contacts?sort_by=email&include=provenance&limit=100')).body
  const records = await tenant.handle.db
    .selectFrom('contact_sources')
    .select(['contact_id', 'source', 'external_id', 'fields', 'updated_at'])
    .orderBy('contact_id')
    .orderBy('source')
    .execute()
  return { contacts: contacts.map(({ updated_at: _, ...contact }: { updated_at: string }) => contact), records }
}

const imported = async (text: string) => act(tenant, await uploaded(tenant, text), 'start', 'completed')
const contactOf = async (email: string) =>
  (await tenant.call('GET', `/v1/contacts?search=${email}&include=provenance`)).body.contacts[0]

test('undoing an import restores everything as it was before', async () => {
  await tenant.contact('ada@example.com', { city: 'Paris', lifecyclestage: 'lead', phone: '1' })
  await tenant.call('POST', '/v1/sources/crm/contacts', {
    records: [{ external_id: '7', properties: { firstname: 'Grace' } }],
  })
  await imported('external_id,email,city\n1,earlier@example.com,Oslo\n2,,Bern\n')
  const before = await everything()
  const text =
    'external_id,email,city,lifecyclestage,company_domain\n' +
    '9,ada@example.com,Rome,customer,acme.example\n' +
    '1,,Lima,,\n2,second@example.com,,,\n3,new@example.com,Bonn,,acme.example\n,new@example.com,Kyiv,,\n'
  const done = await imported(text)
  expect(done.counts).toEqual({ created: 1, updated: 4, unchanged: 0, failed: 0 })
  expect((await contactOf('ada@example.com')).properties).toMatchObject({ city: 'Rome', lifecyclestage: 'customer' })
  const undone = await act(tenant, done, 'undo', 'undone')
  expect(undone).toMatchObject({ undo: { deleted: 1, restored: 3, kept: 0, companies_deleted: 1 }, can_undo: false })
  expect(await everything()).toEqual(before)
  const events = await tenant.call('GET', '/v1/events?event_type=contact_deleted&count_only=true')
  expect(events.body.count).toBe(1)
  const stages = await tenant.call('GET', '/v1/events?event_type=lifecycle_stage_changed&count_only=true')
  expect(stages.body.count).toBe(2)
  const again = await tenant.call('POST', `/v1/imports/${done.import_id}/undo`)
  expect([again.status, again.body.error.code]).toEqual([409, 'invalid_import_state'])
})

test('what was changed since the import is kept, and listed', async () => {
  const ada = await tenant.contact('ada@example.com', { city: 'Paris', country: 'France' })
  const emails = ['changed', 'noted', 'visited', 'untouched'].map((name) => `${name}@example.com`)
  const done = await imported(
    `email,city,country\nada@example.com,Rome,Italy\n${emails.map((e) => `${e},x,y\n`).join('')}`,
  )
  const idOf = async (name: string) => (await contactOf(`${name}@example.com`)).contact_id
  await tenant.call('PUT', `/v1/contacts/${ada}`, { properties: { city: 'Oslo' } })
  await tenant.call('PUT', `/v1/contacts/${await idOf('changed')}`, { properties: { city: 'Bern' } })
  await tenant.call('POST', `/v1/contacts/${await idOf('noted')}/notes`, { content: 'Call her.' })
  await tenant.call('POST', '/v1/identify', { email: 'visited@example.com', visitor_id: 'v' })

  const undone = await act(tenant, done, 'undo', 'undone')
  expect(undone.undo).toEqual({ deleted: 1, restored: 1, kept: 4, companies_deleted: 0 })
  const { body } = await tenant.call('GET', `/v1/imports/${done.import_id}/kept?limit=100`)
  expect(body.pagination.total_items).toBe(4)
  const expected = [[ada, ['city']]]
  for (const name of ['changed', 'noted', 'visited']) expected.push([await idOf(name), []])
  const kept = body.contacts.map(({ contact_id, properties }: { contact_id: string; properties: string[] }) => [
    contact_id,
    properties,
  ])
  expect(new Map(kept)).toEqual(new Map(expected as [string, string[]][]))
  expect((await contactOf('ada@example.com')).properties).toMatchObject({ city: 'Oslo', country: 'France' })
  expect(await contactOf('untouched@example.com')).toBeUndefined()
})

test('contacts that were deleted or merged since are left alone', async () => {
  const target = await tenant.contact('target@example.com')
  const done = await imported('email,city\ndeleted@example.com,x\nmerged@example.com,y\ntarget@example.com,z\n')
  const idOf = async (name: string) => (await contactOf(`${name}@example.com`)).contact_id
  await tenant.call('DELETE', `/v1/contacts/${await idOf('deleted')}`)
  const { status } = await tenant.call('POST', `/v1/contacts/${await idOf('merged')}/merge`, { into: target })
  expect(status).toBe(200)
  await act(tenant, done, 'undo', 'undone')
  expect((await tenant.call('GET', '/v1/contacts?count_only=true')).body.count).toBe(1)
})

test('a later import of the same contacts is kept', async () => {
  const first = await imported('email,city\nada@example.com,Rome\n')
  await imported('email,city\nada@example.com,Oslo\n')
  expect((await act(tenant, first, 'undo', 'undone')).undo).toEqual({
    deleted: 0,
    restored: 0,
    kept: 1,
    companies_deleted: 0,
  })
  expect((await contactOf('ada@example.com')).properties.city).toBe('Oslo')
})

test('an import can be undone for seven days', async () => {
  const done = await imported('email\nada@example.com\n')
  expect(Date.parse(done.expires_at) - Date.parse(done.finished_at ?? '')).toBe(7 * DAY_MS)
  await tenant.handle.db.updateTable('imports').set({ expires_at: new Date() }).execute()
  const { status, body } = await tenant.call('POST', `/v1/imports/${done.import_id}/undo`)
  expect([status, body.error.code]).toEqual([409, 'invalid_import_state'])
})

test('companies that the import created are deleted, unless something uses or has changed them', async () => {
  const domains = ['unused', 'changed', 'used', 'renamed'].map((name) => `${name}.example`)
  await tenant.call('POST', '/v1/companies', { domain: 'earlier.example' })
  const rows = [...domains, 'earlier.example'].map((domain, index) => `person${index}@example.com,${domain}\n`)
  const done = await imported(`email,company_domain\n${rows.join('')}`)
  const companies = async () => (await tenant.call('GET', '/v1/companies')).body.companies
  const idOf = async (domain: string) =>
    (await companies()).find((company: { domain: string }) => company.domain === domain).company_id
  await tenant.call('PUT', `/v1/companies/${await idOf('changed.example')}`, { properties: { industry: 'Computing' } })
  await tenant.call('PUT', `/v1/companies/${await idOf('renamed.example')}`, { name: 'Renamed' })
  await tenant.call('POST', '/v1/contacts', { email: 'later@example.com', company_id: await idOf('used.example') })
  const undone = await act(tenant, done, 'undo', 'undone')
  expect(undone.undo).toEqual({ deleted: 5, restored: 0, kept: 0, companies_deleted: 1 })
  const left = (await companies()).map(({ domain }: { domain: string }) => domain)
  expect(left.sort()).toEqual(['changed.example', 'earlier.example', 'renamed.example', 'used.example'])
})

test('the contacts of an import are listed, counted, exported and changed, also after it was undone', async () => {
  await tenant.contact('other@example.com')
  const ada = await tenant.contact('ada@example.com', { city: 'Paris' })
  const done = await imported('email,city\nada@example.com,Rome\nkept@example.com,x\ngone@example.com,y\n')
  const listed = async () => {
    const { body } = await tenant.call('GET', `/v1/contacts?import_id=${done.import_id}&sort_by=email&sort_dir=asc`)
    expect(body.pagination.total_items).toBe(body.contacts.length)
    return body.contacts.map(({ properties }: { properties: { email: string } }) => properties.email)
  }
  expect(await listed()).toEqual(['ada@example.com', 'gone@example.com', 'kept@example.com'])
  const bulk = { matching: { import_id: done.import_id }, set: { properties: { country: 'Italy' } } }
  expect((await tenant.call('POST', '/v1/contacts/bulk', bulk)).body.done).toBe(3)
  const kept = (await contactOf('kept@example.com')).contact_id
  await tenant.call('POST', '/v1/contacts/bulk', { contact_ids: [kept], set: { properties: { country: 'Spain' } } })
  await act(tenant, done, 'undo', 'undone')
  expect(await listed()).toContain('ada@example.com')
  expect(await listed()).toContain('kept@example.com')
  const other = await createTestTenant(service)
  for (const [whose, importId] of [
    [other, done.import_id],
    [tenant, 'nope'],
    [tenant, ada],
  ] as const) {
    const { status, body } = await whose.call('GET', `/v1/contacts?import_id=${importId}`)
    expect([status, body.error.code]).toEqual([400, 'unknown_import'])
    const matching = { matching: { import_id: importId }, delete: true }
    expect((await whose.call('POST', '/v1/contacts/bulk', matching)).body.error.code).toBe('unknown_import')
  }
})

test('the contacts of an import are still listed when it can no longer be undone', async () => {
  await tenant.contact('ada@example.com', { city: 'Paris' })
  const done = await imported('email,city\nada@example.com,Rome\nnew@example.com,Oslo\n')
  await tenant.handle.db
    .updateTable('imports')
    .set({ expires_at: new Date(0) })
    .execute()
  await expireImport(tenant.handle, '/nowhere', done.import_id, new Date())
  const stored = await tenant.handle.db.selectFrom('import_changes').select('replaced').execute()
  expect(stored).toEqual([{ replaced: null }, { replaced: null }])
  expect((await tenant.call('GET', `/v1/contacts?import_id=${done.import_id}&count_only=true`)).body.count).toBe(2)
})
