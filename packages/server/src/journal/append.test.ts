import { afterEach, expect, test, vi } from 'vitest'
import { newId } from '../platform/ids.ts'
import { toRecords } from './append.ts'

afterEach(() => {
  vi.restoreAllMocks()
})

/** ClickHouse sorts events with the same timestamp by id, and compares the second half of an id first. */
test('system events of one change keep their order, even across a millisecond boundary', () => {
  const at = new Date()
  let now = at.getTime()
  vi.spyOn(Date, 'now').mockImplementation(() => now++)
  const events = Array.from({ length: 20 }, (_, index) => ({
    ...{ event: 'contact_updated' as const, at, contactId: newId() },
    data: { index },
  }))
  const secondHalves = toRecords(newId(), events).map(({ event_id }) => event_id.slice(19))
  expect(secondHalves.toSorted()).toEqual(secondHalves)
})
