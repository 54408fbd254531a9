import { rm } from 'node:fs/promises'
import { expect, test } from 'vitest'
import { createLog } from '../src/platform/log.ts'
import { connectPostgres } from '../src/platform/postgres/connect.ts'
import type { DB } from '../src/platform/postgres/generated/tables.ts'
import { MINUTE_MS } from '../src/platform/time.ts'
import { createDatabase } from './databases.ts'
import { KillableService, moveDatabaseClock, superviseJobs } from './killable.ts'
import { openDirectory } from './process.ts'
import { call, insertTenant } from './service.ts'

/** Longer than a job's heartbeats may be missing. */
const AHEAD_A_KILL_MS = 10 * MINUTE_MS
const ROWS = 24_000
const KILLS = 2

/** Every row of an import is written and counted once, although the service is killed while it runs. */
test('an import that is killed continues where it stopped, and undoing it too', async () => {
  const directory = await openDirectory()
  const databaseUrl = await createDatabase()
  const postgres = connectPostgres<DB>({ connectionString: databaseUrl }, 2, createLog('silent'))
  const service = new KillableService({ CDS_DATA_DIR: directory, DATABASE_URL: databaseUrl })
  let url = ''
  let key = ''
  const ask = async (method: string, path: string, headers: Record<string, string> = {}, body?: string) => {
    const sent = { headers: { authorization: `Bearer ${key}`, ...headers }, ...(body === undefined ? {} : { body }) }
    return (await call({ url }, method, path, sent)).body
  }
  try {
    url = await service.start()
    key = (await insertTenant(postgres.db)).key
    const rows = Array.from({ length: ROWS }, (_, n) =>
      n % 100 === 0 ? `bad${n},x\n` : `p${n}@example.com,${'x'.repeat(40)}\n`,
    )
    const file = `email,city\n${rows.join('')}`
    const { import_id } = (await ask('POST', '/v1/imports', { 'content-type': 'text/csv' }, file)).import
    const path = `/v1/imports/${import_id}`
    const read = async () => (await ask('GET', path)).import
    const done = async () => Object.values((await read()).counts as Record<string, number>).reduce((a, b) => a + b, 0)
    /** Kills the service once `progress` has grown, and starts it again. */
    const killWhile = async (progress: () => Promise<number>, kill: number) => {
      const before = await progress()
      await expect.poll(progress, { timeout: 120_000, interval: 20 }).toBeGreaterThan(before)
      await service.kill()
      await moveDatabaseClock(databaseUrl, kill * AHEAD_A_KILL_MS)
      url = await service.start(kill * AHEAD_A_KILL_MS)
      await superviseJobs(databaseUrl)
    }
    await ask('POST', `${path}/start`)
    for (let kill = 1; kill <= KILLS; kill++) await killWhile(done, kill)
    await expect.poll(async () => (await read()).state, { timeout: 120_000 }).toBe('completed')
    const failed = ROWS / 100
    const counts = { created: ROWS - failed, updated: 0, unchanged: 0, failed }
    expect(await read()).toMatchObject({ counts, row_count: ROWS })
    expect((await ask('GET', '/v1/contacts?count_only=true')).count).toBe(ROWS - failed)
    const lines = String(await ask('GET', `${path}/failed.csv`))
      .trimEnd()
      .split('\r\n')
    expect(lines).toHaveLength(failed + 1)

    await ask('POST', `${path}/undo`)
    await killWhile(async () => (await read()).undo.deleted, KILLS + 1)
    await expect.poll(async () => (await read()).state, { timeout: 240_000 }).toBe('undone')
    expect((await read()).undo).toEqual({ deleted: ROWS - failed, restored: 0, kept: 0, companies_deleted: 0 })
    expect((await ask('GET', '/v1/contacts?count_only=true')).count).toBe(0)
  } finally {
    await service.close()
    await postgres.close()
    await rm(directory, { recursive: true, force: true, maxRetries: 10 })
  }
}, 900_000)
