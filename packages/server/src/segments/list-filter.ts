import { type RawBuilder, type SqlBool, sql } from 'kysely'
import { eventsOf, type SegmentFilter } from '../conditions/language.ts'
import { filterIn, parseConditions } from '../conditions/parse.ts'
import { compileFilter } from '../conditions/to-postgres.ts'
import { isContactIn } from '../contacts/columns.ts'
import type { ListCondition } from '../contacts/list.ts'
import { eventFilterTooBroad, type ListFilter } from '../contacts/list-filters.ts'
import { ALL_CONTACTS } from '../contacts/ranges.ts'
import { membersOf } from '../memberships/memberships.ts'
import { ServiceError } from '../platform/errors.ts'
import type { Tenant } from '../platform/tenant.ts'
import { CONTACTS, contextFor, parseContactFilter } from './contact-filters.ts'
import { isBeyondBounds, queryEvents } from './events.ts'
import { type Entity, requireKnownSegments } from './named-segments.ts'
import { findSegment } from './segments.ts'

const EVENT_SECONDS_MAX = 5

/** The `segment_id` and `filter` of lists of contacts. */
export const segmentFilter: ListFilter = async (tenant, { filter, segment_id: segmentId }, context) => {
  const conditions: ListCondition[] = []
  if (segmentId !== undefined) {
    const found = await findSegment(tenant, segmentId)
    if (!found) throw unknownSegment('segment_id')
    conditions.push(isMember(tenant, segmentId))
  }
  if (filter !== undefined) {
    const parsed = parseContactFilter(filterIn(filter), { visibleOnly: context.visibleOnly })
    conditions.push(await compiled(tenant, parsed, context))
  }
  return conditions
}

/**
 * The condition of an aggregation's `segment_id`.
 * @throws ServiceError 400 `unknown_segment`, 409 `segment_counting`.
 */
export async function membersCounted(tenant: Tenant, segmentId: string): Promise<ListCondition> {
  const found = await findSegment(tenant, segmentId)
  if (!found) throw unknownSegment('filters.segment_id')
  if (found.evaluated_at !== null) return isMember(tenant, segmentId)
  const message = 'The members of this segment are still being counted. Try again shortly.'
  throw new ServiceError(409, 'segment_counting', message, { retryAfterSeconds: 2 })
}

function isMember(tenant: Tenant, segmentId: string): ListCondition {
  return { isMet: isContactIn(membersOf(tenant, segmentId)), isHeavy: false }
}

/** The conditions on contacts in the `where` of a question, all of which must be true. @throws as `segmentFilter`. */
export function contactWhere(tenant: Tenant, where: unknown, context: ListContext): Promise<ListCondition> {
  return compiled(tenant, parseConditions(where, { records: CONTACTS, visibleOnly: context.visibleOnly }), context)
}

type ListContext = Parameters<ListFilter>[2]

async function compiled(
  tenant: Tenant,
  parsed: SegmentFilter,
  { now, contactsMax, requireScope }: ListContext,
): Promise<ListCondition> {
  await requireKnownSegments(tenant, parsed)
  const matches = eventsOf(parsed)
  const known = await contextFor(tenant, parsed, now)
  const asCondition = (isMet: RawBuilder<SqlBool>): ListCondition => ({ isMet, isHeavy: true })
  if (matches.length === 0) return asCondition(compileFilter(parsed, { ...known, hasEvents: () => sql`false` }))
  requireScope('events:read')
  const bounds = { limit: contactsMax + 1, secondsMax: EVENT_SECONDS_MAX }
  const results = await queryEvents(tenant, matches, ALL_CONTACTS, now, bounds).catch((error: unknown): never => {
    throw isBeyondBounds(error) ? eventFilterTooBroad(contactsMax, TOO_BROAD, error) : error
  })
  return asCondition(compileFilter(parsed, { ...known, hasEvents: (match) => results.hasEvents(match) }))
}

const TOO_BROAD = [{ path: 'filter', message: 'has an event condition that too many contacts meet; add within_days' }]

export function unknownSegment(path: 'segment_id' | 'filters.segment_id', entity: Entity = 'contacts'): ServiceError {
  const details = [{ path, message: `is not the id of one of your segments of ${entity}` }]
  const which = path === 'segment_id' ? 'this segment_id' : `the id in ${path}`
  const message = `There is no segment of ${entity} with ${which}. GET /v1/segments lists yours.`
  return new ServiceError(400, 'unknown_segment', message, { details })
}
