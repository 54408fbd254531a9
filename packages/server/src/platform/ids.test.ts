import { randomUUID } from 'node:crypto'
import { v7 } from 'uuid'
import { expect, test, vi } from 'vitest'
import { isOwnId, newId, timeOfId } from './ids.ts'
import { HOUR_MS } from './time.ts'

test('the service recognizes its own ids, and almost no others', () => {
  const own = Array.from({ length: 1_000 }, newId)
  expect(own.every(isOwnId)).toBe(true)
  const others = Array.from({ length: 5_000 }, () => [randomUUID(), v7()]).flat()
  expect(others.filter(isOwnId).length).toBeLessThan(3)
})

test('ids are distinct UUIDv7s that sort in the order of their generation, also across milliseconds', () => {
  const startedAt = Date.now()
  const ids = Array.from({ length: 50_000 }, newId)
  expect(new Set(ids).size).toBe(ids.length)
  expect(ids.toSorted()).toEqual(ids)
  expect(timeOfId(ids[0] ?? '')).toBeGreaterThanOrEqual(startedAt)
  expect(timeOfId(ids.at(-1) ?? '')).toBeLessThanOrEqual(Date.now())
  expect(timeOfId(ids.at(-1) ?? '')).toBeGreaterThan(timeOfId(ids[0] ?? '') ?? 0)
  expect(timeOfId(randomUUID())).toBeNull()
})

test('ids keep their order when the clock is set back', () => {
  const before = newId()
  vi.spyOn(Date, 'now').mockReturnValue(Date.now() - HOUR_MS)
  const after = Array.from({ length: 100 }, newId)
  vi.restoreAllMocks()
  expect([before, ...after].toSorted()).toEqual([before, ...after])
})
