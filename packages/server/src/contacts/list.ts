import { type Expression, type ExpressionBuilder, type SqlBool, sql } from 'kysely'
import { FIRST_PAGE, isDeep, offsetOf, type Page } from '../platform/http/pagination.ts'
import { wordsOf } from '../platform/http/query-parameters.ts'
import { isUuid } from '../platform/ids.ts'
import type { TenantTables } from '../platform/postgres/database.ts'
import { missingLast } from '../platform/postgres/missing-last.ts'
import { endOfMillisecond, exactFacets } from '../platform/postgres/text-filters.ts'
import type { Tenant } from '../platform/tenant.ts'
import { isContact, SEGMENT_IDS } from './columns.ts'
import { valueToSortBy } from './computed-names.ts'
import { type Projection, project, shows, toContactObject } from './contact-object.ts'
import { CONTACT_COLUMNS } from './contact-row.ts'
import { CONTACT_FACETS } from './facets.ts'
import { NO_NOTES, recentNotes, toNotes } from './notes/notes.ts'
import { type HiddenFromSearch, textConditions } from './search.ts'

/** Filters of the contact list; all must match. */
export interface ContactFilters extends Partial<Record<keyof typeof CONTACT_FACETS, string>> {
  status?: 'enriched' | 'not_enriched'
  job_title?: string
  has_linkedin?: boolean
  company_id?: string
  created_after?: Date
  created_before?: Date
  search?: string
  /** What is hidden from the caller; absent if nothing is. */
  hidden?: HiddenFromSearch
  company?: string
  contact_ids?: readonly string[]
  /** Filters of other features. */
  conditions?: readonly ListCondition[]
}

/** A condition for a query of contacts. */
export interface ListCondition {
  isMet: Expression<SqlBool>
  /** Whether PostgreSQL may have to read all contacts. */
  isHeavy: boolean
}

export interface ContactOrder {
  sortBy: keyof typeof SORT_COLUMNS | 'createdate'
  /** A property in place of it. */
  property?: string | undefined
  direction: 'asc' | 'desc'
}

interface ListOptions {
  page: Page
  order: ContactOrder
  projection: Projection
  withProvenance: boolean
}

const NOTES_IN_LISTS = 10
const SORT_COLUMNS = {
  email: 'email',
  firstname: 'sort_firstname',
  lastname: 'sort_lastname',
  company: 'sort_company',
} as const

/** One page of the matching contacts, as API objects. */
export async function listContacts(tenant: Tenant, filters: ContactFilters, options: ListOptions) {
  const { page, order, projection, withProvenance } = options
  const { sortBy, direction, property } = order
  const matching = matchingContacts(tenant, filters)
  const read = async (ordered: typeof matching, limit: number, offset: number) => {
    // The id makes the order total, so that pages never repeat a row.
    const total = ordered.orderBy('contact_id', direction)
    const cut = total.limit(limit).offset(offset)
    // PostgreSQL reads what belongs to a row for each row that it skips, so a deep page is found by its ids first.
    const found = isDeep(page) ? total.where(isContact(await idsOf(cut))) : cut
    const selected = found.select(CONTACT_COLUMNS).select(SEGMENT_IDS)
    return shows(projection, 'notes')
      ? selected.select(recentNotes(NOTES_IN_LISTS, limit)).execute()
      : (await selected.execute()).map((row) => ({ ...row, notes: [] }))
  }
  const readByProperty = (name: string) => {
    const present = matching.where(sql<SqlBool>`properties ? ${name}`)
    const missing = matching.where(sql<SqlBool>`NOT properties ? ${name}`)
    return missingLast(page, {
      present: (limit, offset) => read(present.orderBy(valueToSortBy(name), direction), limit, offset),
      missing: (limit, offset) => read(missing, limit, offset),
      countPresent: () => countRows(present),
    })
  }
  const rows = await withReadLimit(tenant, filters, page, property !== undefined, () => {
    if (property !== undefined) return readByProperty(property)
    if (sortBy === 'createdate') return read(matching.orderBy('created_at', direction), page.limit, offsetOf(page))
    const column = SORT_COLUMNS[sortBy]
    const present = matching.where(column, 'is not', null)
    const missing = matching.where(column, 'is', null)
    return missingLast(page, {
      present: (limit, offset) => read(present.orderBy(column, direction), limit, offset),
      // Also sorted by the column, so that PostgreSQL reads the index in order. The index of emails does not have the id.
      missing: (limit, offset) =>
        read(column === 'email' ? missing : missing.orderBy(column, direction), limit, offset),
      countPresent: () => countRows(present),
    })
  })
  const notes = await toNotes(
    tenant,
    rows.map((row) => row.notes),
  )
  return rows.map((row, index) => project(toContactObject(row, notes[index] ?? NO_NOTES, withProvenance), projection))
}

