import { afterAll, beforeAll, expect, test } from 'vitest'
import { call, createTestTenant, startTestService, type TestService, type TestTenant } from '../../test/service.ts'
import { newId } from '../platform/ids.ts'

/** The audit log keeps an entry of each download for ever, so a reader must not fill the disk with them. */

let service: TestService
let tenant: TestTenant
const now = new Date()

beforeAll(async () => {
  const settings = { CDS_RATE_LIMITS: 'on', CDS_RATE_LIMIT_DOWNLOAD_PER_MINUTE: '3' }
  service = await startTestService(settings, { clock: () => now })
  tenant = await createTestTenant(service)
})
afterAll(() => service?.close())

const entries = () =>
  tenant.handle.db.selectFrom('audit_log').select('details').where('subject_kind', '=', 'export').execute()

test('downloads of one key are limited, whatever it downloads, and those of others are not affected', async () => {
  const key = await tenant.keyWith('contacts:read', 'companies:read', 'events:read')
  const download = (path: string, apiKey = key) =>
    call(service, 'GET', path, { headers: { authorization: `Bearer ${apiKey}` } })
  const lists = ['contacts', 'companies', 'events']
  const sent = { name: 'Orders', kind: 'trend', question: { series: [{ event: 'ordered' }] } }
  const { report } = (await tenant.call('POST', '/v1/reports', sent)).body
  const ofReport = `/v1/reports/${report.report_id}/export.csv`
  for (const list of lists) expect((await download(`/v1/${list}/export.csv`)).status).toBe(200)
  for (const list of lists) {
    const { status, body, headers } = await download(`/v1/${list}/export.csv`)
    expect([status, body.error.code, headers.get('retry-after')]).toEqual([429, 'rate_limited', expect.any(String)])
  }
  expect((await download(ofReport)).status).toBe(429)
  expect(await entries()).toHaveLength(3)
  // Reading is not limited by it.
  expect((await download('/v1/contacts')).status).toBe(200)
  expect((await download('/v1/contacts/export.csv', tenant.key)).status).toBe(200)
  for (const path of [`/v1/imports/${newId()}/failed.csv`, `/v1/exports/${newId()}/file`]) {
    expect((await download(path, tenant.key)).status).toBe(404)
  }
  expect((await download(`/v1/exports/${newId()}/file`, tenant.key)).status).toBe(429)
})

test('an entry does not grow with the columns that were asked for', async () => {
  const key = await tenant.keyWith('contacts:read')
  const columns = Array.from({ length: 400 }, (_, n) => `column_${n}`).join(',')
  const { status } = await call(service, 'GET', `/v1/contacts/export.csv?columns=${columns}`, {
    headers: { authorization: `Bearer ${key}` },
  })
  expect(status).toBe(200)
  const { details } = (await entries()).at(-1) ?? {}
  expect(details).toMatchObject({ columns: expect.arrayContaining(['column_0', 'column_49']), columns_omitted: 350 })
  expect(JSON.stringify(details).length).toBeLessThan(2_500)
})
