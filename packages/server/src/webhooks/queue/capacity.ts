import type { Claimed, Room } from './claim.ts'
import type { Outcome } from './finish.ts'
import { AHEAD_LEFT, createPaces, PER_SUBSCRIPTION_FIRST, SLOW_MS } from './pace.ts'

/**
 * Deliveries that one process has in hand at once; each holds one payload in memory. A quick machine sends so many in the
 * time of a few looks at the queue: with less it waits for the next look.
 */
const SLOTS = 4_096
const PER_TENANT = 3_072
/** With more than this in hand a tenant gets nothing ahead, so that there is room for what has just become due. */
const AHEAD_PER_TENANT = 2_048
/** With more requests than this under way a tenant gets no others: they would stand before everybody else's. */
const REQUESTS_PER_TENANT = 768
/** A payload takes a slot for each of so many characters, so that large ones do not fill the memory. */
const SLOT_CHARACTERS = 8_192
/** By one look: what has just become due waits for the one before. */
const TAKEN_AT_ONCE_MAX = 1_024
/** Slots of deliveries whose outcome waits to be written down; with more than this nothing new is taken. */
const UNWRITTEN_MAX = 4_096
const SIZES_REMEMBERED_MAX = 1_000
/** By what share of the difference smaller payloads change what a subscription's are expected to be. */
const SHRINKING = 0.05
/** Requests that left their slots because they were not answered in time. */
const WAITING_BESIDE_MAX = 4_096
/** What is left of a lease must do for an attempt and for writing it down. */
const LEASE_LEFT_MS_MIN = 13_000

/** A delivery in hand. */
export interface Slot {
  /** The receiver is done with it; what is left is to write that down. */
  answered(outcome: Outcome | null): void
  /** What came of it is written down, or will not be. */
  written(): void
}

/**
 * Deals out what a process can do at once, so that no receiver can hold up another one: a queue begins with few slots, and
 * who hangs keeps none for longer than a second.
 */
export interface Slots {
  /** Room to send it now; null when its receiver has as many as it can take: then it is held. */
  take(delivery: Claimed): Slot | null
  /** One that was held and whose receiver has room again. */
  next(subscriptionId: string): Claimed | undefined
  /** Takes out what was held too long, for a receiver that is not quick any more, or for want of room: others may take it. */
  surplus(now: Date): Claimed[]
  /** Takes out everything that is held. */
  empty(): Claimed[]
  /** A short look is for what has just become due: it passes over receivers that have something waiting here. */
  room(isShort?: boolean): Room
}

export function createSlots(): Slots {
  const underWay = new Map<string, number>()
  const requestsOf = new Map<string, number>()
  const byTenant = new Map<string, number>()
  const paces = createPaces()
  const held = new Map<string, Claimed[]>()
  /** Slots that a delivery of a subscription is expected to take: they are known only when it has been taken. */
  const sizes = new Map<string, number>()
  let taken = 0
  let waitingBeside = 0
  let unwritten = 0

  const isFull = (id: string) => (underWay.get(id) ?? 0) >= paces.limitOf(id)

  function occupy(delivery: Claimed, change: 1 | -1): void {
    const slots = change * slotsOf(delivery)
    taken += slots
    add(byTenant, delivery.batch.tenantId, slots)
  }

  function hold(delivery: Claimed): void {
    occupy(delivery, 1)
    const { subscriptionId } = delivery.batch
    expectSize(subscriptionId, slotsOf(delivery))
    const others = held.get(subscriptionId)
    if (others) others.push(delivery)
    else held.set(subscriptionId, [delivery])
  }

  function expectSize(subscriptionId: string, slots: number): void {
    if (sizes.size >= SIZES_REMEMBERED_MAX) sizes.clear()
    const expected = sizes.get(subscriptionId) ?? 1
    sizes.set(subscriptionId, Math.max(slots, expected + (slots - expected) * SHRINKING))
  }

  function takeOut(isKept: (delivery: Claimed) => boolean): Claimed[] {
    const out: Claimed[] = []
    for (const [id, waiting] of held) {
      const { kept = [], gone = [] } = Object.groupBy(waiting, (each) => (isKept(each) ? 'kept' : 'gone'))
      if (kept.length > 0) held.set(id, kept)
      else held.delete(id)
      out.push(...gone)
    }
    for (const delivery of out) occupy(delivery, -1)
    return out
  }

  return {
    take: (delivery) => {
      const { tenantId, subscriptionId } = delivery.batch
      if (isFull(subscriptionId)) {
        hold(delivery)
        return null
      }
      let beside = false
      occupy(delivery, 1)
      add(underWay, subscriptionId, 1)
      add(requestsOf, tenantId, 1)
      const leaveSlot = () => {
        occupy(delivery, -1)
        add(requestsOf, tenantId, -1)
      }
      const stepAside = () => {
        paces.hangs(subscriptionId)
        if (waitingBeside >= WAITING_BESIDE_MAX) return
        beside = true
        leaveSlot()
        waitingBeside++
      }
      const timer = setTimeout(stepAside, SLOW_MS)
      return {
        answered: (outcome) => {
          clearTimeout(timer)
          add(underWay, subscriptionId, -1)
          if (beside) waitingBeside--
          else leaveSlot()
          unwritten += slotsOf(delivery)
          if (outcome) paces.learn(subscriptionId, outcome)
        },
        written: () => {
          unwritten -= slotsOf(delivery)
        },
      }
    },
    next: (subscriptionId) => {
      if (isFull(subscriptionId)) return
      const waiting = held.get(subscriptionId)
      const delivery = waiting?.shift()
      if (waiting?.length === 0) held.delete(subscriptionId)
      if (delivery) occupy(delivery, -1)
      return delivery
    },
    surplus: (now) => {
      const latest = now.getTime() + LEASE_LEFT_MS_MIN
      // Payloads that were larger than expected.
      let tooMuch = taken - SLOTS
      return takeOut((delivery) => {
        const { tenantId, subscriptionId, leaseUntil } = delivery.batch
        if (tooMuch > 0 && (byTenant.get(tenantId) ?? 0) >= PER_TENANT) {
          tooMuch -= slotsOf(delivery)
          return false
        }
        return paces.isQuick(subscriptionId) && leaseUntil.getTime() > latest
      })
    },
    empty: () => takeOut(() => false),
    room: (isShort = false) => {
      const free = new Map<string, number>()
      for (const id of new Set([...underWay.keys(), ...paces.known()])) {
        const [next, waiting] = [held.get(id)?.[0], held.get(id)?.length ?? 0]
        const ahead = Math.floor(paces.aheadOf(id) / (sizes.get(id) ?? 1))
        const hasTenantMuch = next !== undefined && (byTenant.get(next.batch.tenantId) ?? 0) >= AHEAD_PER_TENANT
        const isSupplied = hasTenantMuch || waiting > (isShort ? 0 : ahead * AHEAD_LEFT)
        const wanted = paces.limitOf(id) + (isSupplied ? 0 : ahead)
        free.set(id, Math.max(0, wanted - (underWay.get(id) ?? 0) - waiting))
      }
      const isFullTenant = ([id, slots]: [string, number]) =>
        slots >= PER_TENANT || (requestsOf.get(id) ?? 0) >= REQUESTS_PER_TENANT
      const fullTenants = [...byTenant].filter(isFullTenant).map(([id]) => id)
      const slots = Math.min(SLOTS - taken, UNWRITTEN_MAX - unwritten, TAKEN_AT_ONCE_MAX)
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
