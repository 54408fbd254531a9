import { rm } from 'node:fs/promises'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { expect, test } from 'vitest'
import { addVerifiedDomain } from '../src/access/domains-of-tenant.ts'
import { createTenant } from '../src/access/tenants.ts'
import { newId } from '../src/platform/ids.ts'
import { connectPostgres } from '../src/platform/postgres/connect.ts'
import type { DB } from '../src/platform/postgres/generated/tables.ts'
import { openTenant, type Stores } from '../src/platform/tenant.ts'
import { createDatabase } from './databases.ts'
import { MAIN, openDirectory, RUNNING, startProcess } from './process.ts'
import { until } from './webhooks.ts'

const FRONT = 'packages/server/test/clickhouse-front.ts'

/** When stopped under load, the service responds to every accepted request and leaves nothing in the journal. */
test('SIGTERM under load finishes requests and flushes the journal', async () => {
  const connectionString = await createDatabase()
  const directory = await openDirectory()
  const postgres = connectPostgres<DB>({ connectionString }, 2)
  const environment = {
    CDS_DATA_DIR: directory,
    DATABASE_URL: connectionString,
    PORT: '0',
    HOST: '127.0.0.1',
    CDS_RATE_LIMITS: 'off',
    CDS_LOG_LEVEL: 'warn',
  }
  try {
    const stores = { database: postgres.db, closed: new Set() } as unknown as Stores
    const tenantId = await createTenant(stores, { name: 'Stopping' }, { kind: 'command_line' }, new Date())
    const tenant = openTenant(stores, tenantId)
    await addVerifiedDomain(tenant, 'stop.example', new Date())
    const service = await startProcess(MAIN, [], environment, RUNNING)
    const url = RUNNING.exec(service.output())?.[1] ?? ''
    const acknowledged: string[] = []
    const stop = { now: false }
    const statuses = new Set<number>()
    const sender = async () => {
      while (!stop.now) {
        const event_id = newId()
        const response = await fetch(`${url}/track`, {
          method: 'POST',
          headers: { origin: 'https://stop.example', 'content-type': 'application/json' },
          body: JSON.stringify({ events: [{ event_id, event: 'x' }] }),
        }).catch(() => null)
        if (response) statuses.add(response.status)
        if (response?.ok) acknowledged.push(event_id)
        else await sleep(5)
      }
    }
    const senders = Array.from({ length: 16 }, sender)
    await until(() => expect(acknowledged.length).toBeGreaterThan(20))
    expect(await service.end('SIGTERM')).toBe(0)
    stop.now = true
    await Promise.all(senders)
    // A refused connection is not a response; every response was a success.
    expect([...statuses]).toEqual([200])
    expect((await postgres.pool.query('SELECT count(*) AS rows FROM journal')).rows).toEqual([{ rows: 0 }])

    const clickhouse = await startProcess(FRONT, [join(directory, 'clickhouse'), '0'], {}, /ready \d+/)
    try {
      const body = 'SELECT count(DISTINCT event_id) FROM events'
      const counted = await fetch(`http://127.0.0.1:${/ready (\d+)/.exec(clickhouse.output())?.[1]}`, {
        method: 'POST',
        body,
      })
      expect(Number(await counted.text())).toBeGreaterThanOrEqual(acknowledged.length)
    } finally {
      await clickhouse.end('SIGKILL')
    }
  } finally {
    await postgres.close()
    await rm(directory, { recursive: true, force: true })
  }
})
