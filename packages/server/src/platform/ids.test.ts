import { randomUUID } from 'node:crypto'
import { v7 } from 'uuid'
import { expect, test } from 'vitest'
import { idsInOrder, isOwnId, newId, timeOfId } from './ids.ts'

test('the service recognises its own ids, and almost no others', () => {
  const nextId = idsInOrder()
  for (let n = 0; n < 1_000; n++) {
    expect(isOwnId(newId())).toBe(true)
    expect(isOwnId(nextId())).toBe(true)
  }
  const others = Array.from({ length: 5_000 }, () => [randomUUID(), v7()]).flat()
  expect(others.filter(isOwnId).length).toBeLessThan(3)
})

test('ids generated at once are distinct UUIDv7s in their order of generation', () => {
  for (const makerOf of [() => newId, idsInOrder]) {
    const startedAt = Date.now()
    const ids = Array.from({ length: 10_000 }, makerOf())
    expect(new Set(ids).size).toBe(ids.length)
    expect(ids.toSorted()).toEqual(ids)
    const moment = timeOfId(ids[0] ?? '')
    expect(moment).toBeGreaterThanOrEqual(startedAt - 1_000)
    expect(moment).toBeLessThanOrEqual(Date.now())
  }
  expect(timeOfId(randomUUID())).toBeNull()
})
