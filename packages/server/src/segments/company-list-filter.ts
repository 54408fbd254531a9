import { type RawBuilder, type SqlBool, sql } from 'kysely'
import { COMPANY_KEY } from '../companies/filter-fields.ts'
import type { CompanyFilter } from '../companies/requests.ts'
import { eventsOf, type SegmentFilter } from '../conditions/language.ts'
import { filterIn, parseConditions } from '../conditions/parse.ts'
import { compileFilter } from '../conditions/to-postgres.ts'
import { isCompanyInAny } from '../memberships/company-memberships.ts'
import { ServiceError } from '../platform/errors.ts'
import type { Tenant } from '../platform/tenant.ts'
import { queryEventsOfAllCompanies } from './company-events.ts'
import { COMPANIES, companyContextOf, parseCompanyFilter } from './company-filters.ts'
import { zoneOf } from './contact-filters.ts'
import { isBeyondBounds } from './events.ts'
import { unknownSegment } from './list-filter.ts'
import { requireKnownSegments } from './named-segments.ts'
import { findSegment } from './segments.ts'

const EVENT_BOUNDS = { secondsMax: 5 }

type Context = Parameters<CompanyFilter>[2]

/** The `segment_id` and `filter` of lists of companies. */
export const companyFilter: CompanyFilter = async (tenant, { filter, segment_id: segmentId }, context) => {
  const conditions: RawBuilder<SqlBool>[] = []
  if (segmentId !== undefined) {
    if (!(await findSegment(tenant, segmentId, 'companies'))) throw unknownSegment('segment_id', 'companies')
    conditions.push(isCompanyInAny([segmentId], COMPANY_KEY))
  }
  if (filter !== undefined) {
    const parsed = parseCompanyFilter(filterIn(filter), { visibleOnly: context.visibleOnly })
    conditions.push(await compiled(tenant, parsed, context))
  }
  return conditions.length === 0 ? undefined : sql`(${sql.join(conditions, sql` AND `)})`
}

/** The conditions on companies in the `where` of a question, all of which must be true. @throws as `companyFilter`. */
export function companyWhere(tenant: Tenant, where: unknown, context: Context): Promise<RawBuilder<SqlBool>> {
  return compiled(tenant, parseConditions(where, { records: COMPANIES, visibleOnly: context.visibleOnly }), context)
}

async function compiled(tenant: Tenant, filter: SegmentFilter, { now, requireScope }: Context) {
  if (eventsOf(filter).length > 0) requireScope('events:read')
  try {
    return await compileCompanyFilter(tenant, filter, now)
  } catch (error) {
    if (!isBeyondBounds(error)) throw error
    const details = [{ path: 'filter', message: 'has an event condition that takes too long; add within_days' }]
    const message = 'Reading the events of all your companies takes too long. Use within_days to narrow the range.'
    throw new ServiceError(400, 'event_filter_too_broad', message, { details, cause: error })
  }
}

/**
 * A filter as a condition on companies, with the answers to its conditions on events.
 * @throws BeyondBounds if those take too long; ServiceError 400 `unknown_segment`.
 */
export async function compileCompanyFilter(tenant: Tenant, filter: SegmentFilter, now: Date) {
  await requireKnownSegments(tenant, filter, 'companies')
  const matches = eventsOf(filter)
  const results = matches.length > 0 ? await queryEventsOfAllCompanies(tenant, matches, now, EVENT_BOUNDS) : undefined
  return compileFilter(filter, {
    ...companyContextOf(now, await zoneOf(tenant, filter)),
    hasEvents: (match) => results?.hasEvents(match) ?? sql`false`,
  })
}
