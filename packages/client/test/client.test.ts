import { once } from 'node:events'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { beforeAll, expect, onTestFinished, test } from 'vitest'
import { createTestTenant, sharedService, type TestService, type TestTenant } from '../../server/test/service.ts'
import { CustomerData, type CustomerDataError } from '../src/index.ts'
import { startFailingFront } from './failing-front.ts'

let service: TestService
let tenant: TestTenant
let client: CustomerData
beforeAll(async () => {
  service = await sharedService()
  tenant = await createTestTenant(service)
  client = new CustomerData({ url: service.url, apiKey: tenant.key })
})

const failureOf = (promise: Promise<unknown>): Promise<CustomerDataError> =>
  promise.then(
    () => {
      throw new Error('it did not fail')
    },
    (error) => error,
  )

const BUSY = { status: 503, headers: { 'retry-after': '0' }, body: '{"error":{"code":"store_unavailable"}}' }
const LIMITED = { status: 429, headers: { 'retry-after': '0' }, body: '{"error":{"code":"rate_limited"}}' }

test('a contact is created, read, changed and deleted', async () => {
  const { contact } = await client.createContact({ email: 'ada@example.com', properties: { firstname: 'Ada' } })
  const { contact_id } = contact
  await client.updateContact({ contact_id, properties: { city: 'London' } })
  expect((await client.getContact({ contact_id })).contact.properties).toMatchObject({
    firstname: 'Ada',
    city: 'London',
  })
  expect(await client.deleteContact({ contact_id })).toMatchObject({ deleted: true })
  expect(await failureOf(client.getContact({ contact_id }))).toMatchObject({ code: 'not_found', status: 404 })
})

test('a list is one page if awaited, and all records in a loop', async () => {
  const other = await createTestTenant(service)
  for (let index = 0; index < 5; index++) await other.contact(`${index}@example.com`)
  const lists = new CustomerData({ url: service.url, apiKey: other.key })
  const { contacts, pagination } = await lists.listContacts({ limit: 2, sort_by: 'email', sort_dir: 'asc' })
  expect([contacts?.length, pagination?.total_pages]).toEqual([2, 3])
  const emails: unknown[] = []
  for await (const contact of lists.listContacts({ limit: 2, sort_by: 'email', sort_dir: 'asc' })) {
    emails.push(contact.properties?.email)
  }
  expect(emails).toEqual([0, 1, 2, 3, 4].map((index) => `${index}@example.com`))
  const none: unknown[] = []
  for await (const company of lists.listCompanies()) none.push(company)
  expect(none).toEqual([])
})

test('a file is read from its response, and an error of a file is thrown', async () => {
  const other = await createTestTenant(service)
  await other.contact('ada@example.com')
  const files = new CustomerData({ url: service.url, apiKey: other.key })
  const response = await files.exportContacts({ columns: 'email' })
  expect(await response.text()).toContain('ada@example.com')
  const stream = await files.liveEvents({ timeoutMs: 5_000 })
  expect(stream.headers.get('content-type')).toMatch('text/event-stream')
  await stream.body?.cancel()
  const failed = files.downloadExport({ export_id: 'none' })
  expect(await failureOf(failed)).toMatchObject({ code: 'not_found', status: 404 })
})

test('a list that counts by offset is read to its end too', async () => {
  const names = ['one', 'two', 'three']
  for (const name of names) {
    await client.createAgent({ name })
  }
  const found: string[] = []
  for await (const agent of client.listAgents({ limit: 2 })) found.push(agent.name)
  expect(found.toSorted()).toEqual(names.toSorted())
})

test('parameters go into the path, the query, the body or a text', async () => {
  expect(await client.addSuppression({ address: 'a+b/c?d@example.com' })).toMatchObject({ status: 'success' })
  expect(await client.getSuppression({ address: 'a+b/c?d@example.com' })).toMatchObject({ status: 'success' })
  const uploaded = await client.uploadImport({ file_name: 'people.csv', body: 'Email,City\ngrace@example.com,Paris\n' })
  expect(uploaded.import).toMatchObject({ file_name: 'people.csv' })
  const { buckets } = await client.aggregate({ entity: 'contacts', group_by: 'lifecycle_stage' })
  expect(Array.isArray(buckets)).toBe(true)
  expect((await client.listContacts({ count_only: true })).count).toBeTypeOf('number')
})

test.each(['', '.', '..', undefined])('an id that would lead to another path is refused: %o', async (contact_id) => {
  await expect(client.deleteContact({ contact_id: contact_id as string })).rejects.toThrow(/`contact_id`/)
})

test('an id with a slash stays one part of the path', async () => {
  expect(await failureOf(client.getContact({ contact_id: '../companies' }))).toMatchObject({ code: 'not_found' })
})

