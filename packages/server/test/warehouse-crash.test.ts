import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { connectClickHouse } from '../src/platform/clickhouse/connect.ts'
import { createLog } from '../src/platform/log.ts'
import { connectPostgres } from '../src/platform/postgres/connect.ts'
import type { DB } from '../src/platform/postgres/generated/tables.ts'
import { MINUTE_MS } from '../src/platform/time.ts'
import { createDatabase } from './databases.ts'
import { KillableService, moveDatabaseClock } from './killable.ts'
import { openDirectory } from './process.ts'
import { call, insertTenant } from './service.ts'
import { type Manifest, readerOfFolder } from './warehouse.ts'

/** Longer than a lease and than the pause after a failure. */
const AHEAD_A_KILL_MS = 10 * MINUTE_MS
const KILLS = 2
const BATCHES = 60
const EVENTS_A_BATCH = 50

/** Every event is in exactly one file that a manifest names, although the service is killed while it exports. */
test('an export that is killed is continued, and misses and doubles nothing', async () => {
  const directory = await openDirectory()
  const warehouse = await mkdtemp(join(tmpdir(), 'cds-warehouse-'))
  const databaseUrl = await createDatabase()
  const postgres = connectPostgres<DB>({ connectionString: databaseUrl }, 2, createLog('silent'))
  const service = new KillableService({
    CDS_DATA_DIR: directory,
    DATABASE_URL: databaseUrl,
    CDS_WAREHOUSE_DIR: warehouse,
  })
  const reading = await mkdtemp(join(tmpdir(), 'cds-reader-'))
  let url = ''
  let key = ''
  const ask = async (method: string, path: string, body?: object) => {
    const sent = { headers: { authorization: `Bearer ${key}` }, ...(body ? { body: JSON.stringify(body) } : {}) }
    return (await call({ url }, method, path, sent)).body
  }
  const record = async (name: string) => {
    for (let batch = 0; batch < BATCHES; batch++) {
      const events = Array.from({ length: EVENTS_A_BATCH }, (_, n) => ({
        event: name,
        email: `p${n}@example.com`,
        data: { text: 'x'.repeat(2_000) },
      }))
      const { failed } = await ask('POST', '/v1/events', { events })
      expect(failed).toBe(0)
    }
  }
  try {
    url = await service.start()
    const tenant = await insertTenant(postgres.db)
    key = tenant.key
    await record('before')
    const made = await ask('POST', '/v1/warehouse', { name: 'Folder', type: 'folder', schedule: null })
    const id = made.destination.destination_id
    const filesOf = async (runId: string) => {
      const { run } = await ask('GET', `/v1/warehouse/runs/${runId}`)
      return {
        run,
        files: Object.values(run.tables as Record<string, { files: number }>).reduce((n, t) => n + t.files, 0),
      }
    }
    const manifests: Manifest[] = []
    for (let kill = 1; kill <= KILLS; kill++) {
      await record(`during ${kill}`)
      const { run_id } = await ask('POST', `/v1/warehouse/${id}/run`)
      // Between its start and its end, wherever that is.
      await expect
        .poll(async () => (await filesOf(run_id)).run.status, { timeout: 60_000, interval: 5 })
        .not.toBe('queued')
      await service.kill()
      await moveDatabaseClock(databaseUrl, kill * AHEAD_A_KILL_MS)
      url = await service.start(kill * AHEAD_A_KILL_MS)
      await record(`after ${kill}`)
      await expect.poll(async () => (await filesOf(run_id)).run.status, { timeout: 120_000 }).toBe('succeeded')
      const { run } = await filesOf(run_id)
      const reader = readerOfFolder({ stores: {} } as never, join(warehouse, tenant.id))
      manifests.push(await reader.manifest(run.manifest))
    }
    const { run_id } = await ask('POST', `/v1/warehouse/${id}/run`)
    await expect.poll(async () => (await filesOf(run_id)).run.status, { timeout: 120_000 }).toBe('succeeded')
    const clickhouse = await connectClickHouse({ path: reading })
    try {
      const reader = readerOfFolder({ stores: { clickhouse } } as never, join(warehouse, tenant.id))
      manifests.push(await reader.manifest())
      const rows = []
      for (const manifest of manifests) rows.push(...(await reader.rows('events', manifest)))
      const ids = rows.map(({ event_id }) => event_id)
      expect(new Set(ids).size).toBe(ids.length)
      const { pagination } = await ask('GET', '/v1/events?include=system&limit=1')
      expect(ids.length).toBe(pagination.total_items)
      expect(await reader.rows('contacts', await reader.manifest())).toHaveLength(EVENTS_A_BATCH)
    } finally {
      await clickhouse.close()
    }
  } finally {
    await service.close()
    await postgres.close()
    for (const each of [directory, warehouse, reading]) await rm(each, { recursive: true, force: true, maxRetries: 10 })
  }
}, 900_000)
