import { appendRecords, type SystemEvent, toRecords } from '../journal/append.ts'
import type { EventRecord } from '../journal/event-record.ts'
import type { LiveTelling } from '../live/feed.ts'
import type { Logger } from '../platform/log.ts'
import { repeatOnCollision } from '../platform/postgres/collisions.ts'
import type { Tenant } from '../platform/tenant.ts'
import type { Clock } from '../platform/time.ts'
import { createTurns } from '../platform/turns.ts'
import type { RecordedEvent } from '../segments/check-queue.ts'
import type { SegmentFollower } from '../segments/follow.ts'

/** What every change of contacts needs beside the tenant's data. */
export interface WriteDependencies {
  clock: Clock
  segments: SegmentFollower
  live: LiveTelling
  log: Logger
}

/** What a change has caused so far; it is recorded in the change's own transaction. */
export class ChangeLog {
  readonly events: SystemEvent[] = []
  readonly records: EventRecord[] = []
  /** Rows of `owner_links` that were written, for ClickHouse's copy. */
  readonly ownerLinks: object[] = []
  /** What has changed of contacts, whose segments are to be looked at. */
  readonly changed = new Map<string, Set<string> | 'everything'>()
  /** Contacts that were given visitors, with their earlier events. */
  readonly linked = new Set<string>()
  /** What was sent and may not be changed by its source: property keys, and `company_id`. */
  readonly leftOut: string[] = []

  /** All events of it, and whose they are. */
  get recorded(): RecordedEvent[] {
    return [
      ...this.events,
      ...this.records.map(({ event, owner_id, is_anonymous }) => ({
        event,
        contactId: is_anonymous ? null : owner_id,
      })),
    ]
  }

  /** Notes a change of a contact. @param keys of its properties and columns; none where only its events change. */
  noteChange(contactId: string, keys: readonly string[] | 'everything'): void {
    const noted = this.changed.get(contactId)
    if (noted === 'everything') return
    this.changed.set(contactId, typeof keys === 'string' ? keys : new Set([...(noted ?? []), ...keys]))
  }
}

/**
 * Transactions of one tenant often wait for one another's contacts and visitors. They do so here, in turn, and not each
 * with a connection in its hand.
 */
const { takeTurn } = createTurns({ perKey: 4, inAll: 12 })

/**
 * Runs a change of contacts, or what only records events of them, in one transaction, with everything that follows from
 * it: memberships in segments, and events. When it collides with a concurrent change, it is made again from the beginning.
 */
export async function changeContacts<T>(
  tenant: Tenant,
  { segments, live }: WriteDependencies,
  work: (tx: Tenant, log: ChangeLog) => Promise<T>,
): Promise<T> {
  const transaction = () =>
    tenant.transaction(async (tx) => {
      const log = new ChangeLog()
      const result = await work(tx, log)
      log.events.push(...(await segments.follow(tx, log)))
      await appendRecords(tx, [...toRecords(tenant.id, log.events), ...log.records], log.ownerLinks)
      return { result, records: log.records }
    })
  const { result, records } = await takeTurn(tenant.id, () => repeatOnCollision(transaction))
  // Here, because only those that are not the service's own are shown live, and nobody else's transaction records any.
  if (records.length > 0) live.onRecorded([{ tenantId: tenant.id, events: records }])
  return result
}
