import { expect, test } from 'vitest'
import { createSlots, type Slot, type Slots } from './capacity.ts'
import type { Claimed } from './claim.ts'

const target = {
  url: 'https://hooks.example/',
  urlSealed: null,
  format: 'json' as const,
  template: null,
  headersSealed: null,
  secretSealed: '',
  previousSecretSealed: null,
  previousUntil: null,
  switchAt: null,
}
const batch = { tenantId: 't', subscriptionId: 's', batchId: 'b', claimedUntil: new Date(60_000), attempt: 1, target }
const delivery: Claimed = { batch, deliveryId: 'd', eventId: 'e', event: 'x', payload: '{}', attemptsBefore: 0 }

/** Fills the receiver's slots, and ends all requests after the time that it takes for that many at once. */
function round(slots: Slots, millisecondsFor: (atOnce: number) => number, succeeded = true): number {
  const occupied: Slot[] = []
  for (let slot = slots.occupy(delivery); slot; slot = slots.occupy(delivery)) occupied.push(slot)
  slots.removeBuffered()
  for (const slot of occupied) {
    const [at, endedAt] = [new Date(0), new Date(millisecondsFor(occupied.length))]
    slot.ended({ at, endedAt, statusCode: 200, body: '', error: null, address: null, succeeded })
    slot.recorded()
  }
  return occupied.length
}

function rounds(slots: Slots, count: number, millisecondsFor: (atOnce: number) => number): number {
  let last = 0
  for (let n = 0; n < count; n++) last = round(slots, millisecondsFor)
  return last
}

test('a receiver that responds to many requests as quickly as to few gets 32 at once, and more ahead', () => {
  const slots = createSlots()
  expect(round(slots, () => 80)).toBe(4)
  expect(rounds(slots, 10, () => 80)).toBe(32)
  // As many as it accepts in a second.
  expect(slots.capacity().free.get('s')).toBe(32 + 400)
  expect(rounds(slots, 10, () => 8)).toBe(32)
  // Up to a maximum.
  expect(slots.capacity().free.get('s')).toBe(32 + 2_048)
})

test('a receiver that each further request slows down gets no more than it can process at once', () => {
  const slots = createSlots()
  const last = rounds(slots, 100, (atOnce) => 3 * atOnce)
  expect(last).toBeGreaterThanOrEqual(4)
  expect(last).toBeLessThanOrEqual(12)
})

test('a receiver that becomes slower for good gets as many requests as before after a while', () => {
  const slots = createSlots()
  rounds(slots, 10, () => 2)
  expect(rounds(slots, 20, () => 300)).toBe(4)
  expect(rounds(slots, 200, () => 300)).toBe(32)
  // As many as it accepts in a second, not more.
  expect(slots.capacity().free.get('s')).toBe(32 + 106)
})

test('a receiver that hangs gets one request at a time until it responds, then four', () => {
  const slots = createSlots()
  rounds(slots, 10, () => 2)
  round(slots, () => 10_000, false)
  expect(round(slots, () => 900)).toBe(1)
  expect(rounds(slots, 3, () => 900)).toBe(4)
})

test('rare responses that are quicker than all others do not lower the limit', () => {
  const slots = createSlots()
  let n = 0
  expect(rounds(slots, 200, () => (n++ % 100 === 0 ? 2 : 80))).toBeGreaterThan(16)
})

test('quick refusals do not lower the limit', () => {
  const slots = createSlots()
  rounds(slots, 10, () => 80)
  for (let n = 0; n < 50; n++) round(slots, () => 1, false)
  expect(rounds(slots, 2, () => 80)).toBe(32)
})

test('once a receiver has had too many requests, it gets one more each time it has responded to all of them', () => {
  const slots = createSlots()
  rounds(slots, 10, () => 2)
  expect(round(slots, () => 20)).toBe(32)
  expect(rounds(slots, 5, () => 20)).toBeLessThan(28)
  const reached = round(slots, () => 2)
  expect(round(slots, () => 2)).toBe(reached + 1)
  expect(round(slots, () => 2)).toBe(reached + 2)
})

