import { setMaxListeners } from 'node:events'
import { setTimeout as sleep } from 'node:timers/promises'
import type { SecretBox } from '../../platform/crypto/secret-box.ts'
import { every } from '../../platform/every.ts'
import type { Logger } from '../../platform/log.ts'
import type { Metrics } from '../../platform/metrics.ts'
import type { Outbound } from '../../platform/outbound/client.ts'
import type { Stores } from '../../platform/tenant.ts'
import type { Clock } from '../../platform/time.ts'
import { createSender } from './attempt.ts'
import { createSlots, type Slot } from './capacity.ts'
import { type Claimed, claimDeliveries } from './claim.ts'
import { type Attempted, giveBack, recordAttempts } from './finish.ts'

/** Longer than any attempt can take; a killed process' deliveries are taken over after it. */
const LEASE_MS = 20_000
/** Retries come due without anybody saying so. */
const LOOK_EVERY_MS = 1_000
/** A look costs PostgreSQL as much as a hundred deliveries: so long room may gather before the next. */
const LOOK_AGAIN_AFTER_MS = 80
/** So long results gather before they are written in one statement. */
const RECORD_AFTER_MS = 80
const RECORD_AGAIN_AFTER_MS = 500
/** Told to stop, attempts under way get so long to finish. */
const FINISH_WITHIN_MS = 2_000

export interface DeliveryWorker {
  /** Looks for due deliveries now. */
  wake(): void
  /** Takes nothing more and ends what is under way; what got no answer yet is left to whoever works next. */
  stop(): Promise<void>
}

interface Dependencies {
  stores: Stores
  outbound: Outbound
  secrets: SecretBox
  clock: Clock
  log: Logger
  metrics: Metrics
}

/** Starts sending. Any number of processes may: they share the queue. */
export function startDeliveryWorker(dependencies: Dependencies): DeliveryWorker {
  const { stores, clock, log, metrics } = dependencies
  const slots = createSlots()
  const stopping = new AbortController()
  // Every attempt under way listens.
  setMaxListeners(0, stopping.signal)
  const sender = createSender(dependencies)
  /** Attempts that are not written down yet. */
  let underWay = 0
  let finished: (() => void) | null = null
  const results: Attempted[] = []
  const abandoned: Claimed[] = []
  let gathering: Promise<void> | null = null
  let recording: Promise<void> | null = null
  let looking: Promise<void> | null = null
  let lookAgain = false
  let lookForMore = true
  let soon: NodeJS.Timeout | null = null
  let stopped = false

  function wake(): void {
    if (stopped) return
    lookAgain = true
    looking ??= look().finally(() => {
      looking = null
      if (lookAgain) wake()
    })
  }

  /** Not for what has just become due alone: a longer look. */
  function wakeForMore(): void {
    lookForMore = true
    wake()
  }

  /** Room comes back one by one; looking each time would take one delivery each time. */
  function wakeSoon(): void {
    soon ??= setTimeout(() => {
      soon = null
      wakeForMore()
    }, LOOK_AGAIN_AFTER_MS)
  }

  async function look(): Promise<void> {
    while (lookAgain && !stopped) {
      lookAgain = false
      try {
        await handBack(slots.surplus(clock()))
        const room = slots.room(!lookForMore)
        lookForMore = false
        if (room.slots <= 0) return
        const { deliveries, wereDue } = await claimDeliveries(stores, room, clock(), LEASE_MS)
        for (const delivery of deliveries) start(delivery)
        // There may be more than one turn's share, and another process may have been about to take the same.
        if (wereDue) wakeSoon()
      } catch (error) {
        log.warn({ err: error }, 'due webhook deliveries could not be looked up; it is tried again')
        return
      }
    }
  }

  /** What cannot be sent now is held until its receiver has room. */
  function start(delivery: Claimed): void {
    const slot = slots.take(delivery)
    if (!slot) return
    underWay++
    void send(delivery, slot).finally(() => {
      if (--underWay === 0) finished?.()
    })
  }

  async function handBack(deliveries: Claimed[]): Promise<void> {
    await giveBack(stores.database, deliveries, clock()).catch((error) =>
      log.warn({ err: error }, 'webhook deliveries that were not sent wait for the end of their lease'),
    )
  }

  async function send(delivery: Claimed, slot: Slot): Promise<void> {
    const outcome = await sender(delivery, stopping.signal)
    slot.answered(outcome)
    if (!stopped) startNext(delivery.batch.subscriptionId)
    if (outcome) {
      metrics.webhookAttempts.inc({ outcome: outcome.succeeded ? 'succeeded' : 'failed' })
      results.push({ delivery, outcome })
      await record()
    } else abandoned.push(delivery)
    slot.written()
    wakeSoon()
  }

  function startNext(subscriptionId: string): void {
    for (let held = slots.next(subscriptionId); held; held = slots.next(subscriptionId)) start(held)
  }

  /** Answers when the results that are there now are written. */
  function record(): Promise<void> {
    gathering ??= sleep(RECORD_AFTER_MS).then(async () => {
      await recording
      gathering = null
      recording = recordAll(results.splice(0))
      await recording
    })
    return gathering
  }

  /** Ends at the latest with the leases: then another worker repeats the attempts, because nobody knows of these. */
  async function recordAll(attempted: Attempted[]): Promise<void> {
    const endsAt = performance.now() + LEASE_MS
    do {
      try {
        await recordAttempts(stores.database, attempted)
        return
      } catch (error) {
        log.warn({ err: error }, 'the outcome of webhook attempts could not be written down; it is tried again')
        if (stopped) return
        await sleep(RECORD_AGAIN_AFTER_MS)
      }
    } while (performance.now() < endsAt)
  }

  const timer = every(LOOK_EVERY_MS, async () => wakeForMore())
  wake()
  return {
    wake,
    stop: async () => {
      stopped = true
      if (soon) clearTimeout(soon)
      await timer.stop()
      await looking
      const limit = setTimeout(() => stopping.abort(), FINISH_WITHIN_MS)
      if (underWay > 0) await new Promise<void>((resolve) => (finished = resolve))
      clearTimeout(limit)
      await handBack([...abandoned, ...slots.empty()])
    },
  }
}
