import { readdirSync } from 'node:fs'
import { afterAll, beforeAll, beforeEach, expect, test } from 'vitest'
import { createTestTenant, startTestService, type TestService, type TestTenant } from '../../test/service.ts'
import { until } from '../../test/webhooks.ts'
import { newId } from '../platform/ids.ts'
import { DAY_MS } from '../platform/time.ts'
import { exportDirectory, requestExport } from './exports.ts'

/* Each export is a copy of everything on the disk of the service, so a key that only reads must not repeat it without limit. */

const PER_DAY = 5
let shift = 0
let service: TestService
let tenant: TestTenant
let key: string

beforeAll(async () => {
  service = await startTestService({}, { clock: () => new Date(Date.now() + shift) })
})
afterAll(() => service?.close())
beforeEach(async () => {
  shift = 0
  tenant = await createTestTenant(service)
  await tenant.contact('ada@example.com')
  key = await tenant.keyWith('data:export')
})

const request = () => tenant.call('POST', '/v1/exports', undefined, key)

async function exported(): Promise<string> {
  const { status, body } = await request()
  expect([status, body.error]).toEqual([202, undefined])
  await until(async () => {
    const { body: found } = await tenant.call('GET', `/v1/exports/${body.export_id}`, undefined, key)
    expect(found.export.status).toBe('ready')
  })
  return body.export_id
}

const rows = () => tenant.handle.db.selectFrom('exports').select('export_id').execute()
const entries = async () => (await tenant.call('GET', '/v1/audit-log?subject_kind=export')).body.entries

test('a tenant has five exports in 24 hours, and more take no room', async () => {
  const ids: string[] = []
  for (let made = 0; made < PER_DAY; made++) {
    ids.push(await exported())
    shift += 60_000
  }
  for (let repeated = 0; repeated < 3; repeated++) {
    const { status, body, headers } = await request()
    expect([status, body.error.code]).toEqual([429, 'export_limit_reached'])
    const waitSeconds = Number(headers.get('retry-after'))
    expect(waitSeconds).toBeGreaterThan(86_400 - 60 * (PER_DAY + 1) - 60)
    expect(waitSeconds).toBeLessThanOrEqual(86_400)
  }
  expect([(await rows()).length, (await entries()).length]).toEqual([PER_DAY, PER_DAY])
  const files = readdirSync(exportDirectory(service.config.dataDirectory))
  expect(files.filter((name) => ids.some((id) => name.startsWith(id)))).toHaveLength(PER_DAY)
  // Another tenant has its own.
  const other = await createTestTenant(service)
  expect((await other.call('POST', '/v1/exports')).status).toBe(202)

  // A day after the first one there is room for one.
  shift += DAY_MS - PER_DAY * 60_000
  await exported()
  expect((await request()).status).toBe(429)
})

test('exports that failed count, and one that is under way is returned', async () => {
  const ids = Array.from({ length: PER_DAY }, () => newId())
  const values = ids.map((export_id, index) => {
    const created_at = new Date(Date.now() - index * 1_000)
    return { export_id, status: 'failed', requested_by: '{"kind":"service"}', created_at, finished_at: created_at }
  })
  await tenant.handle.db.insertInto('exports').values(values).execute()
  expect((await request()).body.error.code).toBe('export_limit_reached')
  const [newest = ''] = ids
  await tenant.handle.db
    .updateTable('exports')
    .set({ status: 'running', finished_at: null })
    .where('export_id', '=', newest)
    .execute()
  const { status, body } = await request()
  expect([status, body.export_id]).toEqual([202, newest])
})

test('of many requests at once, one starts an export', async () => {
  const requests = Array.from({ length: 12 }, () =>
    tenant.handle.transaction((tx) => requestExport(tx, { kind: 'service' }, new Date())),
  )
  const made = await Promise.all(requests)
  expect(made.filter(({ isNew }) => isNew)).toHaveLength(1)
  expect(await rows()).toHaveLength(1)
})
