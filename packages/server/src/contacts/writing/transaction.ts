import { type SystemEvent, toRecords } from '../../journal/append.ts'
import type { EventGroup, EventRecord } from '../../journal/event-record.ts'
import type { FindIgnoredIds } from '../../platform/ids-of-nobody.ts'
import type { Logger } from '../../platform/log.ts'
import { changeRecords } from '../../platform/postgres/collisions.ts'
import type { AnyTable } from '../../platform/postgres/table-rules.ts'
import type { Tenant } from '../../platform/tenant.ts'
import type { Clock } from '../../platform/time.ts'
import type { FindComputedNames } from '../computed-names.ts'
import type { ContactSet } from './contact-set.ts'

/** An event that a transaction records, with its contact. */
export interface RecordedEvent {
  event: string
  contactId: string | null
}

/** The changed properties and columns of each contact, or `everything`. */
export type ContactChanges = ReadonlyMap<string, ReadonlySet<string> | 'everything'>

/** The effects of a transaction that can change segment memberships. */
export interface Followed {
  changed: ContactChanges
  /** The changed contacts that got visitors: the visitors' earlier events belong to them once this is committed. */
  linked: ReadonlySet<string>
  recorded: readonly RecordedEvent[]
}

/** Updates segment memberships in the transactions that change contacts. */
export interface SegmentFollower {
  /**
   * Evaluates the segments of changed contacts, whose rows the caller's transaction has locked. It does not query
   * ClickHouse: the stored results of event conditions are correct, because every new event has its contact checked,
   * including those that this transaction records.
   * @returns the events of contacts that enter or leave a segment.
   */
  follow(tx: Tenant, followed: Followed): Promise<SystemEvent[]>
  /** Has the segments of many changed contacts evaluated in the background, within seconds. */
  followLater(tx: Tenant, contactIds: readonly string[]): Promise<void>
  /** Removes contacts that are about to be deleted from their segments. @returns the events. */
  leave(tx: Tenant, contactIds: readonly string[]): Promise<SystemEvent[]>
}

/** Notes changed contacts for work that follows: their write-back to connected systems, the search for duplicates. */
export interface Outbox {
  /** Call it in the transaction of the changes. It is cheap. @param events the system events that are recorded with them. */
  note(tx: Tenant, changed: ContactChanges, events: readonly SystemEvent[]): Promise<void>
}

/** Fills blanks of the contacts that a set has changed, before it is stored. */
export type EnrichContacts = (tx: Tenant, set: ContactSet, now: Date) => Promise<void>

/** Dependencies of every change of contacts, besides the tenant's data. */
export interface WriteDependencies {
  clock: Clock
  segments: SegmentFollower
  outboxes: readonly Outbox[]
  enrich: EnrichContacts
  /** Appends events to the journal, with all that follows them, and written rows of `owner_links`. */
  append(tx: Tenant, records: readonly EventRecord[], ownerLinks: readonly object[]): Promise<void>
  /** All tables, of which many say what a merge or a deletion of a contact does to them. */
  tables: readonly AnyTable[]
  findIgnoredIds: FindIgnoredIds
  findComputedNames: FindComputedNames
  /** Keeps a company from being deleted until the transaction ends. @returns whether it exists. */
  keepCompany(tx: Tenant, companyId: string): Promise<boolean>
  /** Notified of recorded events after the commit. Cheap while nobody is watching; never throws. */
  live: { onRecorded(groups: readonly Pick<EventGroup, 'tenantId' | 'events'>[]): void }
  log: Logger
}

/** The effects of a change so far; they are recorded in its transaction. */
export class ChangeLog {
  readonly events: SystemEvent[] = []
  readonly records: EventRecord[] = []
  /** Written rows of `owner_links`, for ClickHouse's copy. */
  readonly ownerLinks: object[] = []
  /** Changed contacts, whose segments must be evaluated. */
  readonly changed = new Map<string, Set<string> | 'everything'>()
  /** Contacts that got visitors with earlier events. */
  readonly linked = new Set<string>()

  /** All recorded events with their contacts. */
  get recorded(): RecordedEvent[] {
    return [
      ...this.events,
      ...this.records.map(({ event, owner_id, is_anonymous }) => ({
        event,
        contactId: is_anonymous ? null : owner_id,
      })),
    ]
  }

  /** Records a change of a contact. @param keys of its properties and columns; none if only its events change. */
  noteChange(contactId: string, keys: readonly string[] | 'everything'): void {
    const noted = this.changed.get(contactId)
    if (noted === 'everything') return
    this.changed.set(contactId, typeof keys === 'string' ? keys : new Set([...(noted ?? []), ...keys]))
  }
}

/**
 * Runs a change of contacts, or only records their events, in one transaction with its effects: segment memberships and
 * events. If it collides with a concurrent change, it starts over.
 */
export async function changeContacts<T>(
  tenant: Tenant,
  { segments, outboxes, append, live }: WriteDependencies,
  work: (tx: Tenant, log: ChangeLog) => Promise<T>,
  attempts?: number,
): Promise<T> {
  return changeRecords(tenant, attempt, attempts)

  async function attempt(tx: Tenant): Promise<T> {
    const log = new ChangeLog()
    const result = await work(tx, log)
    log.events.push(...(await segments.follow(tx, log)))
    for (const outbox of outboxes) await outbox.note(tx, log.changed, log.events)
    await append(tx, [...toRecords(tenant.id, log.events), ...log.records], log.ownerLinks)
    // The live feed shows no system events, and only these transactions record other events directly.
    if (log.records.length > 0) tx.afterCommit(() => live.onRecorded([{ tenantId: tenant.id, events: log.records }]))
    return result
  }
}
