import { afterAll, beforeAll, expect, test } from 'vitest'
import { destinationIn, type Fault, type ObjectStorage, startObjectStorage } from '../../test/object-storage.ts'
import { claimHeld, setDue } from '../../test/runs.ts'
import { createTestTenant, startTestService, type TestService, type TestTenant } from '../../test/service.ts'
import { type Manifest, readerOfStorage, runExport, runWhich, type WarehouseReader } from '../../test/warehouse.ts'
import { until } from '../../test/webhooks.ts'
import { OutboundError } from '../platform/outbound/client.ts'
import { newClaim } from '../platform/postgres/lease.ts'
import { takeTurn } from '../platform/runs/kind.ts'
import { HOUR_MS } from '../platform/time.ts'
import { WAREHOUSE_ROWS } from './runs/requests.ts'
import { warehouseKind, warehouseRuns } from './runs/work.ts'
import { openBucket } from './storage/s3.ts'

let service: TestService
let storage: ObjectStorage
let reader: WarehouseReader
let aheadMs = 0

beforeAll(async () => {
  storage = await startObjectStorage()
  const clock = () => new Date(Date.now() + aheadMs)
  service = await startTestService({ CDS_WAREHOUSE_ALLOW_PRIVATE: 'on' }, { clock })
  reader = readerOfStorage(service, storage)
})
afterAll(async () => {
  await service.close()
  await storage.close()
})

async function create(tenant: TestTenant, more: object = {}): Promise<string> {
  const { status, body } = await tenant.call('POST', '/v1/warehouse', destinationIn(storage, more))
  expect([status, body.error]).toEqual([201, undefined])
  return body.destination.destination_id
}

async function tenantWithEvents(): Promise<TestTenant> {
  const tenant = await createTestTenant(service)
  await tenant.track({ visitor_id: 'v', events: [{ event: 'a' }, { event: 'b' }] })
  await tenant.contact('ada@example.com')
  return tenant
}

/** Responds to the first requests that match with a fault. */
function failing(count: number, fault: Fault, matches: (path: string) => boolean = () => true): void {
  let left = count
  storage.fault = ({ path }) => (matches(path) && left-- > 0 ? fault : null)
}

const rowsOf = (manifests: readonly Manifest[]) =>
  manifests.reduce((sum, { tables }) => sum + (tables.events?.rows ?? 0), 0)

test.each<[string, Fault]>([
  ['503, slow down', { status: 503, code: 'SlowDown' }],
  ['500', { status: 500, code: 'InternalError' }],
  ['a connection that is cut within the request', 'cut'],
])('%s: the request is repeated, and the run succeeds', async (_, fault) => {
  const tenant = await tenantWithEvents()
  const id = await create(tenant)
  failing(2, fault)
  const run = await runExport(tenant, id)
  expect([run.status, run.failures]).toEqual(['succeeded', 0])
  const manifest = await reader.manifest(run.manifest ?? '')
  expect((await reader.rows('events', manifest)).map(({ event }) => event)).toEqual(expect.arrayContaining(['a', 'b']))
})

test('403: the run says what is wrong and waits; with the right key it continues, without gaps or duplicates', async () => {
  const tenant = await tenantWithEvents()
  const id = await create(tenant, { secret_access_key: 'wrong' })
  const { body } = await tenant.call('POST', `/v1/warehouse/${id}/run`)
  const waiting = await runWhich(tenant, body.run_id, ({ status }) => status === 'retrying')
  expect(waiting).toMatchObject({
    failures: 1,
    manifest: null,
    error: expect.stringContaining('SignatureDoesNotMatch'),
  })
  expect(Date.parse(waiting.next_attempt_at ?? '')).toBeGreaterThan(Date.now())
  await tenant.track({ visitor_id: 'v', events: [{ event: 'c' }] })
  const { secret_access_key } = destinationIn(storage)
  const changed = await tenant.call('PATCH', `/v1/warehouse/${id}`, { secret_access_key })
  expect(changed.body.changed).toEqual(['secret_access_key'])
  // It starts the next attempt of the same run now.
  const run = await runExport(tenant, id)
  expect(run).toMatchObject({ run_id: body.run_id, status: 'succeeded', failures: 1, error: null })
  const first = await reader.manifest(run.manifest ?? '')
  const second = await reader.manifest((await runExport(tenant, id)).manifest ?? '')
  expect((await reader.rows('events', second)).map(({ event }) => event)).toEqual(['c'])
  const { body: counted } = await tenant.call('GET', '/v1/events?include=system&limit=1')
  expect(rowsOf([first, second])).toBe(counted.pagination.total_items)
})

