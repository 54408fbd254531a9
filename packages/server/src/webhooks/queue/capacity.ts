import type { Capacity, Claimed } from './claim.ts'
import type { Outcome } from './finish.ts'
import { BUFFER_REFILL_SHARE, createPaces, PER_SUBSCRIPTION_FIRST, SLOW_MS } from './pace.ts'

/**
 * Slots for deliveries that are in flight or buffered; each has one payload in memory. A fast machine sends this many
 * during a few polls; with fewer, it would wait for the next poll.
 */
const SLOTS = 4_096
const PER_TENANT = 3_072
/** A tenant with more than this gets no deliveries ahead, which leaves capacity for those that have just become due. */
const AHEAD_PER_TENANT = 2_048
/** A tenant with more requests in flight than this gets no others, because later requests of all tenants wait behind them. */
const REQUESTS_PER_TENANT = 768
/** A payload needs one slot for each of these, so that large payloads do not fill the memory. */
const SLOT_CHARACTERS = 8_192
/** Slots that one poll fills. Deliveries that have just become due wait for the poll before theirs. */
const PER_POLL = 1_024
/** Slots of deliveries with an outcome that is not recorded yet. With more than this, nothing is claimed. */
const UNRECORDED_MAX = 4_096
const SIZES_REMEMBERED_MAX = 1_000
/** Smaller payloads lower a subscription's expected size by this share of the difference. */
const SHRINKING = 0.05
/** Requests that have given up their slots because they are slow. */
const SLOW_REQUESTS_MAX = 4_096
/** The rest of a lease must be long enough for an attempt and for recording it. */
const LEASE_LEFT_MS_MIN = 13_000

/** The slot of a delivery in flight. */
export interface Slot {
  /** Ends the request; the outcome is not recorded yet. null: the request was aborted. */
  ended(outcome: Outcome | null): void
  /** Ends the delivery, whether or not its outcome could be recorded. */
  recorded(): void
}

/**
 * Distributes the capacity of a process, so that no receiver delays another: a new receiver gets few requests at once, and
 * a request that hangs occupies a slot for at most a second.
 */
export interface Slots {
  /** Returns a slot if the delivery can be sent now. Otherwise buffers it and returns null. */
  occupy(delivery: Claimed): Slot | null
  /** Removes a buffered delivery that can be sent now. */
  nextBuffered(subscriptionId: string): Claimed | undefined
  /**
   * Removes buffered deliveries that other processes should send: their lease is about to end, their receiver is no longer
   * quick, or they exceed the capacity.
   */
  removeSurplus(now: Date): Claimed[]
  /** Removes all buffered deliveries. */
  removeBuffered(): Claimed[]
  /** What can be claimed. A short poll skips receivers with buffered deliveries. */
  capacity(isShortPoll?: boolean): Capacity
}

