import { type Beginning, beginningOf, type FirstPage } from '../journal/beginnings.ts'
import type { EventRecord } from '../journal/event-record.ts'
import { ServiceError } from '../platform/errors.ts'
import { isStorableText } from '../platform/http/json-body.ts'
import type { Tenant } from '../platform/tenant.ts'
import { changeContact, lockContact } from './change.ts'
import { ChangeLog, changeContacts, type WriteDependencies } from './change-log.ts'
import { hasFirstTouch } from './first-touch-keys.ts'
import type { Properties } from './properties.ts'

const SOURCE = { source: 'tracker', kind: 'tracker' } as const
const REMEMBERED = 100_000

/** What is known of a contact's first touch. */
interface FirstTouch {
  firstSeenMs: number
  isWritten: boolean
}

/**
 * Writes the first-touch properties and first_seen_at of a contact, from how the episodes of its visitors began. The
 * values are those of one visit, so they are written together, and not at all where any of them stands already.
 * @returns null when the contact is gone.
 */
export async function recordFirstTouch(
  tx: Tenant,
  log: ChangeLog,
  contactId: string,
  { seenAt, page }: Beginning,
  now: Date,
): Promise<FirstTouch | null> {
  const row = await lockContact(tx, contactId)
  if (!row) return null
  const firstSeenMs = Math.min(row.first_seen_at.getTime(), seenAt)
  if (firstSeenMs < row.first_seen_at.getTime()) {
    const first_seen_at = new Date(firstSeenMs)
    await tx.db.updateTable('contacts').set({ first_seen_at }).where('contact_id', '=', contactId).execute()
    log.noteChange(contactId, ['first_seen_at'])
  }
  const isWritten = hasFirstTouch(row.properties as Properties)
  if (isWritten || page === null) return { firstSeenMs, isWritten }
  // What it leaves out is no business of whoever identified the contact.
  const own = new ChangeLog()
  await changeContact(tx, own, row, { ...SOURCE, properties: touchOf(page) }, now).catch((error: unknown) => {
    // A full contact rejects the first touch before anything is written.
    if (!(error instanceof ServiceError) || error.status >= 500) throw error
  })
  log.events.push(...own.events)
  for (const [changed, keys] of own.changed) log.noteChange(changed, keys === 'everything' ? keys : [...keys])
  return { firstSeenMs, isWritten: true }
}

/** Sees to the first touch of contacts whose events arrive after they were identified. */
export function createFirstTouchWatch(dependencies: WriteDependencies) {
  const known = new Map<string, FirstTouch>()
  /** Call it with one visitor's recorded events. */
  return async (tenant: Tenant, events: readonly EventRecord[]): Promise<void> => {
    const beginning = beginningOf(events)
    const [event] = events
    if (!event || event.is_anonymous || beginning === null) return
    const contactId = event.owner_id
    const key = `${tenant.id}/${contactId}`
    const touch = known.get(key)
    const isEarlier = touch === undefined || beginning.seenAt < touch.firstSeenMs
    const saysMore = !touch?.isWritten && beginning.page !== null
    if (!isEarlier && !saysMore) return
    const found = await changeContacts(tenant, dependencies, (tx, log) =>
      recordFirstTouch(tx, log, contactId, beginning, dependencies.clock()),
    )
    if (known.size >= REMEMBERED) known.clear()
    if (found) known.set(key, found)
  }
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
