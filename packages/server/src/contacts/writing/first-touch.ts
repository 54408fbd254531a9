import type { Beginning, FirstPage } from '../../journal/beginnings.ts'
import { ServiceError } from '../../platform/errors.ts'
import { isStorableText } from '../../platform/http/json-body.ts'
import type { ContactRow } from '../contact-row.ts'
import type { Properties } from '../properties.ts'
import { applyWrite } from './apply.ts'
import { changedEvents } from './change.ts'
import type { ContactSet, ContactState } from './contact-set.ts'
import { hasFirstTouch } from './first-touch-keys.ts'

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

/**
 * Writes the first-touch properties and first_seen_at of a contact from the beginning of an episode of one of its visitors.
 * The properties belong to one visit, so they are written together, and only if none of them is set and the contact is not
 * full.
 */
export function touch(set: ContactSet, state: ContactState, { seenAt: seenMs, page }: Beginning, now: Date): void {
  const before = state.row
  const seenAt = new Date(seenMs)
  if (page !== null && !hasFirstTouch(before.properties as Properties)) {
    try {
      const properties = propertiesOf(page)
      const { row, record, changed } = applyWrite(before, state.records, { ...SOURCE, properties, seenAt }, before.email, now)
      set.change(state, row, record)
      if (changed.length > 0) set.addEvents(...changedEvents(before, row, changed, SOURCE.source, now))
      return
    } catch (error) {
      if (!(error instanceof ServiceError) || error.status >= 500) throw error
    }
  }
  setSeenBefore(set, state, seenAt)
}

function propertiesOf({ url, referrer }: FirstPage): Record<string, string> {
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
