import { type Beginning, beginningOf, type FirstPage } from '../journal/beginnings.ts'
import type { EventRecord } from '../journal/event-record.ts'
import { ServiceError } from '../platform/errors.ts'
import { isStorableText } from '../platform/http/json-body.ts'
import type { Tenant } from '../platform/tenant.ts'
import { applyWrite } from './apply-write.ts'
import { type ContactState, lockStatesById, storeStates } from './bulk.ts'
import { changedEvents, storeChange } from './change.ts'
import { type ChangeLog, changeContacts, type WriteDependencies } from './change-log.ts'
import { type ContactRow, changedKeys } from './contact-row.ts'
import { hasFirstTouch } from './first-touch-keys.ts'
import type { Properties } from './properties.ts'
import { readSourceRecords, type SourceRecord } from './record-source.ts'

const SOURCE = { source: 'tracker', kind: 'tracker' } as const
const CACHED_MAX = 100_000
/** Contacts per transaction: each may have 256 KiB. */
const CONTACTS_AT_ONCE = 200

/** The known parts of a contact's first touch. */
export interface FirstTouch {
  firstSeenMs: number
  isWritten: boolean
}

/** A contact after its first touch. */
interface Touched {
  row: ContactRow
  /** The new record of its source; null if that has none. */
  record: SourceRecord | null
  /** The keys of the properties that changed. */
  changed: readonly string[]
}

/**
 * Computes the first-touch properties and first_seen_at of a contact from the beginning of an episode of one of its
 * visitors, without touching the database. The properties belong to one visit, so they are written together, and only
 * if none of them is set and the contact is not full.
 * @param records the current records of the contact's sources. @returns null if nothing changes.
 */
export function touched(
  row: ContactRow,
  records: readonly SourceRecord[],
  { seenAt: seenMs, page }: Beginning,
  now: Date,
): Touched | null {
  const seenAt = new Date(seenMs)
  if (page !== null && !hasFirstTouch(row.properties as Properties)) {
    try {
      return applyWrite(row, records, { ...SOURCE, properties: touchOf(page), seenAt }, row.email, now)
    } catch (error) {
      if (!(error instanceof ServiceError) || error.status >= 500) throw error
    }
  }
  return seenAt < row.first_seen_at ? { row: { ...row, first_seen_at: seenAt }, record: null, changed: [] } : null
}

/**
 * Writes the first touch of a contact.
 * @param row the stored contact; the caller has locked it.
 * @returns the contact as stored afterwards.
 */
export async function recordFirstTouch(
  tx: Tenant,
  log: ChangeLog,
  row: ContactRow,
  beginning: Beginning,
  now: Date,
): Promise<ContactRow> {
  const isPageKnown = beginning.page === null || hasFirstTouch(row.properties as Properties)
  const records = isPageKnown ? [] : await readSourceRecords(tx, [row.contact_id], SOURCE.source)
  const touch = touched(row, [...records.values()].flat(), beginning, now)
  if (touch === null) return row
  const after = await storeChange(tx, touch.row, touch.record)
  noteTouch(log, row, { ...touch, row: after }, now)
  return after
}

/**
 * Writes the first touches of contacts with a fixed number of statements. Contacts that no longer exist are left out.
 * @returns the contacts as stored afterwards.
 */
async function recordFirstTouches(
  tx: Tenant,
  log: ChangeLog,
  beginnings: ReadonlyMap<string, Beginning>,
  now: Date,
): Promise<ContactRow[]> {
  const states = await lockStatesById(tx, SOURCE.source, [...beginnings.keys()])
  const changed: ContactState[] = []
  const rows = states.map((state) => {
    const { row, records } = state
    const beginning = beginnings.get(row.contact_id)
    const touch = beginning ? touched(row, records, beginning, now) : null
    if (touch === null) return row
    const isRecordDirty = touch.record !== null
    const own = touch.record === null ? records : [touch.record]
    changed.push({ ...state, row: touch.row, records: own, isRowDirty: true, isRecordDirty })
    noteTouch(log, row, touch, now)
    return touch.row
  })
  await storeStates(tx, SOURCE.source, changed)
  return rows
}

function noteTouch(log: ChangeLog, before: ContactRow, { row, changed }: Touched, now: Date): void {
  log.noteChange(row.contact_id, changedKeys(before, row))
  if (changed.length > 0) log.events.push(...changedEvents(before, row, changed, SOURCE.source, now))
}

/** Updates the first touches of contacts whose events arrive after they were identified. */
export function createFirstTouchWatch(dependencies: WriteDependencies) {
  const known = new Map<string, FirstTouch>()

  /** Call it with recorded events. @param stored the first touches of contacts that the caller has read. */
  return async (
    tenant: Tenant,
    events: readonly EventRecord[],
    stored: ReadonlyMap<string, FirstTouch> = new Map(),
  ): Promise<void> => {
    const keyOf = (contactId: string) => `${tenant.id}/${contactId}`
    const isDue = ([contactId, { seenAt, page }]: [string, Beginning]) => {
      const touch = known.get(keyOf(contactId)) ?? stored.get(contactId)
      return touch === undefined || seenAt < touch.firstSeenMs || (!touch.isWritten && page !== null)
    }
    const due = [...beginningsOf(events)].filter(isDue)
    while (due.length > 0) {
      const beginnings = new Map(due.splice(0, CONTACTS_AT_ONCE))
      const rows = await changeContacts(tenant, dependencies, (tx, log) =>
        recordFirstTouches(tx, log, beginnings, dependencies.clock()),
      )
      if (known.size >= CACHED_MAX) known.clear()
      for (const { contact_id, first_seen_at, properties } of rows) {
        const isWritten = hasFirstTouch(properties as Properties)
        known.set(keyOf(contact_id), { firstSeenMs: first_seen_at.getTime(), isWritten })
      }
    }
  }
}

/** The beginnings of the contacts that some events belong to. */
function beginningsOf(events: readonly EventRecord[]): Map<string, Beginning> {
  const beginnings = new Map<string, Beginning>()
  for (const event of events) {
    const { owner_id, is_anonymous } = event
    const beginning = is_anonymous ? null : beginningOf([event], beginnings.get(owner_id))
    if (beginning !== null) beginnings.set(owner_id, beginning)
  }
  return beginnings
}

function touchOf({ url, referrer }: FirstPage): Record<string, string> {
  const utm = URL.parse(url)?.searchParams
  const campaign = ['source', 'medium', 'campaign', 'term', 'content'].flatMap((name) => {
    const value = utm?.get(`utm_${name}`) ?? ''
    return value === '' || !isStorableText(value) ? [] : [[`first_utm_${name}`, value] as const]
  })
  return {
    first_landing_page: url,
    ...(referrer === '' ? {} : { first_referrer: referrer }),
    ...Object.fromEntries(campaign),
  }
}
