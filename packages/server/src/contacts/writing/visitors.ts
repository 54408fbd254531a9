import { type Beginning, earlierOf } from '../../journal/beginnings.ts'
import { conflict } from '../../platform/errors.ts'
import type { ContactSet, ContactState, VisitorState } from './contact-set.ts'
import { touch } from './first-touch.ts'
import { isUnverified } from './source-trust.ts'
import { PAST_VISITORS_FACTOR, VISITORS_MAX, VISITORS_MAX_FROM_PAGES } from './visitor-limits.ts'

/**
 * Links visitors to a contact, with their anonymous events, and applies its first touch. Events that already belong to a
 * contact stay there.
 * @throws ServiceError 409 `too_many_visitors`.
 */
export function linkVisitors(
  set: ContactSet,
  visitorIds: readonly string[],
  state: ContactState,
  source: string,
  now: Date,
): void {
  const others = othersOf(set, visitorIds, state)
  if (others.length > remainingVisitors(set, state, source)) throw tooManyVisitors(source)
  link(set, others, state, source, now)
}

/**
 * Links as many visitors as the contact's limit allows, so that too many do not fail the rest of the write.
 * @returns how many got a new contact.
 */
export function linkVisitorsThatFit(
  set: ContactSet,
  visitorIds: readonly string[],
  state: ContactState,
  source: string,
  now: Date,
): number {
  const fitting = othersOf(set, visitorIds, state).slice(0, remainingVisitors(set, state, source))
  link(set, fitting, state, source, now)
  return fitting.length
}

/**
 * Links the visitors with an external id to the contact that got it: those that sent it before any contact had it, and
 * those of the contact that lost it, with their events from now on.
 */
export function linkClaimingVisitors(
  set: ContactSet,
  externalId: string,
  { from, to }: { from: ContactState | null; to: ContactState },
  now: Date,
): void {
  const fromId = from?.row.contact_id ?? null
  const claiming = set
    .claiming(externalId)
    .filter(({ external_contact_id }) => external_contact_id === externalId)
    .filter(({ contact_id }) => contact_id === null || contact_id === fromId)
    .map(({ stored }) => stored)
    .sort((a, b) => a.created_at.getTime() - b.created_at.getTime() || (a.visitor_id < b.visitor_id ? -1 : 1))
  const ids = claiming.map(({ visitor_id }) => visitor_id)
  linkVisitorsThatFit(set, ids, to, 'tracker', now)
}

function othersOf(set: ContactSet, visitorIds: readonly string[], { row }: ContactState): VisitorState[] {
  const known = [...new Set(visitorIds)].flatMap((id) => set.visitor(id) ?? [])
  return known.filter(({ contact_id }) => contact_id !== row.contact_id)
}

function link(
  set: ContactSet,
  visitors: readonly VisitorState[],
  state: ContactState,
  source: string,
  now: Date,
): void {
  if (visitors.length === 0) return
  set.link(visitors, state, source, now)
  const contactId = state.row.contact_id
  const visitor_ids = visitors.map(({ stored }) => stored.visitor_id)
  set.addEvents({ event: 'contact_identified', at: now, contactId, data: { visitor_ids, source } })
  const anonymous = visitors.filter(({ contact_id }) => contact_id === null)
  const beginning = anonymous.map(beginningOfEpisode).reduce(earlierOf, null)
  if (beginning) touch(set, state, beginning, now)
}

export function beginningOfEpisode({ stored }: VisitorState): Beginning | null {
  const { first_seen_at, first_page_at, first_url, first_referrer } = stored
  if (first_seen_at === null) return null
  const hasPage = first_page_at !== null && first_url !== null
  const page = hasPage ? { at: first_page_at.getTime(), url: first_url, referrer: first_referrer ?? '' } : null
  return { seenAt: first_seen_at.getTime(), page }
}

/** How many more visitors a source may link to a contact, given how many it has and has had. */
function remainingVisitors(set: ContactSet, { row }: ContactState, source: string): number {
  const { current, past } = set.visitorCounts(row.contact_id)
  return visitorsLeft({ current, past }, source)
}

/** The same for a contact outside of a set. */
export function visitorsLeft({ current, past }: { current: number; past: number }, source: string): number {
  const max = visitorsMax(source)
  return Math.max(0, Math.min(max - current, max * PAST_VISITORS_FACTOR - past))
}

function visitorsMax(source: string): number {
  return isUnverified(source) ? VISITORS_MAX_FROM_PAGES : VISITORS_MAX
}

export function tooManyVisitors(source: string) {
  const max = visitorsMax(source)
  const message = `The contact would have more than ${max} visitors now, or more than ${max * PAST_VISITORS_FACTOR} over time. Check whether several people share this id or email address.`
  return conflict('too_many_visitors', message)
}
