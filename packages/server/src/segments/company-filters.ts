import { COMPANY_FILTER_FIELDS, COMPANY_KEY } from '../companies/filter-fields.ts'
import type { FilteredRecords } from '../conditions/language.ts'
import { parseFilter } from '../conditions/parse.ts'
import type { FilterContext } from '../conditions/to-postgres.ts'
import { isSeen } from '../contacts/visible-texts.ts'
import { isCompanyInAny } from '../memberships/company-memberships.ts'

/** The companies, as filters name them. */
export const COMPANIES: FilteredRecords = { ...COMPANY_FILTER_FIELDS, hasSegments: true }

/**
 * Parses a filter of companies from a request.
 * @throws ServiceError 400 naming every invalid field.
 */
export function parseCompanyFilter(sent: unknown, options: { path?: string; visibleOnly?: boolean } = {}) {
  return parseFilter(sent, { ...options, records: COMPANIES })
}

/** What compiling a filter of companies needs, besides what is known of their contacts' events. */
export function companyContextOf(now: Date, zone: string): Omit<FilterContext, 'hasEvents'> {
  return {
    now,
    zone,
    records: COMPANIES,
    // Which names may overlap with a part is known only of the words of a search.
    isSeen: (found, shows) => isSeen({ ...found, mayName: true }, shows),
    isInSegment: (segmentIds) => isCompanyInAny(segmentIds, COMPANY_KEY),
  }
}
