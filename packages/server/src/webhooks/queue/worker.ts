/*
 * The life of a delivery. The names in parentheses are functions below, in the same order. ../tables.sql describes the tables, and
 * docs/decisions/0007-webhook-queue.md says why they are as they are.
 *
 * Added: ../append.ts records an event, and ../match.ts finds the subscriptions that receive it. In the same transaction,
 * add.ts inserts a row of webhook_deliveries for each, and a row of webhook_queue for up to 64 of them. It notifies the
 * workers.
 *
 * Claimed (`wake`, `poll`): a worker polls the queue when it is notified, and every second because nothing announces due
 * retries. claim.ts moves due deliveries to queue rows whose due_at is the end of the worker's lease, and creates their
 * payloads. capacity.ts says how many; pace.ts says how many requests a receiver gets at once. Deliveries of a paused
 * subscription stay queued.
 *
 * Attempted (`start`, `send`): attempt.ts signs the payload and sends it. While the receiver has enough requests in flight,
 * the delivery is buffered in memory.
 *
 * Finished or retried (`finish`, `record`): finish.ts adds a line to webhook_attempts and removes the delivery from the
 * queue row. is_last marks a success and the sixth failure; any other failure is queued again, due after a delay.
 *
 * Released (`release`): finish.ts returns deliveries that this process does not attempt to the queue. If the process dies,
 * they are due again when its lease ends. An attempt that was not recorded is repeated without being counted.
 *
 * ../resend.ts queues a delivery again, delete.ts deletes it from all three tables, and retention.ts deletes old ones.
 */

import { setMaxListeners } from 'node:events'
import { setTimeout as sleep } from 'node:timers/promises'
import type { People } from '../../events/people.ts'
import type { SecretBox } from '../../platform/crypto/secret-box.ts'
import { every } from '../../platform/every.ts'
import type { Logger } from '../../platform/log.ts'
import type { Metrics } from '../../platform/metrics.ts'
import type { Outbound } from '../../platform/outbound/client.ts'
import { leaseMs } from '../../platform/postgres/lease.ts'
import type { Stores } from '../../platform/tenant.ts'
import type { Clock } from '../../platform/time.ts'
import { createSender } from './attempt.ts'
import { createSlots, type Slot } from './capacity.ts'
import { type Claimed, claimDeliveries } from './claim.ts'
import { type Attempted, finishAttempts, releaseDeliveries } from './finish.ts'

/** Retries come due without a notification. */
const POLL_EVERY_MS = 1_000
/** Capacity that accumulates before the next poll, because a poll costs PostgreSQL as much as a hundred deliveries. */
const POLL_AGAIN_AFTER_MS = 80
/** Outcomes that are recorded together, in one statement. */
const RECORD_AFTER_MS = 80
/** The wait after a failure to record them. */
const RECORD_AGAIN_AFTER_MS = 500
/** Once the worker is told to stop, requests in flight may take this long. */
const STOP_WITHIN_MS = 2_000

export interface DeliveryWorker {
  /** Polls for due deliveries now. */
  wake(): void
  /** Claims nothing more, records the attempts that end soon and releases the rest. */
  stop(): Promise<void>
}

