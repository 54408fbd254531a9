import { mkdtemp, rm } from 'node:fs/promises'
import { join } from 'node:path'
import { expect, inject, test } from 'vitest'
import { createLog } from '../src/platform/log.ts'
import { connectPostgres } from '../src/platform/postgres/connect.ts'
import type { DB } from '../src/platform/postgres/generated/tables.ts'
import { MINUTE_MS } from '../src/platform/time.ts'
import { createDatabase } from './databases.ts'
import { startFreezingProxy } from './freezing-proxy.ts'
import { KillableService, moveDatabaseClock } from './killable.ts'
import { openDirectory } from './process.ts'
import { call, insertTenant, sharedService } from './service.ts'
import { type Manifest, readerOfFolder } from './warehouse.ts'

/** Longer than a lease and than the pause after a failure. */
const AHEAD_A_KILL_MS = 10 * MINUTE_MS
/** When it is killed: a file that is written is not recorded, or is; or the manifest that is written is not. */
const KILLS = [
  ['insert into "warehouse_files"', false],
  ['insert into "warehouse_files"', true],
  ['"exported_sequence" = ', false],
] as const
const EVENTS_A_BATCH = 50

/** Every event is in exactly one file that a manifest names, although the service is killed while it exports. */
test('an export that is killed is continued, and misses and doubles nothing', async () => {
  const directory = await openDirectory()
  const warehouse = await mkdtemp(join(inject('runDirectory'), 'cds-warehouse-'))
  const proxy = await startFreezingProxy({ path: `${inject('postgresHost')}/.s.PGSQL.5432` })
  const databaseUrl = await createDatabase()
  const postgres = connectPostgres<DB>({ connectionString: databaseUrl }, 2, createLog('silent'))
  const service = new KillableService({
    CDS_DATA_DIR: directory,
    DATABASE_URL: `postgres://cds@127.0.0.1:${proxy.port}${new URL(databaseUrl).pathname}`,
    CDS_WAREHOUSE_DIR: warehouse,
  })
  let url = ''
  let key = ''
  const ask = async (method: string, path: string, body?: object) => {
    const sent = { headers: { authorization: `Bearer ${key}` }, ...(body ? { body: JSON.stringify(body) } : {}) }
    return (await call({ url }, method, path, sent)).body
  }
  const record = async (name: string) => {
    const events = Array.from({ length: EVENTS_A_BATCH }, (_, n) => ({ event: name, email: `p${n}@example.com` }))
    const { failed } = await ask('POST', '/v1/events', { events })
    expect(failed).toBe(0)
  }
  try {
    url = await service.start()
    const tenant = await insertTenant(postgres.db)
    key = tenant.key
    await record('before')
    const made = await ask('POST', '/v1/warehouse', { name: 'Folder', type: 'folder', schedule: null })
    const id = made.destination.destination_id
    const succeeded = async (runId: string) => {
      const read = async () => (await ask('GET', `/v1/warehouse/runs/${runId}`)).run
      await expect.poll(async () => (await read()).status, { timeout: 120_000 }).toBe('succeeded')
      return read()
    }
    const manifests: Manifest[] = []
    for (const [index, [statement, isReceived]] of KILLS.entries()) {
      const kill = index + 1
      await record(`during ${kill}`)
      proxy.freezeAtCommitOf(statement, isReceived)
      const { run_id } = await ask('POST', `/v1/warehouse/${id}/run`)
      await expect.poll(proxy.isFrozen, { timeout: 60_000 }).toBe(true)
      await service.kill()
      proxy.thaw()
      const ahead = kill * AHEAD_A_KILL_MS
      await moveDatabaseClock(databaseUrl, ahead)
      url = await (kill < KILLS.length ? service.start(ahead) : service.startLast(ahead))
      await record(`after ${kill}`)
      const { manifest } = await succeeded(run_id)
      const reader = readerOfFolder({ stores: {} } as never, join(warehouse, tenant.id))
      manifests.push(await reader.manifest(manifest))
    }
    const { run_id } = await ask('POST', `/v1/warehouse/${id}/run`)
    await succeeded(run_id)
    // A process has at most one embedded ClickHouse, which an earlier test of this one may have opened.
    const reader = readerOfFolder(await sharedService(), join(warehouse, tenant.id))
    manifests.push(await reader.manifest())
    const rows = []
    for (const manifest of manifests) rows.push(...(await reader.rows('events', manifest)))
    const ids = rows.map(({ event_id }) => event_id)
    expect(new Set(ids).size).toBe(ids.length)
    const { pagination } = await ask('GET', '/v1/events?include=system&limit=1')
    expect(ids.length).toBe(pagination.total_items)
    expect(await reader.rows('contacts', await reader.manifest())).toHaveLength(EVENTS_A_BATCH)
  } finally {
    await service.close()
    await postgres.close()
    await proxy.close()
    for (const each of [directory, warehouse]) await rm(each, { recursive: true, force: true, maxRetries: 10 })
  }
})
