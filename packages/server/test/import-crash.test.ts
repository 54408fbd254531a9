import { rm } from 'node:fs/promises'
import { expect, inject, test } from 'vitest'
import { ROWS_PER_CHUNK } from '../src/imports/chunks.ts'
import { createLog } from '../src/platform/log.ts'
import { connectPostgres } from '../src/platform/postgres/connect.ts'
import type { DB } from '../src/platform/postgres/generated/tables.ts'
import { MINUTE_MS } from '../src/platform/time.ts'
import { createDatabase } from './databases.ts'
import { startFreezingProxy } from './freezing-proxy.ts'
import { KillableService, moveDatabaseClock } from './killable.ts'
import { openDirectory } from './process.ts'
import { call, insertTenant } from './service.ts'

/** Longer than a lease. */
const AHEAD_A_KILL_MS = 10 * MINUTE_MS
const CHUNKS = 4
const ROWS = CHUNKS * ROWS_PER_CHUNK

/** Every row of an import is written and counted once, although the service is killed while it runs. */
test('an import that is killed continues where it stopped, and undoing it too', async () => {
  const directory = await openDirectory()
  const proxy = await startFreezingProxy({ path: `${inject('postgresHost')}/.s.PGSQL.5432` })
  const databaseUrl = await createDatabase()
  const postgres = connectPostgres<DB>({ connectionString: databaseUrl }, 2, createLog('silent'))
  const service = new KillableService({
    CDS_DATA_DIR: directory,
    DATABASE_URL: `postgres://cds@127.0.0.1:${proxy.port}${new URL(databaseUrl).pathname}`,
  })
  let url = ''
  let key = ''
  const ask = async (method: string, path: string, headers: Record<string, string> = {}, body?: string) => {
    const sent = { headers: { authorization: `Bearer ${key}`, ...headers }, ...(body === undefined ? {} : { body }) }
    return (await call({ url }, method, path, sent)).body
  }
  let kills = 0
  /** Kills the service at the COMMIT of a statement, which the server receives or not. @returns the next clock. */
  const killAtCommitOf = async (statement: string, isReceived: boolean, start: () => Promise<unknown>) => {
    proxy.freezeAtCommitOf(statement, isReceived)
    // It may freeze before its response.
    start().catch(() => {})
    await expect.poll(proxy.isFrozen, { timeout: 120_000, interval: 20 }).toBe(true)
    await service.kill()
    proxy.thaw()
    const ahead = ++kills * AHEAD_A_KILL_MS
    await moveDatabaseClock(databaseUrl, ahead)
    return ahead
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
    const chunks = async () =>
      (await postgres.db.selectFrom('import_chunks').select('chunk_id').where('import_id', '=', import_id).execute())
        .length
    const chunk = 'insert into "import_chunks"'
    let ahead = await killAtCommitOf(chunk, true, () => ask('POST', `${path}/start`))
    await expect.poll(chunks).toBeGreaterThan(0)
    const stored = await chunks()
    const earlier = ahead
    ahead = await killAtCommitOf(chunk, false, () => service.start(earlier))
    expect(await chunks()).toBeGreaterThanOrEqual(stored)
    expect(await chunks()).toBeLessThan(CHUNKS)
    url = await service.start(ahead)
    await expect.poll(async () => (await read()).state, { timeout: 120_000 }).toBe('completed')
    expect(await chunks()).toBe(CHUNKS)
    const failed = ROWS / 100
    const counts = { created: ROWS - failed, updated: 0, unchanged: 0, failed }
    expect(await read()).toMatchObject({ counts, row_count: ROWS })
    expect((await ask('GET', '/v1/contacts?count_only=true')).count).toBe(ROWS - failed)
    const lines = String(await ask('GET', `${path}/failed.csv`))
      .trimEnd()
      .split('\r\n')
    expect(lines).toHaveLength(failed + 1)

    ahead = await killAtCommitOf('"undone_deleted"', true, () => ask('POST', `${path}/undo`))
    url = await service.startLast(ahead)
    expect((await read()).undo.deleted).toBeGreaterThan(0)
    expect((await read()).undo.deleted).toBeLessThan(ROWS - failed)
    await expect.poll(async () => (await read()).state, { timeout: 240_000 }).toBe('undone')
    expect((await read()).undo).toEqual({ deleted: ROWS - failed, restored: 0, kept: 0, companies_deleted: 0 })
    expect((await ask('GET', '/v1/contacts?count_only=true')).count).toBe(0)
  } finally {
    await service.close()
    await postgres.close()
    await proxy.close()
    await rm(directory, { recursive: true, force: true, maxRetries: 10 })
  }
})
