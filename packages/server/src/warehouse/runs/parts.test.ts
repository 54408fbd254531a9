import { expect, test } from 'vitest'
import { createTestTenant, sharedService } from '../../../test/service.ts'
import type { SizeRange } from '../../platform/clickhouse/tenant-files.ts'
import type { Tenant } from '../../platform/tenant.ts'
import { type Cursor, partsOf } from './parts.ts'

interface Size {
  sequence: number
  rows: number
}

/** Reads the events' files of a range from given sizes. @returns their cursors, and the windows that were asked for. */
async function readParts(range: { after: number; upTo: number }, all: readonly Size[]) {
  const { handle } = await createTestTenant(await sharedService())
  const asked: SizeRange[] = []
  const sizes = async (wanted: SizeRange) => {
    if (wanted.from !== 'events') return []
    asked.push(wanted)
    const found = all.filter(({ sequence }) => sequence > wanted.after && sequence <= wanted.upTo)
    return found.slice(0, wanted.limit).map((size) => ({ ...size, bytes: 1_000 }))
  }
  const tenant: Tenant = { ...handle, events: { ...handle.events, sizes } }
  const cursors: Cursor[] = []
  for await (const { table, cursor } of partsOf(tenant, range, null)) if (table === 'events') cursors.push(cursor)
  return { asked, cursors }
}

test('sizes of events are read in windows of numbers up to the end, and small windows share a file', async () => {
  const range = { after: -1, upTo: 41_000 }
  // With gaps that are longer than a window, and none at the end.
  const all = [0, 3, 4_999, 5_000, 23_456, 23_457].map((sequence) => ({
    sequence,
    rows: sequence === 5_000 ? 200_000 : 40_000,
  }))
  const { asked, cursors } = await readParts(range, all)
  expect(cursors).toEqual([
    { after: -1, up_to: 4_999, index: 0, of: 1 },
    { after: 4_999, up_to: 23_456, index: 0, of: 1 },
    { after: 23_456, up_to: 23_457, index: 0, of: 1 },
  ])
  expect(asked[0]?.after).toBe(range.after)
  expect(asked.at(-1)?.upTo).toBe(range.upTo)
  for (const [index, { after }] of asked.entries()) if (index > 0) expect(after).toBe(asked[index - 1]?.upTo)
})

test('a run costs as much as the tenant has: wide gaps take few windows, and dense numbers short ones', async () => {
  const dense = 200_000_000
  // The first windows end at 4,999 and 14,999. Each number has a file of its own, so each must be in exactly one.
  const single = [4_999, 5_000, 14_999, 15_000, 100_000_000, dense - 1]
  const all = [...single, ...Array.from({ length: 12_000 }, (_, index) => dense + index)].map((sequence) => ({
    sequence,
    rows: sequence < dense ? 250_000 : 100,
  }))
  const range = { after: -1, upTo: 315_360_000 }
  const { asked, cursors } = await readParts(range, all)
  const ends = cursors.map((cursor) => ('up_to' in cursor ? [cursor.after, cursor.up_to] : []))
  expect(ends.slice(0, 6)).toEqual(single.map((sequence, index) => [single[index - 1] ?? -1, sequence]))
  // 2,500 numbers of 100 rows share a file.
  expect(ends.slice(6)).toEqual([
    [dense - 1, dense + 2_499],
    [dense + 2_499, dense + 4_999],
    [dense + 4_999, dense + 7_499],
    [dense + 7_499, dense + 9_999],
    [dense + 9_999, dense + 11_999],
  ])
  expect(asked.length).toBeLessThan(50)
  const inDense = asked.filter(({ after }) => after >= dense && after < dense + 7_000)
  expect(inDense.length).toBeGreaterThan(0)
  for (const { after, upTo } of inDense) expect(upTo - after).toBe(5_000)
})

test('sizes are those of the first numbers, up to a limit, and of all events that have them', async () => {
  const tenant = await createTestTenant(await sharedService())
  for (const visitor_id of ['a', 'b', 'c']) {
    const events = Array.from({ length: 2 }, () => ({ event: 'page_view' }))
    await tenant.track({ visitor_id, events })
    await tenant.handle.events.barrier()
  }
  const { events } = tenant.handle
  const all = await events.sizes({ from: 'events', after: -1, upTo: Number.MAX_SAFE_INTEGER, limit: 5_000 })
  expect(all.map(({ rows }) => rows)).toEqual([2, 2, 2])
  const [first, second, third] = all
  const after = first?.sequence ?? 0
  const upTo = third?.sequence ?? 0
  expect(await events.sizes({ from: 'events', after, upTo, limit: 1 })).toEqual([second])
  expect(await events.sizes({ from: 'events', after, upTo, limit: 2 })).toEqual([second, third])
  expect(await events.sizes({ from: 'events', after: upTo, upTo: upTo + 1_000, limit: 2 })).toEqual([])
})
