import { beforeAll, expect, test } from 'vitest'
import { createTestTenant, sharedService, type TestService, type TestTenant } from '../../test/service.ts'
import { visitorStatements } from '../contacts/visitors/flush.ts'
import { newId } from '../platform/ids.ts'
import { createMetrics } from '../platform/metrics.ts'
import { systemClock } from '../platform/time.ts'
import type { JournalRow } from './append.ts'
import { EMPTY_RECORD, type EventGroup } from './event-record.ts'
import { createGroupCommit } from './group-commit.ts'
import { senderOf } from './sent-ids.ts'

let service: TestService
let tenant: TestTenant
beforeAll(async () => {
  service = await sharedService()
  tenant = await createTestTenant(service)
})

/** A separate group commit, and the rows that it has written. */
function groupCommit() {
  const { stores, postgres, projector, log } = service
  const rows: JournalRow[] = []
  const noting = { ...projector, add: (row: JournalRow) => void rows.push(row) }
  const metrics = createMetrics(postgres.pool, stores.reads, projector.counts)
  const preparePart = async () => () => null
  const writing = { pool: postgres.pool, projector: noting, visitorStatements, preparePart }
  const parts = { ...writing, clock: systemClock, log, metrics }
  return { rows, ...createGroupCommit(parts) }
}

function largeGroup(visitor: string): EventGroup {
  const record = { ...EMPTY_RECORD, tenant_id: tenant.id, visitor_id: visitor, timestamp: Date.now() }
  const large = { event: 'large', received_at: Date.now(), data: JSON.stringify({ text: 'x'.repeat(30_000) }) }
  const events = Array.from({ length: 10 }, () => ({ ...record, ...large, event_id: newId() }))
  return { tenantId: tenant.id, visitorId: visitor, events, sender: senderOf(visitor), sentIds: [] }
}

test('a flush of large events stays small, so that it does not block others for long', async () => {
  const { rows, record } = groupCommit()
  await Promise.all(Array.from({ length: 150 }, (_, index) => record([largeGroup(`visitor ${index}`)])))
  expect(Math.max(...rows.map((row) => row.rows.length))).toBeLessThan(20_000_000)
  expect(rows.reduce((sum, row) => sum + row.rows.length, 0)).toBeGreaterThan(150 * 300_000)
})

test('the bytes waiting in memory are limited; a rejected batch can be sent again', async () => {
  const { record } = groupCommit()
  const results = await Promise.allSettled(
    Array.from({ length: 1_000 }, (_, index) => record([largeGroup(`${index}`)])),
  )
  const refused = results.filter(({ status }) => status === 'rejected')
  expect(refused.length).toBeGreaterThan(400)
  expect(refused.length).toBeLessThan(600)
  expect(refused[0]).toMatchObject({ reason: { status: 503, code: 'overloaded' } })
  await record([largeGroup('again')])
})
