import { expect, test } from 'vitest'
import { createSlots, type Slot, type Slots } from './capacity.ts'
import type { Claimed } from './claim.ts'

const target = {
  url: 'https://hooks.example/',
  headersSealed: null,
  secretSealed: '',
  previousSecretSealed: null,
  previousUntil: null,
  switchAt: null,
}
const batch = { tenantId: 't', subscriptionId: 's', batchId: 'b', leaseUntil: new Date(60_000), attempt: 1, target }
const delivery: Claimed = { batch, deliveryId: 'd', eventId: 'e', event: 'x', payload: '{}', attemptsBefore: 0 }

/** Sends as many as there is room for, and has all answered, each after what the receiver takes for so many at once. */
function round(slots: Slots, millisecondsFor: (atOnce: number) => number, succeeded = true): number {
  const taken: Slot[] = []
  for (let slot = slots.take(delivery); slot; slot = slots.take(delivery)) taken.push(slot)
  slots.empty()
  for (const slot of taken) {
    const [at, endedAt] = [new Date(0), new Date(millisecondsFor(taken.length))]
    slot.answered({ at, endedAt, statusCode: 200, body: '', error: null, address: null, succeeded })
    slot.written()
  }
  return taken.length
}

function rounds(slots: Slots, count: number, millisecondsFor: (atOnce: number) => number): number {
  let last = 0
  for (let n = 0; n < count; n++) last = round(slots, millisecondsFor)
  return last
}

test('a receiver that is as quick with many requests as with few gets 32 at once, and some ahead', () => {
  const slots = createSlots()
  expect(round(slots, () => 80)).toBe(4)
  expect(rounds(slots, 10, () => 80)).toBe(32)
  // What it does in a second.
  expect(slots.room().free.get('s')).toBe(32 + 400)
  expect(rounds(slots, 10, () => 8)).toBe(32)
  // But not all that it could do.
  expect(slots.room().free.get('s')).toBe(32 + 2_048)
})

test('one that gets slower with each request more is not sent more than it works on', () => {
  const slots = createSlots()
  const last = rounds(slots, 100, (atOnce) => 3 * atOnce)
  expect(last).toBeGreaterThanOrEqual(4)
  expect(last).toBeLessThanOrEqual(12)
})

test('one that has become slower for good is sent as many as before after a while', () => {
  const slots = createSlots()
  rounds(slots, 10, () => 2)
  expect(rounds(slots, 20, () => 300)).toBe(4)
  expect(rounds(slots, 200, () => 300)).toBe(32)
  // What it does in a second is taken ahead, not more.
  expect(slots.room().free.get('s')).toBe(32 + 106)
})

test('one that hangs gets one at a time until it answers, and then four at once', () => {
  const slots = createSlots()
  rounds(slots, 10, () => 2)
  round(slots, () => 10_000, false)
  expect(round(slots, () => 900)).toBe(1)
  expect(rounds(slots, 3, () => 900)).toBe(4)
})

test('single answers that are quicker than all others do not make a receiver strained', () => {
  const slots = createSlots()
  let n = 0
  expect(rounds(slots, 200, () => (n++ % 100 === 0 ? 2 : 80))).toBeGreaterThan(16)
})

test('refusals, which come at once, do not make a receiver strained', () => {
  const slots = createSlots()
  rounds(slots, 10, () => 80)
  for (let n = 0; n < 50; n++) round(slots, () => 1, false)
  expect(rounds(slots, 2, () => 80)).toBe(32)
})

test('from when it has had more at once than it works on, a receiver gets one more for each time that all were answered', () => {
  const slots = createSlots()
  rounds(slots, 10, () => 2)
  expect(round(slots, () => 20)).toBe(32)
  expect(rounds(slots, 5, () => 20)).toBeLessThan(28)
  const settled = round(slots, () => 2)
  expect(round(slots, () => 2)).toBe(settled + 1)
  expect(round(slots, () => 2)).toBe(settled + 2)
})

