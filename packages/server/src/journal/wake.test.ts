import { afterAll, beforeAll, beforeEach, expect, onTestFinished, test, vi } from 'vitest'
import { blocking, commitEvents } from '../../test/journal.ts'
import { createTestTenant, startTestService, type TestService, type TestTenant } from '../../test/service.ts'
import type { ClickHouse } from '../platform/clickhouse/connect.ts'
import { type Projector, startProjector } from './projector.ts'

/** The longest delay of a timer. */
const NEVER_MS = 2 ** 31 - 1

let service: TestService
let tenant: TestTenant
beforeAll(async () => {
  service = await startTestService()
  await service.projector.stop()
})
beforeEach(async () => {
  tenant = await createTestTenant(service)
})
afterAll(() => service?.close())

/** A projector that never sweeps the journal: starting it sets a single timer, of the sweep. */
function startWithoutSweep(clickhouse: ClickHouse): Projector {
  const { setTimeout } = globalThis
  const postponed = (work: () => void) => setTimeout(work, NEVER_MS)
  const timers = vi.spyOn(globalThis, 'setTimeout').mockImplementation(postponed as typeof setTimeout)
  try {
    const { database } = service.stores
    const projector = startProjector({ database, clickhouse, cluster: null, log: service.log })
    onTestFinished(projector.stop)
    expect(timers).toHaveBeenCalledTimes(1)
    return projector
  } finally {
    timers.mockRestore()
  }
}

const commit = (name: string) => commitEvents(service.stores.database, tenant.id, [name])

async function stored(): Promise<string[]> {
  const sql = 'SELECT event FROM events WHERE tenant_id = {tenant: UUID} ORDER BY event'
  const rows = await service.stores.clickhouse.query<{ event: string }>(sql, { tenant: tenant.id })
  return rows.map(({ event }) => event)
}

test('an event is inserted although nobody reads and no sweep finds it', async () => {
  const projector = startWithoutSweep(service.stores.clickhouse)
  projector.add(await commit('alone'))
  await expect.poll(stored).toEqual(['alone'])
})

test('an event that is added while a reader waits is inserted too, without another reader or a sweep', async () => {
  const blocked = blocking(service.stores.clickhouse)
  const projector = startWithoutSweep(blocked.clickhouse)
  // As another process would: only the reader makes this one insert it.
  await commit('awaited')
  const passed = projector.barrier(tenant.id)
  await blocked.reached
  projector.add(await commit('meanwhile'))
  blocked.release()
  await passed
  expect(await stored()).toContain('awaited')
  await expect.poll(stored).toEqual(['awaited', 'meanwhile'])
})