/** The number of matching contacts. Without a filter, the database has a stored counter. */
export async function countContacts(tenant: Tenant, filters: ContactFilters): Promise<number> {
  const { hidden: _, ...own } = filters
  const filtered = Object.values(own).some((value) => value !== undefined)
  if (filtered)
    return withReadLimit(tenant, filters, FIRST_PAGE, false, () => countRows(matchingContacts(tenant, filters)))
  const row = await tenant.db
    .selectFrom('contact_counts')
    .select(({ fn }) => fn.sum('contacts').as('count'))
    .executeTakeFirst()
  return Number(row?.count ?? 0)
}

async function countRows(matching: ReturnType<typeof matchingContacts>): Promise<number> {
  const row = await matching.select(({ fn }) => fn.countAll().as('count')).executeTakeFirst()
  return Number(row?.count ?? 0)
}

/** Limits how many reads run at once that may scan all contacts: broad or unindexed filters, and deep pages. */
function withReadLimit<T>(
  tenant: Tenant,
  filters: ContactFilters,
  page: Page,
  sortsAll: boolean,
  work: () => Promise<T>,
): Promise<T> {
  const { search, job_title, status, has_linkedin, created_after, created_before, conditions = [] } = filters
  const broad = [job_title, status, has_linkedin, created_after, created_before]
  const isBroad = broad.some((value) => value !== undefined) || conditions.some(({ isHeavy }) => isHeavy)
  const isHeavy = sortsAll || wordsOf(search).length > 0 || isBroad || isDeep(page)
  return isHeavy ? tenant.heavyRead(work) : work()
}

/** A query of the matching contacts. */
export function matchingContacts(tenant: Tenant, filters: ContactFilters) {
  return tenant.db.selectFrom('contacts').where((eb) => matches(eb, filters))
}

function matches(eb: ExpressionBuilder<TenantTables, 'contacts'>, filters: ContactFilters) {
  const conditions: Expression<SqlBool>[] = [...exactFacets(CONTACT_FACETS, filters), ...textConditions(filters)]
  if (filters.status === 'enriched') conditions.push(sql`enriched_at IS NOT NULL`)
  if (filters.status === 'not_enriched') conditions.push(sql`enriched_at IS NULL`)
  if (filters.has_linkedin !== undefined) {
    const has = sql<SqlBool>`facets @> ARRAY['has_social_profile']`
    conditions.push(filters.has_linkedin ? has : sql`NOT ${has}`)
  }
  if (filters.company_id !== undefined) conditions.push(sql`company_id = ${filters.company_id}`)
  if (filters.company !== undefined) conditions.push(hasCompanyName(filters.company))
  if (filters.contact_ids) {
    // An invalid id matches nothing, and PostgreSQL would reject it.
    conditions.push(isContact(filters.contact_ids.filter(isUuid)))
  }
  for (const { isMet } of filters.conditions ?? []) conditions.push(isMet)
  if (filters.created_after) conditions.push(sql`created_at >= ${filters.created_after}`)
  if (filters.created_before) conditions.push(sql`created_at <= ${endOfMillisecond(filters.created_before)}`)
  return eb.and(conditions)
}

async function idsOf(matching: ReturnType<typeof matchingContacts>): Promise<string[]> {
  const rows = await matching.select('contact_id').execute()
  return rows.map((row) => row.contact_id)
}

function hasCompanyName(name: string) {
  // The first condition uses the index; the second is exact.
  return sql<SqlBool>`sort_company = left(lower(${name}), 200) AND properties ->> 'company' = ${name}`
}
