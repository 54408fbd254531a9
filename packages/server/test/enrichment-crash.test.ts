import { rm } from 'node:fs/promises'
import { expect, inject, test } from 'vitest'
import type { EnrichmentRun } from '../src/enrichment/runs/run-object.ts'
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
const CONTACTS = 5_000
const WITH_PHONE = CONTACTS / 2

/** Every contact of a run is enriched, counted and undone once, although the service is killed while it runs. */
test('an enrichment of 5,000 contacts that is killed continues where it stopped, and undoing it too', async () => {
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
  const ask = async (method: string, path: string, body?: string, type = 'application/json') => {
    const headers = { authorization: `Bearer ${key}`, 'content-type': type }
    return (await call({ url }, method, path, { headers, ...(body === undefined ? {} : { body }) })).body
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
    await ask('PATCH', '/v1/enrichment', JSON.stringify({ phone: false }))
    const rows = Array.from({ length: CONTACTS }, (_, n) => `p${n}@example.com,${n % 2 === 0 ? '+43 1 588580' : ''}\n`)
    const { import_id } = (await ask('POST', '/v1/imports', `email,phone\n${rows.join('')}`, 'text/csv')).import
    await ask('POST', `/v1/imports/${import_id}/start`, '{}')
    const importState = async () => (await ask('GET', `/v1/imports/${import_id}`)).import.state
    await expect.poll(importState, { timeout: 120_000 }).toBe('completed')
    await ask('PATCH', '/v1/enrichment', JSON.stringify({ phone: true }))
    const enriched = async () => (await ask('GET', '/v1/contacts?status=enriched&count_only=true')).count
    expect(await enriched()).toBe(0)

    const change = 'insert into "enrichment_run_changes"'
    let ahead = await killAtCommitOf(change, true, () => ask('POST', '/v1/enrichment/runs', '{}'))
    const earlier = ahead
    ahead = await killAtCommitOf(change, false, () => service.start(earlier))
    url = await service.start(ahead)
    const { run_id } = (await ask('GET', '/v1/enrichment/runs')).runs[0]
    const read = async (): Promise<EnrichmentRun> => (await ask('GET', `/v1/enrichment/runs/${run_id}`)).run
    await expect.poll(async () => (await read()).state, { timeout: 120_000 }).toBe('completed')
    const counts = { total: CONTACTS, looked_at: CONTACTS, enriched: WITH_PHONE, unchanged: WITH_PHONE, failed: 0 }
    expect(await read()).toMatchObject(counts)
    expect(await enriched()).toBe(WITH_PHONE)
    const updates = async () => (await ask('GET', '/v1/events?event_type=contact_updated&count_only=true')).count
    await expect.poll(updates).toBe(WITH_PHONE)

    const undo = () => ask('POST', `/v1/enrichment/runs/${run_id}/undo`, '{}')
    ahead = await killAtCommitOf('"undone_restored"', true, undo)
    url = await service.startLast(ahead)
    await expect.poll(async () => (await read()).state, { timeout: 120_000 }).toBe('undone')
    expect((await read()).undo).toEqual({
      restored: WITH_PHONE,
      kept: 0,
      companies_deleted: 0,
      kept_contacts: [],
    })
    expect(await enriched()).toBe(0)
  } finally {
    await service.close()
    await postgres.close()
    await proxy.close()
    await rm(directory, { recursive: true, force: true, maxRetries: 10 })
  }
})
