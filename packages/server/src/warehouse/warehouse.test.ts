import { mkdtemp, readdir, readFile, rm, symlink, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { destinationIn, type ObjectStorage, startObjectStorage } from '../../test/object-storage.ts'
import { createTestTenant, startTestService, type TestService, type TestTenant } from '../../test/service.ts'
import {
  eventsOf,
  type Manifest,
  type Row,
  readerOfFolder,
  readerOfStorage,
  runExport,
  type WarehouseReader,
} from '../../test/warehouse.ts'
import { until } from '../../test/webhooks.ts'
import { DAY_MS } from '../platform/time.ts'

let service: TestService
let storage: ObjectStorage
let directory: string
let reader: WarehouseReader

beforeAll(async () => {
  directory = await mkdtemp(join(tmpdir(), 'cds-warehouse-'))
  storage = await startObjectStorage()
  service = await startTestService({ CDS_WAREHOUSE_DIR: directory, CDS_WAREHOUSE_ALLOW_PRIVATE: 'on' })
  reader = readerOfStorage(service, storage)
})
afterAll(async () => {
  await service.close()
  await storage.close()
  await rm(directory, { recursive: true, force: true })
})

async function create(tenant: TestTenant, input: object = destinationIn(storage)): Promise<string> {
  const { status, body } = await tenant.call('POST', '/v1/warehouse', input)
  expect([status, body.error]).toEqual([201, undefined])
  return body.destination.destination_id
}

const folder = (more: object = {}) => ({ name: 'Folder', type: 'folder', schedule: null, ...more })
const idsOf = (rows: readonly Row[]) => rows.map(({ event_id }) => event_id).sort()

test('files contain what the API returns: events with their contacts, contacts, companies and links', async () => {
  const tenant = await createTestTenant(service)
  const { company } = (await tenant.call('POST', '/v1/companies', { domain: 'acme.example', name: "Ac'me \\ \n ü 🎈" }))
    .body
  const url = `https://${tenant.site}/pricing?plan=pro`
  await tenant.track({
    visitor_id: 'later',
    events: [{ event: 'page_view', url, title: 'Preise "ü"', data: { a: [1, null] } }],
  })
  await tenant.track({ visitor_id: 'nobody', events: [{ event: 'page_view' }] })
  const properties = { firstname: 'Zoë\\', plan: "it's", score: 4.5, tags: ['a', 'b'] }
  const contactId = await tenant.contact('zoe@acme.example', properties, {
    visitor_id: 'later',
    company_id: company.company_id,
  })
  await tenant.contact('no-company@example.com')

  const run = await runExport(tenant, await create(tenant))
  const manifest = await reader.manifest()
  expect(manifest.run_id).toBe(run.run_id)
  expect(JSON.parse(String(await reader.file(run.manifest ?? '')))).toEqual(manifest)

  const events = await reader.rows('events', manifest)
  const returned = await eventsOf(tenant)
  expect(idsOf(events)).toEqual(idsOf(returned))
  for (const event of returned) {
    const row = events.find(({ event_id }) => event_id === event.event_id) ?? {}
    expect({
      ...row,
      timestamp: iso(row.timestamp),
      received_at: iso(row.received_at),
      data: JSON.parse(String(row.data)),
    }).toMatchObject({
      event: event.event,
      timestamp: event.timestamp,
      received_at: event.createdAt,
      contact_id: event.internal_contact_id,
      visitor_id: event.visitor_id,
      url: event.url,
      domain: event.domain,
      browser: event.browser,
      is_bot: event.is_bot,
      data: event.data,
    })
  }
  const view = events.find((row) => row.visitor_id === 'later')
  expect(view).toMatchObject({ contact_id: contactId, is_anonymous: true, title: 'Preise "ü"', path: '/pricing' })
  const links = await reader.rows('owner_links', manifest)
  expect(links).toEqual([{ owner_id: view?.owner_id, contact_id: contactId, version: 1 }])

  const contacts = await reader.rows('contacts', manifest)
  expect(contacts).toHaveLength(2)
  const row = contacts.find(({ contact_id }) => contact_id === contactId) ?? {}
  const { contact } = (await tenant.call('GET', `/v1/contacts/${contactId}`)).body
  expect({ ...row, properties: JSON.parse(String(row.properties)) }).toMatchObject({
    email: 'zoe@acme.example',
    company_id: contact.company_id,
    properties: contact.properties,
  })
  expect([iso(row.created_at), iso(row.updated_at)]).toEqual([contact.created_at, contact.updated_at])
  expect(await reader.rows('companies', manifest)).toMatchObject([
    { company_id: company.company_id, name: company.name },
  ])
  expect(manifest.tables).toMatchObject({
    events: {
      mode: 'append',
      rows: returned.length,
      schema: expect.arrayContaining([{ name: 'data', type: 'string' }]),
    },
    contacts: { mode: 'snapshot', rows: 2 },
  })
  expect(run.tables.events).toMatchObject({ files: 1, rows: returned.length })
})

function iso(clickhouse: unknown): string {
  return new Date(`${String(clickhouse).replace(' ', 'T')}Z`).toISOString()
}

test('a second run contains only what arrived since, including events that happened earlier, and new links', async () => {
  const tenant = await createTestTenant(service)
  const id = await create(tenant, destinationIn(storage, { prefix: 'cds' }))
  await tenant.track({ visitor_id: 'v', events: [{ event: 'first' }] })
  const first = await runExport(tenant, id).then(() => reader.manifest())
  const early = new Date(Date.now() - DAY_MS).toISOString()
  await tenant.track({ visitor_id: 'v', events: [{ event: 'second' }] })
  await tenant.call('POST', '/v1/events', { events: [{ event: 'late', timestamp: early, email: 'late@example.com' }] })
  const contactId = await tenant.contact('v@example.com', {}, { visitor_id: 'v' })
  await runExport(tenant, id)
  const second = await reader.manifest()
  expect(second.previous).toMatch(/^manifests\/.*\.json$/)
  expect(await reader.manifest(second.previous ?? '')).toEqual(first)
  expect(second.range.after).toBe(first.range.up_to)
  const [before, after] = [await reader.rows('events', first), await reader.rows('events', second)]
  expect(after.map(({ event }) => event)).toEqual(expect.arrayContaining(['second', 'late']))
  expect(idsOf([...before, ...after])).toEqual(idsOf(await eventsOf(tenant)))
  // A link says that the earlier event now belongs to the contact.
  const owner = before.find(({ event }) => event === 'first')?.owner_id
  expect(before.find(({ event }) => event === 'first')?.contact_id).toBeNull()
  expect(await reader.rows('owner_links', second)).toContainEqual({
    owner_id: owner,
    contact_id: contactId,
    version: 1,
  })

  await runExport(tenant, id)
  const third = await reader.manifest()
  expect(third.tables).toMatchObject({ events: { rows: 0, files: 0 }, contacts: { mode: 'snapshot', rows: 2 } })

  await runExport(tenant, id, { full: true })
  const full = await reader.manifest()
  expect(full.tables).toMatchObject({ events: { mode: 'replace' }, owner_links: { mode: 'replace' } })
  expect(idsOf(await reader.rows('events', full))).toEqual(idsOf(await eventsOf(tenant)))
})

test('while events arrive all the time, runs export each of them once', async () => {
  const tenant = await createTestTenant(service)
  const id = await create(tenant)
  const manifests: Manifest[] = []
  let isOver = false
  let sent = 0
  const sending = Promise.all(
    [0, 1, 2].map(async (sender) => {
      while (!isOver) {
        await tenant.track({ visitor_id: `v${sender}`, events: [{ event: 'a' }, { event: 'b' }] })
        sent += 2
        // Often enough: each run takes much longer.
        await sleep(20)
      }
    }),
  )
  for (let run = 0; run < 4; run++) {
    const acknowledged = sent
    await runExport(tenant, id)
    const manifest = await reader.manifest()
    manifests.push(manifest)
    const rows = manifests.reduce((sum, { tables }) => sum + (tables.events?.rows ?? 0), 0)
    expect(rows).toBeGreaterThanOrEqual(acknowledged)
  }
  isOver = true
  await sending
  await runExport(tenant, id)
  manifests.push(await reader.manifest())
  const exported = (await Promise.all(manifests.map((manifest) => reader.rows('events', manifest)))).flat()
  expect(idsOf(exported)).toEqual(idsOf(await eventsOf(tenant)))
})

test('an erased contact is named by the next manifest, and is in no later file', async () => {
  const tenant = await createTestTenant(service)
  const id = await create(tenant)
  const contactId = await tenant.contact('forget@example.com', {}, { visitor_id: 'forget' })
  await tenant.track({ visitor_id: 'forget', events: [{ event: 'seen' }] })
  await runExport(tenant, id)
  expect((await reader.manifest()).erased_contact_ids).toEqual([])
  const { body } = await tenant.call('POST', '/v1/erasures', { contact_id: contactId })
  await until(async () => {
    const { body: read } = await tenant.call('GET', `/v1/erasures/${body.receipt.erasure_id}`)
    expect(read.receipt.status).not.toBe('running')
  })
  await runExport(tenant, id, { full: true })
  const manifest = await reader.manifest()
  expect(manifest.erased_contact_ids).toEqual([contactId])
  const events = await reader.rows('events', manifest)
  expect(events.filter((row) => row.event === 'seen')).toEqual([])
  expect(JSON.stringify([events, await reader.rows('contacts', manifest)])).not.toContain('forget@example.com')
})

test('a deleted contact is absent from the next run, whose files keep the others', async () => {
  const tenant = await createTestTenant(service)
  const id = await create(tenant)
  const deleted = await tenant.contact('deleted@example.com')
  const kept = await tenant.contact('kept@example.com')
  const idsOfContacts = async (manifest: Manifest) =>
    (await reader.rows('contacts', manifest)).map(({ contact_id }) => contact_id).sort()
  await runExport(tenant, id)
  const first = await reader.manifest()
  expect(await idsOfContacts(first)).toEqual([deleted, kept].sort())
  expect((await tenant.call('DELETE', `/v1/contacts/${deleted}`)).status).toBe(200)
  await runExport(tenant, id)
  const second = await reader.manifest()
  expect(second.tables).toMatchObject({ contacts: { mode: 'snapshot', rows: 1 } })
  expect(await idsOfContacts(second)).toEqual([kept])
  expect(second.erased_contact_ids).toEqual([])
})

test('a folder has the files of its tenant under the id of the tenant, and nothing unfinished', async () => {
  const [tenant, other] = [await createTestTenant(service), await createTestTenant(service)]
  await tenant.track({ visitor_id: 'v', events: [{ event: 'mine' }] })
  await other.track({ visitor_id: 'v', events: [{ event: 'theirs' }] })
  for (const each of [tenant, other]) await runExport(each, await create(each, folder({ prefix: 'exports/cds' })))
  const place = join(directory, tenant.id, 'exports', 'cds')
  const own = readerOfFolder(service, place)
  const manifest = await own.manifest()
  expect((await own.rows('events', manifest)).map(({ event }) => event)).toEqual(['mine'])
  const names = (await readdir(place, { recursive: true, withFileTypes: true })).filter((entry) => entry.isFile())
  const paths = names.map(({ parentPath, name }) => join(parentPath, name).slice(place.length + 1)).sort()
  const name = (await readdir(join(place, 'manifests')))[0]
  expect(paths).toEqual(['latest.json', `manifests/${name}`, ...manifest.files.map(({ path }) => path)].sort())
})

test.each(['../x', 'a/../../x', '/etc', 'a//b', '.', 'a/./b', 'a\0b', 'a\\b', '..', 'ü', 'a b', 'a/'])(
  'the prefix %j is refused',
  async (prefix) => {
    const tenant = await createTestTenant(service)
    for (const input of [folder({ prefix }), destinationIn(storage, { prefix })]) {
      const { status, body } = await tenant.call('POST', '/v1/warehouse', input)
      expect([status, body.error?.code, body.error?.details[0].path]).toEqual([400, 'validation_error', 'prefix'])
    }
  },
)

test('a symbolic link in the folder cannot lead out of it', async () => {
  const tenant = await createTestTenant(service)
  const id = await create(tenant, folder({ prefix: 'out' }))
  await runExport(tenant, await create(tenant, folder()))
  const outside = await mkdtemp(join(tmpdir(), 'cds-outside-'))
  await symlink(outside, join(directory, tenant.id, 'out'))
  const { status, body } = await tenant.call('POST', `/v1/warehouse/${id}/test`)
  expect([status, body.error.code]).toEqual([422, 'storage_refused'])
  expect(await readdir(outside)).toEqual([])
  await rm(outside, { recursive: true })
})

test('a prefix may have every character that is allowed', async () => {
  const tenant = await createTestTenant(service)
  const id = await create(tenant, destinationIn(storage, { prefix: 'Kind=raw/a._-=b' }))
  expect(await tenant.call('POST', `/v1/warehouse/${id}/test`)).toMatchObject({ status: 200 })
  const run = await runExport(tenant, id)
  expect(storage.objects.has(`exports/Kind=raw/a._-=b/${run.manifest}`)).toBe(true)
})

test('a test writes a file and deletes it, and says what is wrong', async () => {
  const tenant = await createTestTenant(service)
  const id = await create(tenant)
  const before = storage.requests.length
  expect((await tenant.call('POST', `/v1/warehouse/${id}/test`)).status).toBe(200)
  expect(storage.requests.slice(before).map((request) => request.split(' ')[0])).toEqual(['PUT', 'DELETE'])
  const wrong = await create(tenant, destinationIn(storage, { prefix: 'wrong', secret_access_key: 'not-the-secret' }))
  const { status, body } = await tenant.call('POST', `/v1/warehouse/${wrong}/test`)
  expect([status, body.error.code]).toEqual([422, 'storage_refused'])
  expect(body.error.message).toContain('403, SignatureDoesNotMatch: Refused & logged')
  expect(body.error.message).not.toContain('not-the-secret')
  const folderId = await create(tenant, folder())
  await tenant.call('POST', `/v1/warehouse/${folderId}/test`)
  await writeFile(join(directory, tenant.id, 'kept'), 'x')
  expect(await readdir(join(directory, tenant.id))).toEqual(['kept'])
  expect(await readFile(join(directory, tenant.id, 'kept'), 'utf8')).toBe('x')
})