test('a run that fails after some files continues after them; until its manifest is written, no reader sees any', async () => {
  const tenant = await tenantWithEvents()
  const id = await create(tenant, { prefix: 'partly' })
  failing(100, { status: 403, code: 'AccessDenied' }, (path) => path.includes('/contacts/'))
  const { body } = await tenant.call('POST', `/v1/warehouse/${id}/run`)
  const waiting = await runWhich(tenant, body.run_id, ({ status }) => status === 'retrying')
  expect(waiting.tables).toMatchObject({ events: { files: 1 } })
  const places = () => [...storage.objects.keys()].filter((key) => key.startsWith('exports/partly/'))
  expect(places().filter((key) => key.endsWith('.json'))).toEqual([])
  const [before] = places()
  storage.fault = () => null
  await setDue(WAREHOUSE_ROWS, tenant.handle, body.run_id)
  const run = await runWhich(tenant, body.run_id, ({ status }) => status === 'succeeded')
  expect(run.tables).toMatchObject({ events: { files: 1 }, contacts: { files: 1, rows: 1 } })
  expect(places().filter((key) => key.includes('/events/'))).toEqual([before])
})

test('a manifest that could not be recorded is written again with the same rows under the same name', async () => {
  const tenant = await tenantWithEvents()
  const id = await create(tenant, { prefix: 'cds/again' })
  failing(100, { status: 403, code: 'AccessDenied' }, (path) => path.endsWith('/latest.json'))
  const { body } = await tenant.call('POST', `/v1/warehouse/${id}/run`)
  await runWhich(tenant, body.run_id, ({ status }) => status === 'retrying')
  const manifests = () => [...storage.objects.keys()].filter((key) => key.includes('/again/manifests/'))
  const written = manifests()
  expect(written).toHaveLength(1)
  storage.fault = () => null
  await tenant.track({ visitor_id: 'v', events: [{ event: 'later' }] })
  const run = await runExport(tenant, id)
  expect(manifests()).toEqual(written)
  expect(run.run_id).toBe(body.run_id)
  await runExport(tenant, id)
  expect(manifests()).toHaveLength(2)
})

/** A run that only the test works on. */
async function heldRun(tenant: TestTenant, destination_id: string): Promise<string> {
  const run_id = crypto.randomUUID()
  const values = { run_id, destination_id, trigger: 'manual', is_full: false, status: 'queued', created_at: new Date() }
  await tenant.handle.db.insertInto('warehouse_runs').values(values).execute()
  return run_id
}

test('a full export cannot be started while another run is open', async () => {
  const tenant = await tenantWithEvents()
  const id = await create(tenant, { prefix: 'open' })
  await heldRun(tenant, id)
  const { status, body } = await tenant.call('POST', `/v1/warehouse/${id}/run`, { full: true })
  expect([status, body.error.code]).toEqual([409, 'warehouse_run_open'])
})

test('a run that waits starts at once when it is started by hand', async () => {
  const tenant = await tenantWithEvents()
  const id = await create(tenant, { prefix: 'by-hand' })
  const runId = await heldRun(tenant, id)
  expect((await runExport(tenant, id)).run_id).toBe(runId)
})

