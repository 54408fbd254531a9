import { type Beginning, beginningOf } from '../../journal/beginnings.ts'
import type { EventRecord } from '../../journal/event-record.ts'
import type { Tenant } from '../../platform/tenant.ts'
import type { ContactRow } from '../contact-row.ts'
import { type FirstTouch, touch, touchOf } from './first-touch.ts'
import type { Write } from './write.ts'
import type { WriteServices } from './writer.ts'

const CACHED_MAX = 100_000
/** Contacts per transaction: each may have 256 KiB. */
const CONTACTS_AT_ONCE = 200

/** Updates the first touches of contacts whose events arrive after they were identified. */
export function createFirstTouchWatch({ writer }: Pick<WriteServices, 'writer'>) {
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
      const rows = await writer.write(tenant, touchesOf(beginnings))
      if (known.size >= CACHED_MAX) known.clear()
      for (const row of rows) known.set(keyOf(row.contact_id), touchOf(row))
    }
  }
}

/** @returns the contacts' rows. */
function touchesOf(beginnings: ReadonlyMap<string, Beginning>): Write<ContactRow[]> {
  const contactIds = [...beginnings.keys()]
  return {
    keys: { contactIds },
    apply(set, { now }) {
      for (const [contactId, beginning] of beginnings) {
        const state = set.contact(contactId)
        if (state) touch(set, state, beginning, now)
      }
      return contactIds.flatMap((contactId) => set.contact(contactId)?.row ?? [])
    },
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
