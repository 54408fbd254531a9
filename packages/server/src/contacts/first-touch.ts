import { EVENT_ID_ORDER } from '../events/table.ts'
import type { EventRecord } from '../journal/event-record.ts'
import { NO_CONTACT } from '../journal/event-record.ts'
import { ServiceError } from '../platform/errors.ts'
import { isStorableText } from '../platform/http/json-body.ts'
import type { Tenant } from '../platform/tenant.ts'
import { changeContact, lockContact } from './change.ts'
import { changeContacts, type WriteDependencies } from './change-log.ts'
import { hasFirstTouch } from './first-touch-keys.ts'
import type { Properties } from './properties.ts'

const SOURCE = { source: 'tracker', kind: 'tracker' } as const
/** Visitors whose events are asked for; a contact with more has shared devices, not a first touch. */
const VISITORS_MAX = 200
const REMEMBERED = 100_000

interface Earliest {
  /** Milliseconds since 1970; 0 when there is no event. */
  first_ms: number
  first_url: string
  first_referrer: string
}

/** What is known of a contact's first touch. */
export interface FirstTouch {
  firstSeenMs: number
  isWritten: boolean
}

/**
 * Writes the first-touch properties and first_seen_at of a contact from its earliest events. The values are those of
 * one visit, so they are written together, and not at all where any of them stands already.
 * Never rejects.
 * @returns null when nothing can be said: the contact is gone, or a store is away (the next event tries again).
 */
export async function recordFirstTouch(
  tenant: Tenant,
  dependencies: WriteDependencies,
  contactId: string,
): Promise<FirstTouch | null> {
  try {
    return await writeFirstTouch(tenant, dependencies, contactId)
  } catch (error) {
    // It follows from a change that is committed, and must not make that look as if it had failed.
    dependencies.log.warn({ err: error, contact_id: contactId }, 'a first touch could not be recorded')
    return null
  }
}

async function writeFirstTouch(
  tenant: Tenant,
  dependencies: WriteDependencies,
  contactId: string,
): Promise<FirstTouch | null> {
  const earliest = await earliestEvent(tenant, contactId)
  if (!earliest) return null
  return changeContacts(tenant, dependencies, async (tx, log) => {
    const row = await lockContact(tx, contactId)
    if (!row) return null
    const firstSeenMs = Math.min(row.first_seen_at.getTime(), earliest.first_ms || Number.POSITIVE_INFINITY)
    if (firstSeenMs < row.first_seen_at.getTime()) {
      const first_seen_at = new Date(firstSeenMs)
      await tx.db.updateTable('contacts').set({ first_seen_at }).where('contact_id', '=', contactId).execute()
      log.noteChange(contactId, ['first_seen_at'])
    }
    const isWritten = hasFirstTouch(row.properties as Properties)
    if (isWritten || earliest.first_url === '') return { firstSeenMs, isWritten }
    const write = { ...SOURCE, properties: touchOf(earliest) }
    await changeContact(tx, log, row, write, dependencies.clock()).catch((error: unknown) => {
      // A full contact rejects the first touch before anything is written.
      if (!(error instanceof ServiceError) || error.status >= 500) throw error
    })
    return { firstSeenMs, isWritten: true }
  })
}

/** Sees to the first touch of contacts whose events arrive after they were identified. */
export function createFirstTouchWatch(dependencies: WriteDependencies) {
  const known = new Map<string, FirstTouch>()
  /** Call it with one visitor's recorded events. */
  return async (tenant: Tenant, events: readonly EventRecord[]): Promise<void> => {
    const contactId = events[0]?.contact_id ?? NO_CONTACT
    if (contactId === NO_CONTACT) return
    const key = `${tenant.id}/${contactId}`
    const touch = known.get(key)
    const isEarlier = events.some(({ timestamp }) => touch === undefined || timestamp < touch.firstSeenMs)
    const maySayMore = !touch?.isWritten && events.some(({ url }) => url !== '')
    if (!isEarlier && !maySayMore) return
    const found = await recordFirstTouch(tenant, dependencies, contactId)
    if (known.size >= REMEMBERED) known.clear()
    if (found) known.set(key, found)
  }
}

async function earliestEvent(tenant: Tenant, contactId: string): Promise<Earliest | null> {
  const visitors = await tenant.db
    .selectFrom('visitors')
    .select('visitor_id')
    .where('contact_id', '=', contactId)
    .limit(VISITORS_MAX)
    .execute()
  const rows = await tenant.events
    .select<Earliest>({
      name: 'events.earliest_of_contact',
      lane: 'light',
      // One row gives both: of events at the same moment the one with the lowest id.
      columns: `toUnixTimestamp64Milli(min(timestamp)) AS first_ms,
      argMinIf((url, referrer), (timestamp, ${EVENT_ID_ORDER}), url != '') AS first, first.1 AS first_url, first.2 AS first_referrer`,
      // The visitors are named for their index: that of contacts is no help for events that have just been moved.
      where: ['contact_id = {contact_id: UUID}', 'is_system = 0', 'visitor_id IN {visitors: Array(String)}'],
      parameters: { contact_id: contactId, visitors: visitors.map(({ visitor_id }) => visitor_id) },
    })
    .catch((error: unknown) => {
      if (error instanceof ServiceError && error.code === 'store_unavailable') return []
      throw error
    })
  return rows[0] ? { ...rows[0], first_ms: Number(rows[0].first_ms) } : null
}

function touchOf({ first_url: url, first_referrer: referrer }: Earliest): Record<string, string> {
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
