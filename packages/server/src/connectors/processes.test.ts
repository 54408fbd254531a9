import { randomBytes } from 'node:crypto'
import { afterAll, beforeAll, beforeEach, expect, test } from 'vitest'
import {
  connect,
  person,
  pulled,
  readConnection,
  type ScriptedSystem,
  startScriptedSystem,
} from '../../test/scripted-connector.ts'
import { createDatabase, createTestTenant, startTestService, type TestService, TestTenant } from '../../test/service.ts'

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

test('a pull that a restart interrupts continues at its page, and doubles nothing', async () => {
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

test('two processes pull a connection once', async () => {
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
