import { beforeAll, expect, test } from 'vitest'
import {
  createTestTenant,
  sharedService,
  startTestService,
  type TestService,
  type TestTenant,
} from '../../test/service.ts'
import { newId } from '../platform/ids.ts'

const S3 = {
  name: 'Warehouse',
  type: 's3',
  endpoint: 'https://storage.example.com',
  bucket: 'exports',
  access_key_id: 'AKIA',
  secret_access_key: 'a-very-secret-key',
}

let service: TestService
let tenant: TestTenant
beforeAll(async () => {
  service = await sharedService()
  tenant = await createTestTenant(service)
})

const create = (input: object, of = tenant) => of.call('POST', '/v1/warehouse', input)

test.each([
  ['http://storage.example.com', 'without TLS'],
  ['https://127.0.0.1:9000', 'a private address'],
  ['https://169.254.169.254', 'the metadata service'],
  ['https://[::1]', 'a private address in IPv6'],
  ['https://minio', 'a local name'],
  ['https://user:password@storage.example.com', 'with a password'],
  ['https://storage.example.com:22', 'a port of another protocol'],
  ['ftp://storage.example.com', 'another protocol'],
  ['storage', 'no URL'],
])('the endpoint %s (%s) is refused', async (endpoint) => {
  const { status, body } = await create({ ...S3, endpoint })
  expect([status, body.error.code]).toEqual([400, 'url_not_allowed'])
})

test('a schedule uses the time zone that it is given', async () => {
  const made = await create({ ...S3, prefix: 'zoned', schedule: '0 6 * * *', time_zone: 'Europe/Berlin' })
  expect([made.status, made.body.destination.time_zone]).toEqual([201, 'Europe/Berlin'])
  const path = `/v1/warehouse/${made.body.destination.destination_id}`
  const changed = await tenant.call('PATCH', path, { schedule: 'daily', time_zone: 'Asia/Tokyo' })
  expect([changed.status, changed.body.destination]).toEqual([
    200,
    expect.objectContaining({ schedule: 'daily', time_zone: 'Asia/Tokyo' }),
  ])
})

test('an address that becomes private later is refused when it is called', async () => {
  const dns = { address: '93.184.215.14', family: 4 }
  const own = await startTestService({}, { outbound: { resolve: async () => [dns] } })
  try {
    const other = await createTestTenant(own)
    const { body } = await create(S3, other)
    dns.address = '127.0.0.1'
    const tested = await other.call('POST', `/v1/warehouse/${body.destination.destination_id}/test`)
    expect([tested.status, tested.body.error.code]).toEqual([400, 'url_not_allowed'])
  } finally {
    await own.close()
  }
})

test.each([
  ['a bucket that is a path', { bucket: 'a/../b' }, 'bucket'],
  ['no bucket', { bucket: undefined }, 'bucket'],
  ['no key', { access_key_id: undefined }, 'access_key_id'],
  ['no secret', { secret_access_key: undefined }, 'secret_access_key'],
  ['a line break in the key', { access_key_id: 'a\r\nx: y' }, 'access_key_id'],
  ['a region with a slash', { region: 'a/b' }, 'region'],
  ['a path in the endpoint', { endpoint: 'https://storage.example.com/exports' }, 'endpoint'],
  ['an unknown schedule', { schedule: 'sometimes' }, 'schedule'],
  ['a schedule of every minute', { schedule: '* * * * *' }, 'schedule'],
  ['an unknown time zone', { time_zone: 'Mars/Olympus' }, 'time_zone'],
  ['a bucket for a folder', { type: 'folder', endpoint: undefined }, 'bucket'],
])('%s is refused, and the error names the place', async (_, more, path) => {
  const { status, body } = await create({ ...S3, ...more })
  expect([status, body.error.code]).toEqual([400, 'validation_error'])
  expect(body.error.details.map((detail: { path: string }) => detail.path)).toContain(path)
})

test('without CDS_WAREHOUSE_DIR there are no folders', async () => {
  const { status, body } = await create({ name: 'x', type: 'folder' })
  expect([status, body.error.code]).toEqual([409, 'warehouse_folder_off'])
  expect((await tenant.call('GET', '/v1/warehouse')).body.has_folders).toBe(false)
})

