import { once } from 'node:events'
import { beforeAll, expect, test } from 'vitest'
import { createTestTenant, sharedService, type TestService } from '../../../test/service.ts'
import { claimFile, whereClaimed } from '../../event-imports/progress.ts'
import type { Tenant } from '../tenant.ts'
import { ClaimLost, newClaim, renewClaim, whileClaimed } from './lease.ts'

/** The shortest one. All are renewed in the same way. */
const LEASE = 'webhook_batch'
const WITHIN = { timeout: 60_000, interval: 500 }

let service: TestService

beforeAll(async () => {
  service = await sharedService()
})

/** A row that this process has claimed. */
async function claimedRow() {
  const { handle } = await createTestTenant(service)
  const { file } = await claimFile(handle, { digest: 'of a file', format: 'native' }, false, new Date())
  const row = whereClaimed(handle, file)
  await row.set(newClaim(LEASE, file.claim)).execute()
  return { handle, row }
}

const endOfLease = async ({ db }: Tenant) =>
  (await db.selectFrom('event_imports').select('claimed_until').executeTakeFirstOrThrow()).claimed_until

test('a claim is renewed during the work', async () => {
  const { handle, row } = await claimedRow()
  const first = await endOfLease(handle)
  await whileClaimed(LEASE, row, async (lost) => {
    await expect.poll(() => endOfLease(handle), WITHIN).not.toEqual(first)
    expect(lost.aborted).toBe(false)
  })
})

test('a process learns during the work that another one has claimed the row, and changes nothing any more', async () => {
  const { handle, row } = await claimedRow()
  const end = await whileClaimed(LEASE, row, async (lost) => {
    await handle.db.updateTable('event_imports').set(newClaim(LEASE)).execute()
    const end = await endOfLease(handle)
    await once(lost, 'abort')
    return end
  })
  await expect(renewClaim(LEASE, row)).rejects.toBeInstanceOf(ClaimLost)
  expect(await endOfLease(handle)).toEqual(end)
})

test('work that fails because another process has claimed the row says so', async () => {
  const { handle, row } = await claimedRow()
  const failing = whileClaimed(LEASE, row, async (lost) => {
    await handle.db.updateTable('event_imports').set(newClaim(LEASE)).execute()
    await once(lost, 'abort')
    throw new Error('the connection was closed')
  })
  await expect(failing).rejects.toBeInstanceOf(ClaimLost)
})
