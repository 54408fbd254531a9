import { randomBytes } from 'node:crypto'
import { PgBoss } from 'pg-boss'
import { afterAll, beforeAll, beforeEach, expect, test } from 'vitest'
import { createDatabase } from '../../test/databases.ts'
import {
  connect,
  person,
  pulled,
  readConnection,
  type ScriptedSystem,
  startScriptedSystem,
} from '../../test/scripted-connector.ts'
import { createTestTenant, startTestService, type TestService, TestTenant } from '../../test/service.ts'

let system: ScriptedSystem
let environment: Record<string, string>

beforeAll(async () => {
  system = await startScriptedSystem()
})
beforeEach(async () => {
  system.reset()
  system.pages = [1, 2, 3, 4].map((id) => ({ contacts: [person(id)] }))
  environment = { DATABASE_URL: await createDatabase(), CDS_SECRET_KEY: randomBytes(32).toString('base64') }
})
afterAll(() => system?.close())

const start = () => startTestService(environment, system.options)
const countOf = async (tenant: TestTenant) => (await tenant.call('GET', '/v1/contacts?count_only=1')).body.count

test('a pull that a restart interrupts continues at its page, without duplicates', async () => {
  const first = await start()
  const tenant = await createTestTenant(first)
  const { reached, release } = system.hold('2')
  const path = await connect(tenant)
  await reached
  await first.close()
  release()
  system.requests = []
  const second = await start()
  try {
    const again = new TestTenant(second, tenant.id, tenant.key, tenant.site)
    const { last_run } = await readConnection(again, path)
    const run = await pulled(again, path)
    expect(run).toMatchObject({ run_id: last_run.run_id, counts: { people: { created: 4 } } })
    expect(system.asked()).toEqual(['2', '3'])
    expect(await countOf(again)).toBe(4)
    expect((await again.call('GET', `${path}/runs`)).body.pagination.total_items).toBe(1)
  } finally {
    await second.close()
  }
})

/** Simulates a process that starts a job and dies: it sends no heartbeats. */
async function dieWith(queue: string, data: { tenantId: string; connectionId: string }): Promise<void> {
  const boss = new PgBoss({
    connectionString: environment.DATABASE_URL ?? '',
    supervise: false,
    schedule: false,
    max: 1,
  })
  await boss.start()
  try {
    await boss.send(queue, data, { singletonKey: `${data.tenantId}/${data.connectionId}` })
    expect(await boss.fetch(queue)).toHaveLength(1)
    // A minute has passed.
    await boss.getDb().executeSql(
      `UPDATE pgboss.job SET started_on = started_on - interval '1 minute', heartbeat_on = heartbeat_on - interval '1 minute'
        WHERE name = $1 AND state = 'active'`,
      [queue],
    )
    await boss.supervise()
    const { rows } = await boss.getDb().executeSql('SELECT state FROM pgboss.job WHERE name = $1', [queue])
    expect(rows).toContainEqual({ state: 'failed' })
  } finally {
    await boss.stop({ graceful: false, close: true })
  }
}

test.for(['connection-pull', 'connection-write-back'])(
  'a process that died within the last minute does not hold up %s',
  async (queue) => {
    const first = await start()
    const tenant = await createTestTenant(first)
    const path = await connect(tenant)
    const { run_id } = await pulled(tenant, path)
    const connectionId = path.split('/').at(-1) ?? ''
    await tenant.handle.db
      .updateTable('connections')
      .set({ state: 'pulling', next_pull_at: new Date(Date.now() - 1) })
      .execute()
    await first.close()
    await dieWith(queue, { tenantId: tenant.id, connectionId })
    const second = await start()
    try {
      await pulled(new TestTenant(second, tenant.id, tenant.key, tenant.site), path, run_id)
    } finally {
      await second.close()
    }
  },
)

test('only one of two processes pulls a connection', async () => {
  const services: TestService[] = [await start(), await start()]
  try {
    const [service] = services
    if (!service) throw new Error('No service has started.')
    const tenant = await createTestTenant(service)
    const path = await connect(tenant)
    const { run_id } = await pulled(tenant, path)
    expect(system.asked()).toEqual([null, '1', '2', '3'])
    system.requests = []
    await tenant.call('POST', `${path}/reread`, {})
    expect((await pulled(tenant, path, run_id)).counts).toEqual({ people: { unchanged: 4 } })
    expect(system.asked()).toEqual([null, '1', '2', '3'])
    expect((await tenant.call('GET', `${path}/runs`)).body.pagination.total_items).toBe(2)
  } finally {
    for (const service of services) await service.close()
  }
})