test('two destinations cannot write to the same place, but other tenants can', async () => {
  const own = await createTestTenant(service)
  expect((await create(S3, own)).status).toBe(201)
  const again = await create({ ...S3, name: 'Again', endpoint: 'https://STORAGE.example.com/' }, own)
  expect([again.status, again.body.error.code]).toEqual([409, 'warehouse_place_taken'])
  expect((await create({ ...S3, prefix: 'other' }, own)).status).toBe(201)
  expect((await create(S3, await createTestTenant(service))).status).toBe(201)
})

test('a tenant may have 20 destinations', async () => {
  const own = await createTestTenant(service)
  const made = await Promise.all(Array.from({ length: 22 }, (_, n) => create({ ...S3, prefix: `p${n}` }, own)))
  expect(made.filter(({ status }) => status === 201)).toHaveLength(20)
  const refused = made.filter(({ status }) => status === 409)
  expect(refused.map(({ body }) => body.error.code)).toEqual(Array(2).fill('too_many_warehouse_destinations'))
})

test('the secret appears in no response, audit entry or log, and not as clear text in any table', async () => {
  const own = await createTestTenant(service)
  const { body } = await create(S3, own)
  const path = `/v1/warehouse/${body.destination.destination_id}`
  const patched = await own.call('PATCH', path, { access_key_id: 'OTHER', secret_access_key: 'another-secret-key' })
  expect(patched.body).toMatchObject({
    changed: ['access_key_id', 'secret_access_key'],
    destination: { access_key_id: 'OTHER' },
  })
  const responses = await Promise.all([path, '/v1/warehouse', '/v1/audit-log'].map((each) => own.call('GET', each)))
  const rows = await own.handle.db.selectFrom('warehouse_destinations').selectAll().execute()
  const shown = JSON.stringify([body, patched.body, responses.map((response) => response.body), rows, service.logged])
  expect(shown).not.toMatch(/a-very-secret-key|another-secret-key/)
  expect(responses[2]?.body.entries.map((entry: { action: string }) => entry.action)).toEqual(
    expect.arrayContaining(['warehouse.created', 'warehouse.updated']),
  )
})

test('a new key needs its secret', async () => {
  const own = await createTestTenant(service)
  const { body } = await create(S3, own)
  const path = `/v1/warehouse/${body.destination.destination_id}`
  const refused = await own.call('PATCH', path, { access_key_id: 'OTHER' })
  expect([refused.status, refused.body.error.details[0].path]).toEqual([400, 'secret_access_key'])
})

test('other tenants cannot use a destination or a run', async () => {
  const { body } = await create({ ...S3, prefix: 'private' })
  const id = body.destination.destination_id
  const started = await tenant.call('POST', `/v1/warehouse/${id}/run`)
  const stranger = await createTestTenant(service)
  const calls: [string, string, object?][] = [
    ['GET', id],
    ['PATCH', id, { name: 'mine' }],
    ['POST', `${id}/run`],
    ['POST', `${id}/pause`],
    ['POST', `${id}/resume`],
    ['POST', `${id}/test`],
    ['GET', `${id}/runs`],
    ['GET', `runs/${started.body.run_id}`],
    ['GET', newId()],
    ['DELETE', id],
  ]
  for (const [method, path, sent] of calls) {
    const { status } = await stranger.call(method, `/v1/warehouse/${path}`, sent)
    expect([method, path, status]).toEqual([method, path, 404])
  }
  const deleted = await tenant.call('DELETE', `/v1/warehouse/${id}`)
  expect(deleted.body).toMatchObject({ deleted: true, name: 'Warehouse' })
  expect((await tenant.call('GET', `/v1/warehouse/runs/${started.body.run_id}`)).status).toBe(404)
})

test('changing a destination needs its scopes and those of the data that it carries', async () => {
  const needed = ['data:export', 'settings:write', 'contacts:read', 'companies:read', 'events:read']
  for (const scope of needed) {
    const key = await tenant.keyWith(...needed.filter((other) => other !== scope))
    const { status, body } = await tenant.call('POST', '/v1/warehouse', { ...S3, prefix: 'scopes' }, key)
    expect([scope, status, body.error.code]).toEqual([scope, 403, 'insufficient_scope'])
  }
  const key = await tenant.keyWith(...needed)
  expect((await tenant.call('POST', '/v1/warehouse', { ...S3, prefix: 'scopes' }, key)).status).toBe(201)
})
