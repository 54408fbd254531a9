import { type RawBuilder, type SqlBool, sql } from 'kysely'
import { eventFilterTooBroad, type SegmentFilters } from '../contacts/list-filters.ts'
import { ALL_CONTACTS } from '../contacts/ranges.ts'
import { ServiceError, validationError } from '../platform/errors.ts'
import { parseJsonBody } from '../platform/http/json-body.ts'
import { isUuid } from '../platform/ids.ts'
import type { Tenant } from '../platform/tenant.ts'
import { compileFilter } from './conditions.ts'
import { isBeyondBounds, queryEvents } from './events.ts'
import { COMPANIES, eventsOf } from './filter.ts'
import { parseSegmentFilter } from './parse-filter.ts'

const EVENT_SECONDS_MAX = 5

/** The `filter` and `segment_id` of lists of contacts. */
export const segmentFilters: SegmentFilters = {
  async conditionOf(tenant, { filter, segment_id: segmentId }, { now, contactsMax, requireScope }) {
    if (segmentId !== undefined) await requireSegment(tenant, segmentId)
    if (filter === undefined) return undefined
    const parsed = parseSegmentFilter(typeof filter === 'string' ? parseText(filter) : filter)
    const matches = eventsOf(parsed)
    if (matches.length === 0) return compileFilter(parsed, { now, hasEvents: () => sql`false` })
    requireScope('events:read')
    const bounds = { limit: contactsMax + 1, secondsMax: EVENT_SECONDS_MAX }
    const results = await queryEvents(tenant, matches, ALL_CONTACTS, now, bounds).catch((error: unknown): never => {
      throw isBeyondBounds(error) ? eventFilterTooBroad(contactsMax, TOO_BROAD, error) : error
    })
    return compileFilter(parsed, { now, hasEvents: (match) => results.hasEvents(match) })
  },
}

const TOO_BROAD = [{ path: 'filter', message: 'has an event condition that too many contacts meet; add within_days' }]

/** The condition of the `filter` of a list of companies. @throws ServiceError 400 naming every invalid field. */
export function companyCondition(filter: unknown, now: Date): RawBuilder<SqlBool> {
  const parsed = parseSegmentFilter(typeof filter === 'string' ? parseText(filter) : filter, 'filter', COMPANIES)
  return compileFilter(parsed, { now, records: COMPANIES, hasEvents: () => sql`false` })
}

/** The filter in a query parameter. */
function parseText(text: string): unknown {
  try {
    return parseJsonBody(text)
  } catch {
    throw validationError([{ path: 'filter', message: 'must be a filter as JSON' }])
  }
}

/** @throws ServiceError 400 `unknown_segment`. */
async function requireSegment(tenant: Tenant, segmentId: string): Promise<void> {
  const found = isUuid(segmentId)
    ? await tenant.db.selectFrom('segments').select('segment_id').where('segment_id', '=', segmentId).executeTakeFirst()
    : undefined
  if (found) return
  const details = [{ path: 'segment_id', message: 'is not the id of one of your segments' }]
  const message = 'There is no segment with this segment_id. GET /v1/segments lists yours.'
  throw new ServiceError(400, 'unknown_segment', message, { details })
}
