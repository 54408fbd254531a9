import type { Beginning, FirstPage } from '../../journal/beginnings.ts'
import { campaignOf } from '../../journal/campaign.ts'
import { ServiceError } from '../../platform/errors.ts'
import type { ContactRow } from '../contact-row.ts'
import type { Properties } from '../properties.ts'
import { applyWrite } from './apply.ts'
import type { ContactSet, ContactState, Contents } from './contact-set.ts'
import { changedEvents } from './events.ts'
import { hasFirstTouch } from './first-touch-keys.ts'
import type { SourceRecord } from './source-records.ts'

const SOURCE = { source: 'tracker', kind: 'tracker' } as const

/** The known parts of a contact's first touch. */
export interface FirstTouch {
  firstSeenMs: number
  isWritten: boolean
}

export function touchOf({ first_seen_at, properties }: Pick<ContactRow, 'first_seen_at' | 'properties'>): FirstTouch {
  return { firstSeenMs: first_seen_at.getTime(), isWritten: hasFirstTouch(properties as Properties) }
}

/** Moves the time at which a contact was first seen back. */
export function setSeenBefore(set: ContactSet, state: ContactState, at: Date): void {
  if (at < state.row.first_seen_at) set.change(state, { ...state.row, first_seen_at: at }, null)
}

/** A contact after its first touch. */
interface Touched {
  row: ContactRow
  /** The new record of its source; null if that stays as it is. */
  record: SourceRecord | null
  /** The keys of the properties that changed. */
  changed: readonly string[]
}

/**
 * The first-touch properties and first_seen_at of a contact from the beginning of an episode of one of its visitors. The
 * properties belong to one visit, so they are written together, and only if none of them is set and the contact is not full.
 */
export function touched({ row, records }: Contents, { seenAt: seenMs, page }: Beginning, now: Date): Touched {
  const seenAt = new Date(seenMs)
  if (page !== null && !hasFirstTouch(row.properties as Properties)) {
    try {
      return applyWrite(row, records, { ...SOURCE, properties: propertiesOf(page), seenAt }, row.email, now)
    } catch (error) {
      if (!(error instanceof ServiceError) || error.status >= 500) throw error
    }
  }
  return { row: seenAt < row.first_seen_at ? { ...row, first_seen_at: seenAt } : row, record: null, changed: [] }
}

/** Writes a contact's first touch. */
export function touch(set: ContactSet, state: ContactState, beginning: Beginning, now: Date): void {
  const before = state.row
  const { row, record, changed } = touched(state, beginning, now)
  set.change(state, row, record)
  if (changed.length > 0) set.addEvents(...changedEvents(before, row, changed, SOURCE.source, now))
}

function propertiesOf({ url, referrer }: FirstPage): Record<string, string> {
  const campaign = Object.entries(campaignOf(url)).flatMap(([name, value]) =>
    value === '' ? [] : [[`first_${name}`, value] as const],
  )
  return {
    first_landing_page: url,
    ...(referrer === '' ? {} : { first_referrer: referrer }),
    ...Object.fromEntries(campaign),
  }
}
