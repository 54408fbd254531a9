import { expect, test } from 'vitest'
import { createTestTenant, sharedService } from '../../../test/service.ts'
import type { SizeRange } from '../../platform/clickhouse/tenant-files.ts'
import type { Tenant } from '../../platform/tenant.ts'
import { type Cursor, partsOf } from './parts.ts'

/** The numbers that have events, with gaps that are longer than a window, and none at the end. */
const SEQUENCES = [0, 3, 4_999, 5_000, 23_456, 23_457]
const RANGE = { after: -1, upTo: 41_000 }

test('sizes of events are read in short windows of numbers up to the end, and small windows share a file', async () => {
  const { handle } = await createTestTenant(await sharedService())
  const asked: SizeRange[] = []
  const sizes = async (range: SizeRange) => {
    if (range.from !== 'events') return []
    asked.push(range)
    return SEQUENCES.filter((each) => each > range.after && each <= range.upTo).map((sequence) => ({
      sequence,
      rows: sequence === 5_000 ? 200_000 : 40_000,
      bytes: 1_000,
    }))
  }
  const tenant: Tenant = { ...handle, events: { ...handle.events, sizes } }
  const cursors: Cursor[] = []
  for await (const { table, cursor } of partsOf(tenant, RANGE, null)) if (table === 'events') cursors.push(cursor)
  expect(cursors).toEqual([
    { after: -1, up_to: 4_999, index: 0, of: 1 },
    { after: 4_999, up_to: 23_456, index: 0, of: 1 },
    { after: 23_456, up_to: 23_457, index: 0, of: 1 },
  ])
  expect(asked[0]?.after).toBe(RANGE.after)
  expect(asked.at(-1)?.upTo).toBe(RANGE.upTo)
  for (const [index, { after, upTo }] of asked.entries()) {
    expect(upTo - after).toBeLessThanOrEqual(5_000)
    if (index > 0) expect(after).toBe(asked[index - 1]?.upTo)
  }
})