test('an error has the code, the status, the wrong fields and the id of the request', async () => {
  const invalid = await failureOf(client.createContact({ email: 'no address' }))
  expect(invalid).toMatchObject({
    name: 'CustomerDataError',
    code: 'validation_error',
    status: 400,
    details: [{ path: 'email', message: expect.any(String) }],
    requestId: expect.any(String),
  })
  const reader = new CustomerData({ url: service.url, apiKey: await tenant.keyWith('contacts:read') })
  expect(await failureOf(reader.createContact({ email: 'x@example.com' }))).toMatchObject({
    code: 'insufficient_scope',
  })
  const stranger = new CustomerData({ url: service.url, apiKey: 'cds_wrong' })
  expect(await failureOf(stranger.listContacts())).toMatchObject({ code: 'invalid_api_key', status: 401 })
})

test('reads and changes of named fields are repeated after a failure that may pass', async () => {
  const front = await startFailingFront(service)
  const through = new CustomerData({ url: `${front.url}/`, apiKey: tenant.key })
  front.failures = [BUSY, 'lost request']
  expect((await through.listContacts({ limit: 1 })).status).toBe('success')
  expect(front.requests).toHaveLength(3)
  front.failures = [BUSY, BUSY, BUSY]
  expect(await failureOf(through.listContacts())).toMatchObject({ code: 'store_unavailable', status: 503 })
  front.failures = [BUSY]
  expect(await failureOf(through.listContacts({}, { retriesMax: 0 }))).toMatchObject({ code: 'store_unavailable' })
})

test('a request that creates something is repeated if it was not performed, or with a key', async () => {
  const front = await startFailingFront(service)
  const through = new CustomerData({ url: front.url, apiKey: tenant.key })
  front.failures = ['lost response']
  const cut = await failureOf(through.createCompany({ name: 'Once' }))
  expect([cut.code, front.requests.length]).toEqual(['connection_failed', 1])
  front.failures = [LIMITED]
  await through.createCompany({ name: 'Limited' })
  front.failures = ['lost response']
  await through.createCompany({ name: 'Keyed' }, { idempotencyKey: 'company-1' })
  const companies: unknown[] = []
  for await (const { name } of through.listCompanies()) companies.push(name)
  expect(companies.toSorted()).toEqual(['Keyed', 'Limited', 'Once'])
})

test('headers of the response can be read, and sent', async () => {
  const { contact } = await client.createContact({ email: 'etag@example.com' })
  const { contact_id } = contact
  let etag = ''
  await client.getContact({ contact_id }, { onResponse: ({ headers }) => (etag = headers.get('etag') ?? '') })
  const ifMatch = { headers: { 'If-Match': etag } }
  await client.updateContact({ contact_id, properties: { city: 'Rome' } }, ifMatch)
  const late = await failureOf(client.updateContact({ contact_id, properties: { city: 'Oslo' } }, ifMatch))
  expect(late).toMatchObject({ code: 'changed_meanwhile', status: 412 })
})

/** A server that is not the service. */
async function elsewhere(respond: (response: import('node:http').ServerResponse) => void): Promise<CustomerData> {
  const server = createServer((_, response) => respond(response)).listen(0, '127.0.0.1')
  await once(server, 'listening')
  onTestFinished(() => {
    server.closeAllConnections()
    server.close()
  })
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`
  return new CustomerData({ url, apiKey: 'cds_key', retriesMax: 0 })
}

test('what responds instead of the service is named', async () => {
  const page = await elsewhere((response) => response.writeHead(404).end('<html>Not here</html>'))
  expect(await failureOf(page.listContacts())).toMatchObject({ code: 'unexpected_response', status: 404 })
  const moved = await elsewhere((response) => response.writeHead(301, { location: 'https://x.example/' }).end())
  const redirected = await failureOf(moved.createContact({ email: 'a@example.com' }))
  expect(redirected).toMatchObject({ code: 'redirected', message: expect.stringContaining('https://x.example/') })
  const html = await elsewhere((response) => response.end('<html>'))
  expect(await failureOf(html.listContacts())).toMatchObject({ code: 'unexpected_response' })
})

test('a silent service times out, and a caller can abort', async () => {
  const silent = await elsewhere(() => {})
  expect(await failureOf(silent.listContacts({}, { timeoutMs: 50 }))).toMatchObject({ code: 'timeout', status: 0 })
  const aborting = new AbortController()
  const call = failureOf(silent.listContacts({}, { signal: aborting.signal }))
  aborting.abort()
  expect(await call).toMatchObject({ code: 'aborted' })
})

test('a client without a URL or a key is refused at once', () => {
  expect(() => new CustomerData({ url: 'data.example.com', apiKey: 'cds_key' })).toThrow(/`url`/)
  expect(() => new CustomerData({ url: service.url, apiKey: '' })).toThrow(/`apiKey`/)
})
