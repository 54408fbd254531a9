import { readdirSync } from 'node:fs'
import { join } from 'node:path'
import { beforeAll, expect, test } from 'vitest'
import { OPERATIONS } from '../src/assembly/all-operations.ts'
import { isReading, routeOf } from '../src/operations/declare.ts'
import { newId } from '../src/platform/ids.ts'
import { exportDirectory } from '../src/tenant-export/exports.ts'
import { exampleOf, fill, fillBody, oneOfEach } from './one-of-each.ts'
import { call, createTestTenant, startTestService, type TestService, type TestTenant } from './service.ts'

/*
 * A caller that only reads must not fill the disk, however often it repeats a request. Reading stores nothing, and what
 * stores something without a scope for writing is named here with what limits it.
 */

/** The scopes that change nothing here. */
const READS = /:read$|^data:export$|^any-key$/

/** What is stored by an operation that a reader may call, and what limits that. */
const OPERATIONS_THAT_STORE: Readonly<Record<string, string>> = {
  createExport: 'five in 24 hours: tenant-export/export-limits.test.ts',
  runWarehouseExport: 'ten in 24 hours: warehouse/run-limits.test.ts',
  testWarehouseDestination: 'a small file, which it deletes; as many as downloads: warehouse/run-limits.test.ts',
  pauseWarehouseDestination: 'as many as downloads: warehouse/run-limits.test.ts',
  resumeWarehouseDestination: 'as many as downloads: warehouse/run-limits.test.ts',
  createWarehouseDestination: 'needs settings:write',
  updateWarehouseDestination: 'needs settings:write',
  deleteWarehouseDestination: 'needs settings:write',
  updateConnectedApp: 'needs settings:write, or as many as downloads: access/oauth/own-app-limits.test.ts',
  revokeConnectedApp: 'needs settings:write, or as many as downloads: access/oauth/own-app-limits.test.ts',
  subscribeToDashboard: 'one row for each person and dashboard',
  unsubscribeFromDashboard: 'deletes',
  startAuthorization: 'needs identities:write or settings:write',
  completeAuthorization: 'ends one that such a caller started',
}

/** The same for routes that are no operations. */
const ROUTES_THAT_STORE: Readonly<Record<string, string>> = {
  'GET /v1/contacts/export.csv': 'as many as downloads: overview/download-limits.test.ts',
  'GET /v1/companies/export.csv': 'as many as downloads: overview/download-limits.test.ts',
  'GET /v1/events/export.csv': 'as many as downloads: overview/download-limits.test.ts',
  'GET /v1/reports/:report_id/export.csv': 'as many as downloads: overview/download-limits.test.ts',
  'GET /v1/exports/:export_id/file': 'as many as downloads: overview/download-limits.test.ts',
  'POST /api/oauth/authorization': 'as many as downloads: access/oauth/own-app-limits.test.ts',
  'POST /api/auth/two-factor/enable': 'replaces the secret of the person',
  'POST /api/auth/two-factor/disable': 'deletes',
  'POST /api/auth/two-factor/get-totp-uri': 'nothing',
  'POST /api/auth/two-factor/generate-backup-codes': 'replaces those of the person',
  'POST /api/auth/change-password': 'replaces the password',
  'POST /api/auth/revoke-other-sessions': 'deletes',
  'PATCH /api/me': 'replaces the name',
  'POST /api/tenant': 'replaces the choice of the session',
  'GET /v1/live': 'nothing',
  'GET /api/me': 'nothing',
  'GET /api/oauth/authorization': 'nothing',
  'POST /mcp': 'what its operations store',
  'POST /mcp/': 'what its operations store',
}

let service: TestService
let tenant: TestTenant

beforeAll(async () => {
  service = await startTestService()
  tenant = await createTestTenant(service)
  return () => service.close()
})

test('every operation that stores something and needs no scope for writing has a limit', () => {
  const storing = OPERATIONS.filter((operation) => !isReading(operation) && READS.test(operation.scope))
  expect(storing.map(({ name }) => name).sort()).toEqual(Object.keys(OPERATIONS_THAT_STORE).sort())
})

test('so has every route that is no operation', () => {
  const declared = new Set<string>(OPERATIONS.map(({ http }) => http))
  const routes = service.app.accessOfRoutes.filter(({ method, url, access }) => {
    const isForReaders = typeof access === 'string' && (READS.test(access) || ['signed-in', 'mcp'].includes(access))
    return isForReaders && method !== 'HEAD' && !declared.has(`${method} ${url}`)
  })
  expect(routes.map(({ method, url }) => `${method} ${url}`).sort()).toEqual(Object.keys(ROUTES_THAT_STORE).sort())
})

/** The number of rows of each table, and of files that the service keeps. */
async function stored(): Promise<Record<string, number>> {
  const { rows } = await service.postgres.pool.query<{ name: string }>(`SELECT table_name AS name
    FROM information_schema.columns WHERE table_schema = 'public' AND column_name = 'tenant_id' ORDER BY 1`)
  const counts: Record<string, number> = { files: filesIn(exportDirectory(service.config.dataDirectory)) }
  for (const { name } of rows) {
    const counted = await service.postgres.pool.query(`SELECT count(*) AS count FROM ${name} WHERE tenant_id = $1`, [
      tenant.id,
    ])
    counts[name] = Number(counted.rows[0].count)
  }
  return counts
}

/** Whether no check of a changed contact or company is due. A worker under load may take seconds to come to it. */
function isNothingWaiting(counts: Record<string, number>): boolean {
  return Object.entries(counts).every(([name, count]) => !name.endsWith('_checks') || count === 0)
}

function filesIn(directory: string): number {
  try {
    return readdirSync(join(directory), { recursive: true }).length
  } catch {
    return 0
  }
}

test('reading stores no row and no file, however often it is repeated', async () => {
  const ids = await oneOfEach(service, tenant, 'reader')
  const key = await tenant.keyWith(
    ...new Set(OPERATIONS.filter(isReading).map(({ scope }) => scope)).difference(new Set(['any-key'])),
  )
  const headers = { authorization: `Bearer ${key}`, 'idempotency-key': newId() }
  // What was made before may still cause something in the background.
  let before = await stored()
  await expect
    .poll(
      async () => {
        const earlier = before
        before = await stored()
        return isNothingWaiting(before) && JSON.stringify(before) === JSON.stringify(earlier)
      },
      { interval: 1_000, timeout: 60_000 },
    )
    .toBe(true)
  const reading = OPERATIONS.filter(isReading)
  const statuses: Record<string, number> = {}
  for (let repeated = 0; repeated < 2; repeated++) {
    for (const operation of reading) {
      const { method, url, hasBody } = routeOf(operation)
      const example = hasBody ? { body: fillBody(exampleOf(operation), ids) } : {}
      const { status } = await call(service, method, fill(url, ids), { headers, ...example })
      statuses[operation.name] = status
    }
  }
  // A few need more than the example of their fields; they must not outnumber the others.
  const read = Object.values(statuses).filter((status) => status === 200)
  expect(read.length).toBeGreaterThan(reading.length * 0.9)
  expect(await stored()).toEqual(before)
})
