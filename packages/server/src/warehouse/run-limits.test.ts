import { readdirSync } from 'node:fs'
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { createTestTenant, startTestService, type TestService, type TestTenant } from '../../test/service.ts'
import { runExport } from '../../test/warehouse.ts'
import { DAY_MS } from '../platform/time.ts'

/* Each run writes all contacts and companies again, maybe to the disk of the service, which deletes no exported files. */

const PER_DAY = 10
let shift = 0
let directory: string
let service: TestService
let tenant: TestTenant

beforeAll(async () => {
  directory = await mkdtemp(join(tmpdir(), 'cds-warehouse-'))
  const settings = { CDS_WAREHOUSE_DIR: directory, CDS_RATE_LIMITS: 'on', CDS_RATE_LIMIT_DOWNLOAD_PER_MINUTE: '4' }
  service = await startTestService(settings, { clock: () => new Date(Date.now() + shift) })
  tenant = await createTestTenant(service)
})
afterAll(async () => {
  await service?.close()
  await rm(directory, { recursive: true, force: true })
})

const folder = (name: string) => ({ name, type: 'folder', prefix: name, schedule: 'daily' })
const filesIn = () => readdirSync(directory, { recursive: true }).length

test('ten runs of a destination can be requested in 24 hours, full ones too, and more write nothing', async () => {
  await tenant.contact('ada@example.com')
  const made = await tenant.call('POST', '/v1/warehouse', folder('one'))
  expect([made.status, made.body.error]).toEqual([201, undefined])
  const { destination_id: id } = made.body.destination
  for (let run = 0; run < PER_DAY; run++) await runExport(tenant, id, { full: run % 2 === 0 })
  const [files, key] = [
    filesIn(),
    await tenant.keyWith('data:export', 'contacts:read', 'companies:read', 'events:read'),
  ]
  for (const full of [true, false]) {
    const { status, body, headers } = await tenant.call('POST', `/v1/warehouse/${id}/run`, { full }, key)
    expect([status, body.error.code]).toEqual([429, 'warehouse_limit_reached'])
    expect(Number(headers.get('retry-after'))).toBeGreaterThan(80_000)
  }
  expect(filesIn()).toBe(files)
  const { entries } = (await tenant.call('GET', '/v1/audit-log?limit=100')).body
  const requested = entries.filter(({ action }: { action: string }) => action === 'warehouse.run_requested')
  expect(requested).toHaveLength(PER_DAY)
  shift = DAY_MS
  await runExport(tenant, id)
})

test('resuming and testing are limited as downloads are, because the audit log keeps an entry of each; pausing is not', async () => {
  const made = await tenant.call('POST', '/v1/warehouse', folder('two'))
  const { destination_id: id } = made.body.destination
  const key = await tenant.keyWith('data:export', 'contacts:read', 'companies:read', 'events:read')
  const call = (action: string) => tenant.call('POST', `/v1/warehouse/${id}/${action}`, undefined, key)
  const actions = Array.from({ length: 4 }, () => ['pause', 'resume']).flat()
  for (const action of [...actions, 'pause']) expect((await call(action)).body.changed).toEqual(['status'])
  for (const action of ['resume', 'test']) {
    const { status, body } = await call(action)
    expect([status, body.error.code]).toEqual([429, 'rate_limited'])
  }
  const { entries } = (await tenant.call('GET', `/v1/audit-log?subject_id=${id}`)).body
  expect((await call('pause')).body.changed).toEqual([])
  expect(entries).toHaveLength(2 + actions.length)
})