export function createSlots(): Slots {
  const inFlight = new Map<string, number>()
  const requestsOfTenants = new Map<string, number>()
  const slotsOfTenants = new Map<string, number>()
  const paces = createPaces()
  const buffered = new Map<string, Claimed[]>()
  /** The slots that a delivery of a subscription probably needs. Its payload is known only once it is claimed. */
  const expectedSizes = new Map<string, number>()
  let occupied = 0
  let slowRequests = 0
  let unrecorded = 0

  const isFull = (id: string) => (inFlight.get(id) ?? 0) >= paces.limitOf(id)

  function count(delivery: Claimed, change: 1 | -1): void {
    const slots = change * slotsOf(delivery)
    occupied += slots
    add(slotsOfTenants, delivery.batch.tenantId, slots)
  }

  function buffer(delivery: Claimed): void {
    count(delivery, 1)
    const { subscriptionId } = delivery.batch
    learnSize(subscriptionId, slotsOf(delivery))
    const others = buffered.get(subscriptionId)
    if (others) others.push(delivery)
    else buffered.set(subscriptionId, [delivery])
  }

  function learnSize(subscriptionId: string, slots: number): void {
    if (expectedSizes.size >= SIZES_REMEMBERED_MAX) expectedSizes.clear()
    const expected = expectedSizes.get(subscriptionId) ?? 1
    expectedSizes.set(subscriptionId, Math.max(slots, expected + (slots - expected) * SHRINKING))
  }

  function removeUnless(isKept: (delivery: Claimed) => boolean): Claimed[] {
    const removed: Claimed[] = []
    for (const [id, deliveries] of buffered) {
      const { kept = [], rest = [] } = Object.groupBy(deliveries, (each) => (isKept(each) ? 'kept' : 'rest'))
      if (kept.length > 0) buffered.set(id, kept)
      else buffered.delete(id)
      removed.push(...rest)
    }
    for (const delivery of removed) count(delivery, -1)
    return removed
  }

  function send(delivery: Claimed): Slot {
    const { tenantId, subscriptionId } = delivery.batch
    let isSlow = false
    count(delivery, 1)
    add(inFlight, subscriptionId, 1)
    add(requestsOfTenants, tenantId, 1)
    const freeSlot = () => {
      count(delivery, -1)
      add(requestsOfTenants, tenantId, -1)
    }
    const timer = setTimeout(() => {
      paces.hangs(subscriptionId)
      if (slowRequests >= SLOW_REQUESTS_MAX) return
      isSlow = true
      freeSlot()
      slowRequests++
    }, SLOW_MS)
    return {
      ended: (outcome) => {
        clearTimeout(timer)
        add(inFlight, subscriptionId, -1)
        if (isSlow) slowRequests--
        else freeSlot()
        unrecorded += slotsOf(delivery)
        if (outcome) paces.learn(subscriptionId, outcome)
      },
      recorded: () => {
        unrecorded -= slotsOf(delivery)
      },
    }
  }

  return {
    occupy: (delivery) => {
      if (!isFull(delivery.batch.subscriptionId)) return send(delivery)
      buffer(delivery)
      return null
    },
    nextBuffered: (subscriptionId) => {
      if (isFull(subscriptionId)) return
      const deliveries = buffered.get(subscriptionId)
      const delivery = deliveries?.shift()
      if (deliveries?.length === 0) buffered.delete(subscriptionId)
      if (delivery) count(delivery, -1)
      return delivery
    },
    removeSurplus: (now) => {
      const latest = now.getTime() + LEASE_LEFT_MS_MIN
      // Payloads may be larger than expected.
      let excess = occupied - SLOTS
      return removeUnless((delivery) => {
        const { tenantId, subscriptionId, claimedUntil } = delivery.batch
        if (excess > 0 && (slotsOfTenants.get(tenantId) ?? 0) >= PER_TENANT) {
          excess -= slotsOf(delivery)
          return false
        }
        return paces.isQuick(subscriptionId) && claimedUntil.getTime() > latest
      })
    },
    removeBuffered: () => removeUnless(() => false),
    capacity: (isShortPoll = false) => {
      const free = new Map<string, number>()
      for (const id of new Set([...inFlight.keys(), ...paces.known()])) {
        const [next, waiting] = [buffered.get(id)?.[0], buffered.get(id)?.length ?? 0]
        const ahead = Math.floor(paces.aheadOf(id) / (expectedSizes.get(id) ?? 1))
        const hasTenantEnough = next !== undefined && (slotsOfTenants.get(next.batch.tenantId) ?? 0) >= AHEAD_PER_TENANT
        const hasEnough = hasTenantEnough || waiting > (isShortPoll ? 0 : ahead * BUFFER_REFILL_SHARE)
        const wanted = paces.limitOf(id) + (hasEnough ? 0 : ahead)
        free.set(id, Math.max(0, wanted - (inFlight.get(id) ?? 0) - waiting))
      }
      const isFullTenant = ([id, slots]: [string, number]) =>
        slots >= PER_TENANT || (requestsOfTenants.get(id) ?? 0) >= REQUESTS_PER_TENANT
      const fullTenants = [...slotsOfTenants].filter(isFullTenant).map(([id]) => id)
      const slots = Math.min(SLOTS - occupied, UNRECORDED_MAX - unrecorded, PER_POLL)
      return { slots, perSubscription: PER_SUBSCRIPTION_FIRST, free, fullTenants }
    },
  }
}

function slotsOf({ payload }: Claimed): number {
  return Math.ceil(payload.length / SLOT_CHARACTERS)
}

function add(counts: Map<string, number>, key: string, change: number): void {
  const count = (counts.get(key) ?? 0) + change
  if (count === 0) counts.delete(key)
  else counts.set(key, count)
}
