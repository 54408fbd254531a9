import { sql } from 'kysely'
import { expect, test } from 'vitest'
import { sharedService } from '../../../test/service.ts'
import { announceChange, listenForChanges } from './invalidation.ts'

test('a process that has caught up has forgotten what any committed transaction changed', async () => {
  const { postgres, stores, log } = await sharedService()
  const invalidation = await listenForChanges(postgres.address, log)
  let forgotten = 0
  invalidation.onChange(() => forgotten++)
  try {
    for (let change = 0; change < 200; change++) {
      forgotten = 0
      await stores.database.transaction().execute(announceChange)
      await invalidation.caughtUp()
      expect(forgotten).toBeGreaterThan(0)
    }
  } finally {
    await invalidation.close()
  }
})

test('callers that catch up at the same time do not run two queries at once on one connection', async () => {
  const warnings: string[] = []
  const warned = ({ message }: Error) => warnings.push(message)
  process.on('warning', warned)
  const { postgres, stores, log } = await sharedService()
  const invalidation = await listenForChanges(postgres.address, log)
  let forgotten = 0
  invalidation.onChange(() => forgotten++)
  try {
    await Promise.all(
      Array.from({ length: 50 }, async () => {
        await stores.database.transaction().execute(announceChange)
        await invalidation.caughtUp()
      }),
    )
    expect(forgotten).toBe(50)
    await new Promise(setImmediate)
    expect(warnings).toEqual([])
  } finally {
    process.off('warning', warned)
    await invalidation.close()
  }
})

test('a process that cannot hear of changes does not wait for them', async () => {
  const { postgres, log } = await sharedService()
  const invalidation = await listenForChanges(postgres.address, log)
  await invalidation.close()
  await invalidation.caughtUp()
})

test('a process is woken after its connection was lost, and then by its channels only', async () => {
  const { postgres, stores, log } = await sharedService()
  const invalidation = await listenForChanges(postgres.address, log)
  let woken = 0
  const notify = (channel: string) => sql`SELECT pg_notify(${channel}, '')`.execute(stores.database)
  try {
    await invalidation.onNotified('cds_test_work', () => woken++)
    await sql`SELECT pg_terminate_backend(pid) FROM pg_stat_activity
      WHERE query = 'LISTEN cds_test_work' AND datname = current_database()`.execute(stores.database)
    await expect.poll(() => woken).toBe(1)
    await notify('cds_test_other')
    await invalidation.caughtUp()
    expect(woken).toBe(1)
    await notify('cds_test_work')
    await invalidation.caughtUp()
    expect(woken).toBe(2)
  } finally {
    await invalidation.close()
  }
})