test('of two processes that work on a run, one does nothing', async () => {
  const tenant = await tenantWithEvents()
  const id = await create(tenant, { prefix: 'twice' })
  const responded = Promise.withResolvers<void>()
  const run_id = await heldRun(tenant, id)
  const first = workOn(tenant, run_id, responded.promise)
  await runWhich(tenant, run_id, ({ status }) => status === 'running')
  const none = new AbortController().signal
  expect(await warehouseRuns({ ...service, clock: () => new Date() }).work(service, tenant.handle, run_id, none)).toBe(
    false,
  )
  const keys = () => [...storage.objects.keys()].filter((key) => key.startsWith('exports/twice/'))
  expect(keys()).toEqual([])
  responded.resolve()
  await first
  const run = await runWhich(tenant, run_id, ({ status }) => status === 'succeeded')
  expect(keys().filter((key) => key.includes('/events/'))).toHaveLength(run.tables.events?.files ?? 0)
})

test('a process that loses its run to another one stops, and logs no failure', async () => {
  const tenant = await tenantWithEvents()
  const runId = await heldRun(tenant, await create(tenant, { prefix: 'taken-over' }))
  const working = workOn(tenant, runId, new Promise(() => {}))
  await runWhich(tenant, runId, ({ status }) => status === 'running')
  const rows = tenant.handle.db.updateTable('warehouse_runs').where('run_id', '=', runId)
  await rows.set(newClaim('warehouse_run')).execute()
  await working
  const ofRun = service.logged.map((line) => JSON.parse(line)).filter(({ run_id }) => run_id === runId)
  expect(ofRun.map(({ level, msg }) => [level, msg])).toEqual([
    [30, 'a run has ended, or another process continues it'],
  ])
  expect(await runWhich(tenant, runId, () => true)).toMatchObject({ status: 'running', failures: 0, error: null })
})

/** Works on a run with a storage that responds when `pending` resolves, or when the request is aborted. */
async function workOn(tenant: TestTenant, runId: string, pending: Promise<unknown>, fileMsMax?: number): Promise<void> {
  const { storageTransfer, secrets } = service
  const slow = {
    ...storageTransfer,
    send: async (call: Parameters<typeof storageTransfer.send>[0]) => {
      const aborted = new Promise<never>((_, reject) => {
        call.signal?.addEventListener('abort', () => reject(call.signal?.reason))
      })
      await Promise.race([pending, aborted])
      return storageTransfer.send(call)
    },
  }
  const dependencies = { secrets, clock: () => new Date(), warehouseDirectory: null, storageTransfer: slow }
  const kind = warehouseKind({ ...dependencies, ...(fileMsMax === undefined ? {} : { fileMsMax }) })
  const run = await claimHeld(WAREHOUSE_ROWS, tenant.handle, runId)
  await takeTurn(kind, service, run, new AbortController().signal)
}

test('a tenant has one run at a time: another one stays queued, and those of other tenants do not wait', async () => {
  const [tenant, other] = [await tenantWithEvents(), await tenantWithEvents()]
  const [first, second] = [await create(tenant, { prefix: 'one' }), await create(tenant, { prefix: 'two' })]
  const [firstRun, secondRun] = [await heldRun(tenant, first), await heldRun(tenant, second)]
  const responded = Promise.withResolvers<void>()
  const working = workOn(tenant, firstRun, responded.promise)
  await runWhich(tenant, firstRun, ({ status }) => status === 'running')
  await expect(workOn(tenant, secondRun, responded.promise)).rejects.toThrow('cannot be claimed')
  await runWhich(tenant, secondRun, ({ status }) => status === 'queued')
  await runExport(other, await create(other, { prefix: 'other' }))
  responded.resolve()
  await working
  await runWhich(tenant, firstRun, ({ status }) => status === 'succeeded')
  expect((await runExport(tenant, second)).run_id).toBe(secondRun)
})

test('a run whose storage never responds fails after a while, so that others have their turn', async () => {
  const tenant = await tenantWithEvents()
  const runId = await heldRun(tenant, await create(tenant, { prefix: 'silent' }))
  await workOn(tenant, runId, new Promise(() => {}), 200)
  const run = await runWhich(tenant, runId, ({ status }) => status === 'retrying')
  expect(run.error).toBe('The storage did not accept a file within 1 minutes.')
})

