import { readdirSync } from 'node:fs'
import { rm } from 'node:fs/promises'
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
import { call, insertTenant } from './service.ts'

/** Longer than a lease, and than an erasure waits for its verification. */
const AHEAD_A_KILL_MS = 10 * MINUTE_MS

/** The kills of runs that have no test of their own: agents, imports and warehouses have `*-crash.test.ts`. */
test('an export and an erasure that are killed in the middle are continued, and end once', async () => {
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
  const ask = async (method: string, path: string, body?: object) => {
    const sent = { headers: { authorization: `Bearer ${key}` }, ...(body ? { body: JSON.stringify(body) } : {}) }
    return (await call({ url }, method, path, sent)).body
  }
  let kills = 0
  /** Kills the service at the COMMIT of a statement, which the server receives or not, and starts it later. */
  const killAtCommitOf = async (statement: string, isReceived: boolean, start: () => Promise<unknown>) => {
    proxy.freezeAtCommitOf(statement, isReceived)
    // It may freeze before its response.
    start().catch(() => {})
    await expect.poll(proxy.isFrozen, { timeout: 120_000, interval: 20 }).toBe(true)
    await service.kill()
    proxy.thaw()
    const ahead = ++kills * AHEAD_A_KILL_MS
    await moveDatabaseClock(databaseUrl, ahead)
    url = await service.start(ahead)
  }
  try {
    url = await service.start()
    key = (await insertTenant(postgres.db)).key
    const { contact_id } = (await ask('POST', '/v1/contacts', { email: 'ada@example.com' })).contact
    await ask('POST', '/v1/contacts', { email: 'grace@example.com' })

    // At its start, and at its end: the file has its final name, and the row does not say so.
    await killAtCommitOf('"progress" = ', true, () => ask('POST', '/v1/exports'))
    const [{ export_id }] = (await ask('GET', '/v1/exports')).exports
    const exported = async () => (await ask('GET', `/v1/exports/${export_id}`)).export
    await expect.poll(async () => (await exported()).status, { timeout: 120_000 }).toBe('ready')
    expect(await exported()).toMatchObject({ counts: { contacts: 2 }, error: null })
    expect(readdirSync(join(directory, 'exports'))).toEqual([`${export_id}.tar`])
    await killAtCommitOf('"size_bytes" = ', false, () => ask('POST', '/v1/exports'))
    const [{ export_id: second }] = (await ask('GET', '/v1/exports')).exports
    const ended = async () => (await ask('GET', `/v1/exports/${second}`)).export.status
    await expect.poll(ended, { timeout: 120_000 }).toBe('ready')
    expect(readdirSync(join(directory, 'exports')).filter((name) => name.startsWith(second))).toEqual([`${second}.tar`])

    // The contact is deleted, and the rest of it is not.
    await killAtCommitOf('delete from "contacts"', true, () => ask('POST', '/v1/erasures', { contact_id }))
    const receipt = async () => (await ask('GET', '/v1/erasures')).erasures[0]
    await expect.poll(async () => (await receipt()).status, { timeout: 120_000 }).toBe('erased')
    await moveDatabaseClock(databaseUrl, (kills + 1) * AHEAD_A_KILL_MS)
    await postgres.db.updateTable('erasures').set({ due_at: new Date() }).execute()
    await expect.poll(async () => (await receipt()).status, { timeout: 120_000 }).toBe('verified')
    expect((await ask('GET', '/v1/contacts?count_only=true')).count).toBe(1)
  } finally {
    await service.close()
    await postgres.close()
    await proxy.close()
    await rm(directory, { recursive: true, force: true, maxRetries: 10 })
  }
})