test('deliveries with an unrecorded outcome occupy no slots, up to a limit', () => {
  const slots = createSlots()
  const ended = (count: number) =>
    Array.from({ length: count }, () => {
      const slot = slots.occupy(delivery)
      slot?.ended(null)
      return slot
    })
  const many = ended(3_500)
  const { slots: left } = slots.capacity()
  const sent = ended(10)
  // Nothing is in flight, so the limit of unrecorded outcomes decides.
  expect(slots.capacity().slots).toBe(left - 10)
  for (let n = 0; n < 10; n++) slots.occupy({ ...delivery, batch: { ...batch, subscriptionId: `${n}` } })
  expect(slots.capacity().slots).toBe(left - 10)
  for (const slot of sent) slot?.recorded()
  expect(slots.capacity().slots).toBe(left)
  for (const slot of many) slot?.recorded()
  expect(slots.capacity().slots).toBeGreaterThan(left)
})

test('deliveries claimed ahead leave capacity for those that have just become due, also of the same tenant', () => {
  const slots = createSlots()
  rounds(slots, 10, () => 8)
  const occupy = (subscriptionId: string) => slots.occupy({ ...delivery, batch: { ...batch, subscriptionId } })
  for (let n = 0; n < 32 + 600; n++) occupy('s')
  // A short poll skips receivers with buffered deliveries; another poll refills the buffer below two thirds.
  expect(slots.capacity(true).free.get('s')).toBe(0)
  expect(slots.capacity().free.get('s')).toBe(2_048 - 600)
  for (let n = 0; n < 1_416; n++) occupy('other')
  expect(slots.capacity().free.get('s')).toBe(0)
  expect(slots.capacity()).toMatchObject({ slots: 1_024, fullTenants: [] })
})

test('a large payload occupies several slots until its outcome is recorded', () => {
  const slots = createSlots()
  const { slots: all } = slots.capacity()
  const occupy = () => slots.occupy({ ...delivery, payload: 'x'.repeat(20_000) })
  const sent = Array.from({ length: 4 }, occupy)
  for (let n = 0; n < 1_020; n++) occupy()
  expect(slots.capacity()).toMatchObject({ slots: 4_096 - 3 * 1_024, fullTenants: ['t'] })
  for (const slot of sent) slot?.ended(null)
  expect(slots.capacity()).toMatchObject({ slots: 1_024, fullTenants: [] })
  const ended = Array.from({ length: 1_300 }, () => {
    const slot = occupy()
    slot?.ended(null)
    return slot
  })
  slots.removeBuffered()
  expect(slots.capacity().slots).toBe(4_096 - 3 * 1_304)
  for (const slot of [...sent, ...ended]) slot?.recorded()
  expect(slots.capacity()).toMatchObject({ slots: all, fullTenants: [] })
})

test('fewer large payloads are claimed ahead, and those that exceed the capacity are released', () => {
  const slots = createSlots()
  rounds(slots, 10, () => 8)
  const occupy = (payload: string) => slots.occupy({ ...delivery, payload })
  for (let n = 0; n < 32; n++) occupy('{}')
  expect(slots.capacity().free.get('s')).toBe(2_048)
  for (let n = 0; n < 1_000; n++) occupy('x'.repeat(65_536))
  expect(slots.capacity().slots).toBeLessThan(0)
  // The receiver is quick and the lease is long, so only the excess is released.
  expect(slots.removeSurplus(new Date(0))).toHaveLength((32 + 8 * 1_000 - 4_096) / 8)
  expect(slots.capacity().slots).toBe(0)
  slots.removeBuffered()
  expect(slots.capacity().free.get('s')).toBe(2_048 / 8)
})

test('a tenant with many requests in flight gets no others', () => {
  const slots = createSlots()
  const occupy = (n: number) => slots.occupy({ ...delivery, batch: { ...batch, subscriptionId: `${n % 200}` } })
  for (let n = 0; n < 767; n++) occupy(n)
  expect(slots.capacity().fullTenants).toEqual([])
  occupy(767)?.ended(null)
  const last = occupy(767)
  expect(slots.capacity().fullTenants).toEqual(['t'])
  last?.ended(null)
  expect(slots.capacity().fullTenants).toEqual([])
})

test('a receiver that hung once soon gets as many requests as before', () => {
  const slots = createSlots()
  rounds(slots, 10, () => 2)
  rounds(slots, 5, () => 20)
  round(slots, () => 10_000, false)
  expect(rounds(slots, 8, () => 2)).toBe(32)
})

test('a receiver with two slow responses in five, however few requests it gets, gets as many as a quick one', () => {
  const slots = createSlots()
  let n = 0
  expect(rounds(slots, 200, () => (n++ % 5 < 2 ? 200 : 20))).toBeGreaterThan(24)
})
