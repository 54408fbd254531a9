import { writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { daysAgo, deviceId, type PeerEvent } from '../../../test/analytics.ts'
import { startConnectedSystem } from '../../../test/connected-system.ts'
import { connectionOf, connectSystem } from '../../../test/connection.ts'
import { createDatabase } from '../../../test/databases.ts'
import { KillableService, moveDatabaseClock, superviseJobs } from '../../../test/killable.ts'
import { createPostHog } from '../../../test/posthog.ts'
import { openDirectory } from '../../../test/process.ts'
import { makeCertificate } from '../../../test/receiver.ts'
import { call, insertTenant, sharedService, type TestResponse } from '../../../test/service.ts'
import { connectPostgres } from '../../platform/postgres/connect.ts'
import type { DB } from '../../platform/postgres/generated/tables.ts'
import { openTenant } from '../../platform/tenant.ts'
import { MINUTE_MS } from '../../platform/time.ts'
import { EVENTS_PER_PAGE } from '../event-lines.ts'

/** Longer than a job's heartbeats may be missing. */
const AHEAD_MS = MINUTE_MS
/** On each of three days, a page and the start of another. */
const EVENTS = 3 * (EVENTS_PER_PAGE + 100)

test('restart in the middle: a service that is killed, with its ClickHouse, continues without duplicates', async () => {
  const directory = await openDirectory()
  const certificate = makeCertificate()
  const { stores } = await sharedService()
  const posthog = createPostHog(() => stores.clickhouse)
  const system = await startConnectedSystem(certificate, posthog.respond)
  const ca = join(directory, 'ca.pem')
  await writeFile(ca, certificate.certificate)
  const databaseUrl = await createDatabase()
  const postgres = connectPostgres<DB>({ connectionString: databaseUrl }, 1)
  const service = new KillableService({
    CDS_DATA_DIR: join(directory, 'data'),
    DATABASE_URL: databaseUrl,
    CDS_WEBHOOK_ALLOW_PRIVATE: '1',
    NODE_EXTRA_CA_CERTS: ca,
  })
  try {
    await posthog.reset()
    const events = Array.from(
      { length: EVENTS },
      (_, index): PeerEvent => ({
        id: `m${index}`,
        name: 'Many',
        at: daysAgo(3 - Math.floor(index / (EVENTS / 3)), 1),
        deviceId: deviceId(index % 50),
      }),
    )
    await posthog.add(...events)
    const { id: tenantId, key } = await insertTenant(postgres.db)
    let url = await service.start()
    const tenant = {
      handle: openTenant({ ...stores, database: postgres.db }, tenantId),
      call: (method: string, path: string, body?: unknown): Promise<TestResponse> =>
        call({ url }, method, path, {
          headers: { authorization: `Bearer ${key}` },
          ...(body ? { body: JSON.stringify(body) } : {}),
        }),
    }
    const settings = { project_id: '7', host: system.url.replace('https://', '') }
    const credentials = { personal_api_key: 'phx_first_0123456789' }
    const read_since = daysAgo(5).toISOString()
    const { id } = await connectSystem(tenant, { connector: 'posthog', settings, credentials, read_since })
    const connection = connectionOf(tenant, id)
    const accepted = async () => (await connection.read()).last_run?.counts.events?.accepted ?? 0
    await expect.poll(accepted, { timeout: 120_000, interval: 20 }).toBeGreaterThan(0)
    await service.kill()
    const asked = posthog.queries.length
    await superviseJobs(databaseUrl)
    await moveDatabaseClock(databaseUrl, AHEAD_MS)
    await superviseJobs(databaseUrl)
    url = await service.startLast(AHEAD_MS)
    expect(await accepted()).toBeLessThan(EVENTS)
    await connection.firstRun()
    const count = async () => (await tenant.call('GET', '/v1/events?count_only=true&event_type=Many')).body.count
    expect(await count()).toBe(EVENTS)
    expect(posthog.queries.slice(asked).some((query) => query.includes('toString(uuid) >'))).toBe(true)

    // ClickHouse was restarted, and only it still knows the ids of the day before.
    await postgres.db.deleteFrom('event_ids_0').execute()
    await postgres.db.deleteFrom('event_ids_1').execute()
    await postgres.db.deleteFrom('event_ids_2').execute()
    const run = await connection.reread(read_since)
    expect(run.counts.events).toEqual({ unchanged: EVENTS })
    expect(await count()).toBe(EVENTS)
  } finally {
    await service.close()
    await postgres.close()
    await system.close()
  }
})
