import { type Beginning, beginningOf, type FirstPage } from '../journal/beginnings.ts'
import type { EventRecord } from '../journal/event-record.ts'
import { ServiceError } from '../platform/errors.ts'
import { isStorableText } from '../platform/http/json-body.ts'
import type { Tenant } from '../platform/tenant.ts'
import { changeContact, lockContact } from './change.ts'
import { ChangeLog, changeContacts, type WriteDependencies } from './change-log.ts'
import { CONTACT_COLUMNS, type ContactRow } from './contact-row.ts'
import { hasFirstTouch } from './first-touch-keys.ts'
import type { Properties } from './properties.ts'

const SOURCE = { source: 'tracker', kind: 'tracker' } as const
const CACHED_MAX = 100_000

/** The known parts of a contact's first touch. */
interface FirstTouch {
  firstSeenMs: number
  isWritten: boolean
}

/**
 * Writes the first-touch properties and first_seen_at of a contact, from the beginnings of its visitors' episodes. The
 * values belong to one visit, so they are written together, and only if none of them is set.
 * @param row the stored contact; the caller has locked it.
 * @returns the contact as stored afterwards.
 */
export async function recordFirstTouch(
  tx: Tenant,
  log: ChangeLog,
  row: ContactRow,
  { seenAt: seenMs, page }: Beginning,
  now: Date,
): Promise<ContactRow> {
  const seenAt = new Date(seenMs)
  const touched =
    page && !hasFirstTouch(row.properties as Properties) && (await writeTouch(tx, log, row, page, seenAt, now))
  if (touched) return touched
  if (seenAt >= row.first_seen_at) return row
  log.noteChange(row.contact_id, ['first_seen_at'])
  return tx.db
    .updateTable('contacts')
    .set({ first_seen_at: seenAt })
    .where('contact_id', '=', row.contact_id)
    .returning(CONTACT_COLUMNS)
    .executeTakeFirstOrThrow()
}

/** @returns null if the contact is full; then nothing is written. */
async function writeTouch(
  tx: Tenant,
  log: ChangeLog,
  before: ContactRow,
  page: FirstPage,
  seenAt: Date,
  now: Date,
): Promise<ContactRow | null> {
  // Keys that it ignores do not concern the identification.
  const own = new ChangeLog()
  try {
    const row = await changeContact(tx, own, before, { ...SOURCE, properties: touchOf(page), seenAt }, now)
    log.events.push(...own.events)
    for (const [changed, keys] of own.changed) log.noteChange(changed, keys === 'everything' ? keys : [...keys])
    return row
  } catch (error) {
    if (!(error instanceof ServiceError) || error.status >= 500) throw error
    return null
  }
}

/** Updates the first touch of contacts whose events arrive after they were identified. */
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
    const addsPage = !touch?.isWritten && beginning.page !== null
    if (!isEarlier && !addsPage) return
    const found = await changeContacts(tenant, dependencies, async (tx, log) => {
      const row = await lockContact(tx, contactId)
      return row && recordFirstTouch(tx, log, row, beginning, dependencies.clock())
    })
    if (!found) return
    if (known.size >= CACHED_MAX) known.clear()
    const isWritten = hasFirstTouch(found.properties as Properties)
    known.set(key, { firstSeenMs: found.first_seen_at.getTime(), isWritten })
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