/** Starts sending deliveries. Any number of processes may: they share the queue. */
export function startDeliveryWorker(dependencies: {
  stores: Stores
  people: People
  outbound: Outbound
  secrets: SecretBox
  clock: Clock
  log: Logger
  metrics: Metrics
}): DeliveryWorker {
  const { stores, clock, log, metrics } = dependencies
  const slots = createSlots()
  const attempt = createSender(dependencies)
  const stopping = new AbortController()
  // Each request in flight listens to it.
  setMaxListeners(0, stopping.signal)
  let stopped = false

  let polling: Promise<void> | null = null
  let isPollWanted = false
  let isNextPollShort = false
  let nextPoll: NodeJS.Timeout | null = null

  /** Polls now, or again after the poll in progress. Deliveries may have become due, so a short poll is enough. */
  function wake(): void {
    if (stopped) return
    isPollWanted = true
    polling ??= poll().finally(() => {
      polling = null
      if (isPollWanted) wake()
    })
  }

  /** Polls for all receivers. A short poll skips those that have buffered deliveries in this process. */
  function wakeForAll(): void {
    isNextPollShort = false
    wake()
  }

  /** Capacity becomes free in small pieces. Polling for each would claim deliveries one by one. */
  function wakeSoon(): void {
    nextPoll ??= setTimeout(() => {
      nextPoll = null
      wakeForAll()
    }, POLL_AGAIN_AFTER_MS)
  }

  async function poll(): Promise<void> {
    while (isPollWanted && !stopped) {
      isPollWanted = false
      try {
        await release(slots.removeSurplus(clock()))
        const capacity = slots.capacity(isNextPollShort)
        isNextPollShort = true
        if (capacity.slots <= 0) return
        const { deliveries, wereDue } = await claimDeliveries(dependencies, capacity, clock())
        for (const delivery of deliveries) start(delivery)
        // More may be due than one claim's share, or another process was about to claim the same ones.
        if (wereDue) wakeSoon()
      } catch (error) {
        log.warn({ err: error }, 'due webhook deliveries could not be claimed; retrying at the next poll')
        return
      }
    }
  }

  /** Deliveries without a recorded outcome, except buffered ones. */
  let started = 0
  /** For `stop`, which waits for them. */
  let onIdle: (() => void) | null = null
  /** Deliveries whose request `stop` has aborted. */
  const aborted: Claimed[] = []

  /** Sends a delivery if its receiver can get another request now; otherwise it is buffered. */
  function start(delivery: Claimed): void {
    if (stores.closed.has(delivery.batch.tenantId)) return void release([delivery])
    const slot = slots.occupy(delivery)
    if (!slot) return
    started++
    void send(delivery, slot).finally(() => {
      if (--started === 0) onIdle?.()
    })
  }

  async function send(delivery: Claimed, slot: Slot): Promise<void> {
    const outcome = await attempt(delivery, stopping.signal)
    slot.ended(outcome)
    if (!stopped) startBuffered(delivery.batch.subscriptionId)
    if (outcome) {
      metrics.webhookAttempts.inc({ outcome: outcome.succeeded ? 'succeeded' : 'failed' })
      await finish({ delivery, outcome })
    } else aborted.push(delivery)
    slot.recorded()
    wakeSoon()
  }

  function startBuffered(subscriptionId: string): void {
    for (let next = slots.nextBuffered(subscriptionId); next; next = slots.nextBuffered(subscriptionId)) start(next)
  }

  const unrecorded: Attempted[] = []
  let nextRecording: Promise<void> | null = null
  let recording: Promise<void> | null = null

  /** Records an outcome together with others. Resolves once they are recorded. */
  function finish(attempted: Attempted): Promise<void> {
    unrecorded.push(attempted)
    nextRecording ??= sleep(RECORD_AFTER_MS).then(async () => {
      await recording
      nextRecording = null
      recording = record(unrecorded.splice(0))
      await recording
    })
    return nextRecording
  }

  /** Stops trying when the leases have ended: other workers then repeat the attempts. */
  async function record(attempted: Attempted[]): Promise<void> {
    const endsAt = performance.now() + leaseMs('webhook_batch')
    do {
      try {
        await finishAttempts(stores.database, attempted)
        return
      } catch (error) {
        log.warn({ err: error }, 'webhook attempts could not be recorded; retrying shortly')
        if (stopped) return
        await sleep(RECORD_AGAIN_AFTER_MS)
      }
    } while (performance.now() < endsAt)
  }

  async function release(deliveries: Claimed[]): Promise<void> {
    await releaseDeliveries(stores.database, deliveries, clock()).catch((error) =>
      log.warn({ err: error }, 'webhook deliveries could not be released; they are due again when their lease ends'),
    )
  }

  async function stop(): Promise<void> {
    stopped = true
    if (nextPoll) clearTimeout(nextPoll)
    await timer.stop()
    await polling
    const limit = setTimeout(() => stopping.abort(), STOP_WITHIN_MS)
    if (started > 0) await new Promise<void>((resolve) => (onIdle = resolve))
    clearTimeout(limit)
    await release([...aborted, ...slots.removeBuffered()])
  }

  const timer = every(POLL_EVERY_MS, async () => wakeForAll())
  wake()
  return { wake, stop }
}