test('a request that got no response within its time is not repeated in the same run', async () => {
  const { access_key_id, secret_access_key, region, endpoint, bucket } = destinationIn(storage)
  const credentials = { accessKeyId: access_key_id, secretAccessKey: secret_access_key, region }
  let sent = 0
  const send = () => {
    sent++
    return Promise.reject(new OutboundError('timeout', 'No complete response within 2 minutes.', null))
  }
  const target = openBucket({ ...service.storageTransfer, send }, { endpoint, bucket, prefix: '' }, credentials)
  await expect(target.write('file', Buffer.from('x'), 'text/plain')).rejects.toMatchObject({ code: 'timeout' })
  expect(sent).toBe(1)
})

test('the manifest of a first run that was interrupted names a contact that was erased while it waited', async () => {
  const tenant = await tenantWithEvents()
  const contactId = await tenant.contact('forget@example.com')
  const id = await create(tenant)
  failing(100, { status: 403, code: 'AccessDenied' }, (path) => path.includes('/manifests/'))
  const { body } = await tenant.call('POST', `/v1/warehouse/${id}/run`)
  await runWhich(tenant, body.run_id, ({ status }) => status === 'retrying')
  const erasure = await tenant.call('POST', '/v1/erasures', { contact_id: contactId })
  await until(async () => {
    const { body: read } = await tenant.call('GET', `/v1/erasures/${erasure.body.receipt.erasure_id}`)
    expect(read.receipt.status).not.toBe('running')
  })
  storage.fault = () => null
  const run = await runExport(tenant, id)
  expect((await reader.manifest(run.manifest ?? '')).erased_contact_ids).toEqual([contactId])
})

test('large files are sent in parts, each repeated if it fails; a failed upload leaves no parts', async () => {
  const { access_key_id, secret_access_key, region, endpoint, bucket } = destinationIn(storage)
  const credentials = { accessKeyId: access_key_id, secretAccessKey: secret_access_key, region }
  const place = { endpoint, bucket, prefix: 'large' }
  const target = openBucket(service.storageTransfer, place, credentials)
  const bytes = Buffer.alloc(20 * 1024 * 1024, 'a large file ')
  failing(1, 'cut', (path) => path.endsWith('/whole'))
  await target.write('whole', bytes, 'text/plain')
  expect(storage.objects.get('exports/large/whole')?.equals(bytes)).toBe(true)
  storage.fault = ({ query }) => (query.get('partNumber') === '2' ? { status: 403, code: 'AccessDenied' } : null)
  await expect(target.write('broken', bytes, 'text/plain')).rejects.toMatchObject({ code: 'storage_refused' })
  storage.fault = () => null
  expect(storage.objects.has('exports/large/broken')).toBe(false)
  expect([...storage.uploads.keys()]).toEqual([])
})

test('a schedule starts runs, but not for a paused destination, and one run makes up for missed times', async () => {
  const tenant = await tenantWithEvents()
  const id = await create(tenant, { prefix: 'scheduled', schedule: 'hourly' })
  const runs = async () => (await tenant.call('GET', `/v1/warehouse/${id}/runs`)).body.runs
  aheadMs += 3 * HOUR_MS
  // The storage refuses requests from the future, and only the service's clock has moved.
  await until(async () => expect(await runs()).toMatchObject([{ trigger: 'schedule' }]))
  const paused = await tenant.call('POST', `/v1/warehouse/${id}/pause`)
  expect(paused.body.destination).toMatchObject({ status: 'paused', next_run_at: null })
  const resumed = await tenant.call('POST', `/v1/warehouse/${id}/resume`)
  const nextRunAt = Date.parse(resumed.body.destination.next_run_at)
  expect(nextRunAt - (Date.now() + aheadMs)).toBeGreaterThan(0)
  expect(nextRunAt - (Date.now() + aheadMs)).toBeLessThanOrEqual(HOUR_MS)
})