test('what waits to be written down takes no slot of another delivery, up to a number', () => {
  const slots = createSlots()
  const answer = (count: number) =>
    Array.from({ length: count }, () => {
      const slot = slots.take(delivery)
      slot?.answered(null)
      return slot
    })
  const many = answer(3_500)
  const { slots: left } = slots.room()
  const sent = answer(10)
  // Nothing else is under way: as much may be taken as may wait to be written down.
  expect(slots.room().slots).toBe(left - 10)
  for (let n = 0; n < 10; n++) slots.take({ ...delivery, batch: { ...batch, subscriptionId: `${n}` } })
  expect(slots.room().slots).toBe(left - 10)
  for (const slot of sent) slot?.written()
  expect(slots.room().slots).toBe(left)
  for (const slot of many) slot?.written()
  expect(slots.room().slots).toBeGreaterThan(left)
})

test('what is ahead leaves room for what has just become due, of the same tenant too', () => {
  const slots = createSlots()
  rounds(slots, 10, () => 8)
  const hold = (subscriptionId: string) => slots.take({ ...delivery, batch: { ...batch, subscriptionId } })
  for (let n = 0; n < 32 + 600; n++) hold('s')
  // A short look passes over who has something waiting; others get ahead until two thirds of that are there.
  expect(slots.room(true).free.get('s')).toBe(0)
  expect(slots.room().free.get('s')).toBe(2_048 - 600)
  for (let n = 0; n < 1_416; n++) hold('other')
  expect(slots.room().free.get('s')).toBe(0)
  expect(slots.room()).toMatchObject({ slots: 1_024, fullTenants: [] })
})

test('a large payload takes as many slots as there are in its memory, until what came of it is written down', () => {
  const slots = createSlots()
  const { slots: all } = slots.room()
  const hold = () => slots.take({ ...delivery, payload: 'x'.repeat(20_000) })
  const sent = Array.from({ length: 4 }, hold)
  for (let n = 0; n < 1_020; n++) hold()
  expect(slots.room()).toMatchObject({ slots: 4_096 - 3 * 1_024, fullTenants: ['t'] })
  for (const slot of sent) slot?.answered(null)
  expect(slots.room()).toMatchObject({ slots: 1_024, fullTenants: [] })
  const answered = Array.from({ length: 1_300 }, () => {
    const slot = hold()
    slot?.answered(null)
    return slot
  })
  slots.empty()
  expect(slots.room().slots).toBe(4_096 - 3 * 1_304)
  for (const slot of [...sent, ...answered]) slot?.written()
  expect(slots.room()).toMatchObject({ slots: all, fullTenants: [] })
})

test('fewer large ones are taken ahead, and what turned out too large is given back', () => {
  const slots = createSlots()
  rounds(slots, 10, () => 8)
  const hold = (payload: string) => slots.take({ ...delivery, payload })
  for (let n = 0; n < 32; n++) hold('{}')
  expect(slots.room().free.get('s')).toBe(2_048)
  for (let n = 0; n < 1_000; n++) hold('x'.repeat(65_536))
  expect(slots.room().slots).toBeLessThan(0)
  // All are quick and their lease is long: what goes is what there is no room for.
  expect(slots.surplus(new Date(0))).toHaveLength((32 + 8 * 1_000 - 4_096) / 8)
  expect(slots.room().slots).toBe(0)
  slots.empty()
  expect(slots.room().free.get('s')).toBe(2_048 / 8)
})

test('a tenant with many requests under way gets no others', () => {
  const slots = createSlots()
  const hold = (n: number) => slots.take({ ...delivery, batch: { ...batch, subscriptionId: `${n % 200}` } })
  for (let n = 0; n < 767; n++) hold(n)
  expect(slots.room().fullTenants).toEqual([])
  hold(767)?.answered(null)
  const last = hold(767)
  expect(slots.room().fullTenants).toEqual(['t'])
  last?.answered(null)
  expect(slots.room().fullTenants).toEqual([])
})

test('a receiver that hung once is soon sent as many as before', () => {
  const slots = createSlots()
  rounds(slots, 10, () => 2)
  rounds(slots, 5, () => 20)
  round(slots, () => 10_000, false)
  expect(rounds(slots, 8, () => 2)).toBe(32)
})

test('a receiver of which two answers of five are slow, whatever it is sent, gets as many as a quick one', () => {
  const slots = createSlots()
  let n = 0
  expect(rounds(slots, 200, () => (n++ % 5 < 2 ? 200 : 20))).toBeGreaterThan(24)
})
