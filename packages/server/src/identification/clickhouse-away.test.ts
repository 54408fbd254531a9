import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, afterEach, beforeAll, beforeEach, expect, test } from 'vitest'
import { call, createTestTenant, startTestService, type TestService, type TestTenant } from '../../test/service.ts'
import { importContacts } from '../imports/import-contacts.ts'
import { storeUnavailable } from '../platform/errors.ts'

let service: TestService
let tenant: TestTenant
let back: () => void

beforeAll(async () => {
  service = await startTestService()
})
beforeEach(async () => {
  tenant = await createTestTenant(service)
  const { clickhouse } = service.stores
  const present = { ...clickhouse }
  const unavailable = () => storeUnavailable('ClickHouse', new Error('away'))
  const away = () => Promise.reject(unavailable())
  const stream = () => {
    throw unavailable()
  }
  Object.assign(clickhouse, { query: away, insert: away, command: away, stream })
  back = () => Object.assign(clickhouse, present)
})
afterEach(() => back())
afterAll(() => service.close())

const page = (path: string) => ({ event: 'page_view', url: `https://${tenant.site}${path}` })

test('a visitor can be identified while ClickHouse is down: the contact gets its events and its first touch', async () => {
  await tenant.track({ visitor_id: 'v', events: [page('/landing?utm_source=ads'), page('/pricing')] })
  const identified = await tenant.call('POST', '/v1/identify', { visitor_id: 'v', email: 'ada@example.com' })
  expect([identified.status, identified.body.created]).toEqual([200, true])
  const { contact_id } = identified.body
  await tenant.track({ visitor_id: 'w', events: [page('/other')] })
  const submitted = await call(service, 'POST', `/v1/public/form-submission/${tenant.id}/contact-us`, {
    headers: { origin: `https://${tenant.site}` },
    body: JSON.stringify({ visitor_id: 'w', contact_data: { email: 'bob@example.com' } }),
  })
  expect(submitted.status).toBe(200)
  expect((await tenant.call('GET', `/v1/contacts/events/${contact_id}`)).status).toBe(503)

  back()
  const read = () => tenant.call('GET', `/v1/contacts/events/${contact_id}?sort_dir=asc`)
  await expect.poll(async () => (await read()).status).toBe(200)
  const { body } = await read()
  expect(body.events).toMatchObject([
    { url: `https://${tenant.site}/landing?utm_source=ads`, internal_contact_id: contact_id },
    { url: `https://${tenant.site}/pricing`, internal_contact_id: contact_id },
  ])
  const ada = (await tenant.call('GET', `/v1/contacts/${contact_id}`)).body.contact
  expect(ada.properties).toMatchObject({
    first_landing_page: `https://${tenant.site}/landing?utm_source=ads`,
    first_utm_source: 'ads',
  })
  const bob = (await tenant.call('GET', `/v1/contacts/${submitted.body.contact_id}`)).body.contact
  expect(bob.properties.first_landing_page).toBe(`https://${tenant.site}/other`)
  const all = await tenant.call('GET', `/v1/events?contact_id=${bob.contact_id}&count_only=true`)
  expect(all.body.count).toBe(2)
})

test('contacts, notes, sources and imports can be written while ClickHouse is down; their events can be read once it is back', async () => {
  const written = async (status: number, method: string, path: string, body?: object) => {
    const answer = await tenant.call(method, path, body)
    expect(answer.status, `${method} ${path}: ${JSON.stringify(answer.body)}`).toBe(status)
    return answer.body
  }
  const ada = await tenant.contact('ada@example.com')
  const contact = `/v1/contacts/${ada}`
  await written(200, 'PUT', contact, { properties: { city: 'London' } })

  const { note } = await written(201, 'POST', `${contact}/notes`, { content: 'Called' })
  await written(200, 'PATCH', `${contact}/notes/${note.note_id}`, { content: 'Called back' })
  const other = await written(201, 'POST', `${contact}/notes`, { content: 'A mistake' })
  await written(200, 'DELETE', `${contact}/notes/${other.note.note_id}`)

  const records = [
    { external_id: '1', email: 'ada@example.com', properties: { firstname: 'Ada' } },
    { external_id: '2', email: 'bob@example.com' },
  ]
  const { results } = await written(200, 'POST', '/v1/sources/hubspot/contacts', { records })
  expect(results).toMatchObject([{ status: 'updated', contact_id: ada }, { status: 'created' }])

  const directory = await mkdtemp(join(tmpdir(), 'cds-import-'))
  try {
    const [file, resultsFile] = [join(directory, 'contacts.csv'), join(directory, 'results.csv')]
    await writeFile(file, 'email,country\nada@example.com,UK\ncyd@example.com,FR\n')
    const imported = await importContacts(tenant.handle, service.writing, { file, resultsFile, onProgress: () => {} })
    expect(imported).toMatchObject({ created: 1, updated: 1, failed: 0 })
  } finally {
    await rm(directory, { recursive: true })
  }

  const read = (query: string) => tenant.call('GET', `/v1/events?${query}`)
  expect((await read('count_only=true')).status).toBe(503)
  const { notes } = await written(200, 'GET', `${contact}/notes`)
  expect(notes.map(({ content }: { content: string }) => content)).toEqual(['Called back'])
  const stored = await written(200, 'GET', `${contact}?include_events=false`)
  expect(stored.contact.properties).toMatchObject({ city: 'London', firstname: 'Ada', country: 'UK' })

  back()
  await expect.poll(async () => (await read('count_only=true')).status).toBe(200)
  const countOf = async (query: string) => (await read(`count_only=true&${query}`)).body.count
  expect(await countOf('event_type=contact_created')).toBe(3)
  expect(await countOf(`event_type=contact_updated&contact_id=${ada}`)).toBe(3)
})
