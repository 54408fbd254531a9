import { EVENT_ID_ORDER } from '../events/table.ts'
import type { EventGroup } from '../journal/event-record.ts'
import { contactsOf } from '../owners/owners.ts'
import { evenIfClosed } from '../platform/closed-tenants.ts'
import { ServiceError } from '../platform/errors.ts'
import { every } from '../platform/every.ts'
import type { Logger } from '../platform/log.ts'
import { openTenant, type Stores } from '../platform/tenant.ts'
import { type Clock, MINUTE_MS } from '../platform/time.ts'
import { type LiveEvent, type RecordedEvent, toLiveEvent } from './event.ts'

/** Open dashboards per person, or connections per API key. */
const READERS_PER_CALLER_MAX = 10
const READERS_PER_TENANT_MAX = 50
/** Each uses a connection and up to 64 KiB of unsent data. */
const READERS_MAX = 1_000
const POLL_EVERY_MS = 1_000
/** More than anyone can read in a second. */
const EVENTS_PER_POLL = 200
/** How far each poll overlaps the previous one, because the clocks of processes differ a little. */
const OVERLAP_MS = 5_000
/** Older events are not live. */
const HAPPENED_WITHIN_MS = 10 * MINUTE_MS
const SENT_IDS_MAX = 2_000

/** Receives a tenant's events. It must neither block nor throw. */
export type LiveReader = (event: LiveEvent) => void

/** Sends a tenant's events to its readers as they are recorded. */
export interface LiveFeed {
  /** Sends readers what this process recorded, once it is committed. It neither blocks nor throws. */
  onRecorded(groups: readonly Pick<EventGroup, 'tenantId' | 'events'>[]): void
  /**
   * @param callerId the person or API key that reads.
   * @returns a function that closes the feed.
   * @throws ServiceError 429 `too_many_live_readers`.
   */
  read(tenantId: string, callerId: string, reader: LiveReader): () => void
  stop(): Promise<void>
}

interface Audience {
  /** The open feeds with their callers. */
  readers: Map<LiveReader, string>
  /** Ids of events already sent, oldest first, so that overlapping polls send nothing twice. */
  sentIds: Set<string>
  polledAt: Date
}

/**
 * Sends events recorded by this process at once, from memory. Those of other processes are found by polling ClickHouse
 * once a second for each tenant with an open feed. A notification through PostgreSQL would add a message to every flush
 * of the journal, watched or not; polling costs nothing unless a dashboard is open.
 */
export function startLiveFeed({
  stores,
  clock,
  log,
  hasOthers,
}: {
  stores: Stores
  clock: Clock
  log: Logger
  /** Whether other processes may record events too. */
  hasOthers: boolean
}): LiveFeed {
  const audiences = new Map<string, Audience>()
  let readersOpen = 0

  function notify(audience: Audience, record: RecordedEvent, contactId: string | null): void {
    if (audience.sentIds.has(record.event_id)) return
    remember(audience.sentIds, record.event_id)
    const event = toLiveEvent(record, contactId)
    for (const reader of audience.readers.keys()) reader(event)
  }

  async function poll(tenantId: string, audience: Audience): Promise<void> {
    const now = clock()
    const since = new Date(audience.polledAt.getTime() - OVERLAP_MS)
    // If it is closed, its readers are about to be refused.
    const tenant = openTenant(evenIfClosed(stores), tenantId)
    const rows = await tenant.events.select<RecordedEvent & { timestamp_ms: number }>({
      name: 'live.others',
      lane: 'light',
      columns: `event_id, event, toUnixTimestamp64Milli(timestamp) AS timestamp_ms, url, title, text, owner_id, is_anonymous, visitor_id,
        browser, is_bot`,
      where: [
        'is_system = 0',
        "timestamp >= parseDateTime64BestEffort({happened: String}, 3, 'UTC')",
        "received_at >= parseDateTime64BestEffort({since: String}, 3, 'UTC')",
      ],
      parameters: {
        happened: new Date(now.getTime() - HAPPENED_WITHIN_MS).toISOString(),
        since: since.toISOString(),
      },
      orderBy: `received_at DESC, timestamp DESC, ${EVENT_ID_ORDER} DESC`,
      limit: EVENTS_PER_POLL,
      secondsMax: 5,
    })
    audience.polledAt = now
    const contacts = await contactsOf(tenant, rows)
    for (const row of rows.reverse()) {
      notify(audience, { ...row, timestamp: row.timestamp_ms }, contacts.get(row.owner_id) ?? null)
    }
  }

  let failing = false
  const polling = hasOthers
    ? every(POLL_EVERY_MS, async () => {
        for (const [tenantId, audience] of audiences) {
          try {
            await poll(tenantId, audience)
            failing = false
          } catch (error) {
            if (!failing)
              log.warn({ err: error }, 'the live feed cannot read the events of other processes; it keeps trying')
            failing = true
          }
        }
      })
    : null

  return {
    onRecorded: (groups) => {
      if (audiences.size === 0) return
      for (const { tenantId, events } of groups) {
        const audience = audiences.get(tenantId)
        if (!audience) continue
        const since = clock().getTime() - HAPPENED_WITHIN_MS
        for (const event of events) {
          // Skips old events: the first read of a mailbox records months of mail.
          if (event.timestamp >= since) notify(audience, event, event.is_anonymous ? null : event.owner_id)
        }
      }
    },
    read: (tenantId, callerId, reader) => {
      const audience = audiences.get(tenantId) ?? { readers: new Map(), sentIds: new Set(), polledAt: clock() }
      const { readers } = audience
      const ofCaller = [...readers.values()].filter((id) => id === callerId).length
      if (ofCaller >= READERS_PER_CALLER_MAX) throw tooMany(READERS_PER_CALLER_MAX, 'person or API key')
      if (readers.size >= READERS_PER_TENANT_MAX) throw tooMany(READERS_PER_TENANT_MAX, 'tenant')
      if (readersOpen >= READERS_MAX) throw tooMany(READERS_MAX, 'process')
      audiences.set(tenantId, audience)
      readers.set(reader, callerId)
      readersOpen++
      return () => {
        if (!readers.delete(reader)) return
        readersOpen--
        if (readers.size === 0 && audiences.get(tenantId) === audience) audiences.delete(tenantId)
      }
    },
    stop: async () => {
      await polling?.stop()
    },
  }
}

function tooMany(max: number, scope: string): ServiceError {
  const message = `At most ${max} live feeds per ${scope} can be open at once. Close one, or try again in a minute.`
  return new ServiceError(429, 'too_many_live_readers', message, { retryAfterSeconds: 60 })
}

function remember(sentIds: Set<string>, eventId: string): void {
  sentIds.add(eventId)
  if (sentIds.size <= SENT_IDS_MAX) return
  for (const oldest of sentIds) {
    sentIds.delete(oldest)
    break
  }
}
