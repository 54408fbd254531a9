import { afterEach, expect, test, vi } from 'vitest'
import { newId } from '../platform/ids.ts'
import { toRecords } from './append.ts'

afterEach(() => {
  vi.restoreAllMocks()
})

/** Events with the same timestamp are sorted by id. */
test('system events of one change keep their order, even across a millisecond boundary', () => {
  const at = new Date()
  let now = at.getTime()
  vi.spyOn(Date, 'now').mockImplementation(() => now++)
  const events = Array.from({ length: 20 }, (_, index) => ({
    ...{ event: 'contact_updated' as const, at, contactId: newId() },
    data: { index },
  }))
  const ids = toRecords(newId(), events).map(({ event_id }) => event_id)
  expect(ids.toSorted()).toEqual(ids)
})
