import { readTenant } from '../access/tenants.ts'
import { COMPANY_FILTER_FIELDS, companyMeets } from '../companies/filter-fields.ts'
import { nameDays } from '../conditions/bounds.ts'
import { type FilteredRecords, type SegmentFilter, visibleTextsOf } from '../conditions/language.ts'
import { parseFilter } from '../conditions/parse.ts'
import type { FilterContext, SeenText } from '../conditions/to-postgres.ts'
import { CONTACT_FILTER_FIELDS, CONTACT_ID } from '../contacts/columns.ts'
import { isSeen, type MayName, namesOverlapping } from '../contacts/visible-texts.ts'
import { problemsOfInsight } from '../insights/kinds.ts'
import { isMemberOfAny } from '../memberships/memberships.ts'
import type { Tenant } from '../platform/tenant.ts'

/** The contacts, and their companies, as filters name them. */
export const CONTACTS: FilteredRecords = {
  ...CONTACT_FILTER_FIELDS,
  hasSegments: true,
  company: { records: COMPANY_FILTER_FIELDS, meets: companyMeets },
  problemsOfInsight,
}

/**
 * Parses a filter of contacts from a request.
 * @throws ServiceError 400 naming every invalid field.
 */
export function parseContactFilter(sent: unknown, options: { path?: string; visibleOnly?: boolean } = {}) {
  return parseFilter(sent, { ...options, records: CONTACTS })
}

/** The time zone in which a tenant's filter is read. Few filters name days, so few readers ask. */
export async function zoneOf(tenant: Tenant, conditions: unknown): Promise<string> {
  return nameDays(conditions) ? (await readTenant(tenant)).timeZone : 'UTC'
}

/** What compiling a filter of contacts needs, besides what is known of their events. */
export async function contextFor(
  tenant: Tenant,
  filter: SegmentFilter,
  now: Date,
): Promise<Omit<FilterContext, 'hasEvents'>> {
  const mayName = await namesOverlapping(tenant, visibleTextsOf(filter))
  return contextOf(now, await zoneOf(tenant, filter), mayName)
}

/** The same, for a filter of which this is known. Names of other contacts may be hidden in any text, unless told otherwise. */
export function contextOf(now: Date, zone: string, mayName: MayName = () => true): Omit<FilterContext, 'hasEvents'> {
  return {
    now,
    zone,
    records: CONTACTS,
    isSeen: (found: SeenText, shows) => isSeen({ ...found, mayName: mayName(found.part) }, shows),
    isInSegment: (segmentIds) => isMemberOfAny(segmentIds, CONTACT_ID),
  }
}
