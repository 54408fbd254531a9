import type { Claimed, Room } from './claim.ts'
import type { Outcome } from './record.ts'

/** Attempts that one process has under way at once; each holds one payload in memory. */
const SLOTS = 256
const PER_TENANT = 96
const PER_SUBSCRIPTION = 16
/** A receiver that needs longer holds slots that others could use: it gets fewer of them. */
const SLOW_MS = 1_000
const PER_SLOW_SUBSCRIPTION = 4
const PER_HANGING_SUBSCRIPTION = 1
/** However many receivers hang, half of the process is for the others. */
const HANGING_SLOTS_MAX = SLOTS / 2
const REMEMBERED_MAX = 2_000

/** Deals the slots of a process out, so that no receiver can hold up another one. */
export interface Slots {
  take(delivery: Claimed): void
  giveBack(delivery: Claimed, outcome: Outcome | null): void
  room(): Room
}

export function createSlots(): Slots {
  const underWay = new Map<string, number>()
  const byTenant = new Map<string, number>()
  /** Limits of subscriptions whose last attempt took long. */
  const limits = new Map<string, number>()
  let taken = 0

  const limitOf = (subscriptionId: string) => limits.get(subscriptionId) ?? PER_SUBSCRIPTION

  function learn(subscriptionId: string, { at, endedAt, succeeded }: Outcome): void {
    if (endedAt.getTime() - at.getTime() < SLOW_MS) limits.delete(subscriptionId)
    else {
      if (limits.size >= REMEMBERED_MAX) limits.clear()
      limits.set(subscriptionId, succeeded ? PER_SLOW_SUBSCRIPTION : PER_HANGING_SUBSCRIPTION)
    }
  }

  return {
    take: ({ tenantId, subscriptionId }) => {
      taken++
      add(underWay, subscriptionId, 1)
      add(byTenant, tenantId, 1)
    },
    giveBack: ({ tenantId, subscriptionId }, outcome) => {
      taken--
      add(underWay, subscriptionId, -1)
      add(byTenant, tenantId, -1)
      if (outcome) learn(subscriptionId, outcome)
    },
    room: () => {
      let hanging = 0
      for (const [id, count] of underWay) if (limitOf(id) === PER_HANGING_SUBSCRIPTION) hanging += count
      const free = new Map<string, number>()
      for (const id of new Set([...underWay.keys(), ...limits.keys()])) {
        const limit = limitOf(id)
        const barred = limit === PER_HANGING_SUBSCRIPTION && hanging >= HANGING_SLOTS_MAX
        free.set(id, barred ? 0 : Math.max(0, limit - (underWay.get(id) ?? 0)))
      }
      const fullTenants = [...byTenant].filter(([, count]) => count >= PER_TENANT).map(([id]) => id)
      return { slots: SLOTS - taken, perSubscription: PER_SUBSCRIPTION, free, fullTenants }
    },
  }
}

function add(counts: Map<string, number>, key: string, change: number): void {
  const count = (counts.get(key) ?? 0) + change
  if (count === 0) counts.delete(key)
  else counts.set(key, count)
}
