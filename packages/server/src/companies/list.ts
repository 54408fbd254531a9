import { type ExpressionBuilder, type RawBuilder, type SqlBool, sql } from 'kysely'
import { valueToSortBy } from '../contacts/computed-names.ts'
import { COMPANY_FACETS } from '../contacts/facets.ts'
import { type FoundProperties, findProperties, NEWEST_RECORDS, sampleProperties } from '../contacts/found-properties.ts'
import { showsText } from '../contacts/search.ts'
import type { MayName } from '../contacts/visible-texts.ts'
import type { SampledProperty } from '../events/data-keys.ts'
import { notFound } from '../platform/errors.ts'
import { FIRST_PAGE, isDeep, offsetOf, type Page } from '../platform/http/pagination.ts'
import { wordsOf } from '../platform/http/query-parameters.ts'
import { isUuid } from '../platform/ids.ts'
import type { TenantTables } from '../platform/postgres/database.ts'
import { missingLast } from '../platform/postgres/missing-last.ts'
import { contains, endOfMillisecond, exactFacets } from '../platform/postgres/text-filters.ts'
import type { Tenant } from '../platform/tenant.ts'
import { COMPANY_COLUMNS, type CompanyRow, toCompanyObject } from './company-object.ts'
import { spelledDomain } from './domain.ts'

/** Filters of the company list; all must match. */
export interface CompanyFilters extends Partial<Record<keyof typeof COMPANY_FACETS, string>> {
  name?: string
  domain?: string
  min_employees?: number
  max_employees?: number
  created_after?: Date
  created_before?: Date
  search?: string
  /** If personal values are hidden from the caller: a search then compares only what it sees. */
  mayName?: MayName
  company_ids?: readonly string[]
  /** A filter of segments, compiled. */
  condition?: RawBuilder<SqlBool>
}

export interface CompanyOrder {
  sortBy: 'name' | 'createdate'
  /** A property in place of it. */
  property?: string | undefined
  direction: 'asc' | 'desc'
}

/** One page of the matching companies. */
export async function listCompanies(tenant: Tenant, filters: CompanyFilters, order: CompanyOrder, page: Page) {
  const { sortBy, direction, property } = order
  const matching = matchingCompanies(tenant, filters)
  const read = (ordered: typeof matching, limit: number, offset: number) =>
    ordered.select(COMPANY_COLUMNS).orderBy('company_id', direction).limit(limit).offset(offset).execute()
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
    const present = matching.where('sort_name', 'is not', null)
    const missing = matching.where('sort_name', 'is', null)
    return missingLast(page, {
      present: (limit, offset) => read(present.orderBy('sort_name', direction), limit, offset),
      // Also sorted by the column, so that PostgreSQL reads the index in order instead of sorting.
      missing: (limit, offset) => read(missing.orderBy('sort_name', direction), limit, offset),
      countPresent: () => countRows(present),
    })
  })
  return rows.map(toCompanyObject)
}

/** The number of matching companies. */
export async function countCompanies(tenant: Tenant, filters: CompanyFilters): Promise<number> {
  return withReadLimit(tenant, filters, FIRST_PAGE, false, () => countRows(matchingCompanies(tenant, filters)))
}

async function countRows(matching: ReturnType<typeof matchingCompanies>): Promise<number> {
  const row = await matching.select(({ fn }) => fn.countAll().as('count')).executeTakeFirst()
  return Number(row?.count ?? 0)
}

/** @throws ServiceError 404. */
export async function readCompany(tenant: Tenant, companyId: string) {
  const row = await tenant.db
    .selectFrom('companies')
    .select(COMPANY_COLUMNS)
    .where('company_id', '=', companyId)
    .executeTakeFirst()
  if (!row) throw notFound('company')
  return toCompanyObject(row)
}

/** Companies by id; unknown ids are omitted. */
export async function findCompanies(tenant: Tenant, companyIds: readonly string[]): Promise<CompanyRow[]> {
  if (companyIds.length === 0) return []
  return tenant.db.selectFrom('companies').select(COMPANY_COLUMNS).where('company_id', 'in', companyIds).execute()
}

/** The properties of the newest companies. */
export function findCompanyProperties(tenant: Tenant, limit: number): Promise<FoundProperties> {
  return findProperties(tenant, newestCompanies(tenant), limit)
}

/** The properties of the newest companies, most frequent first, with some of their values. */
export function sampleCompanyProperties(tenant: Tenant): Promise<SampledProperty[]> {
  return sampleProperties(tenant, newestCompanies(tenant))
}

/** Whether any company has a property. */
export async function hasCompanyProperty(tenant: Tenant, name: string): Promise<boolean> {
  const having = tenant.db.selectFrom('companies').select('company_id').where(sql<boolean>`properties ? ${name}`)
  return (await having.limit(1).execute()).length > 0
}

function newestCompanies(tenant: Tenant) {
  const newest = tenant.db.selectFrom('companies').select(['properties', 'updated_at']).orderBy('created_at', 'desc')
  return newest.limit(NEWEST_RECORDS).as('newest')
}

/** The newest companies whose name or domain contains a text. */
export function searchCompanies(tenant: Tenant, text: string, limit: number): Promise<CompanyRow[]> {
  return tenant.heavyRead(() =>
    matchingCompanies(tenant, {})
      .select(COMPANY_COLUMNS)
      .where(contains(sql`companies.search_text`, text))
      .orderBy('created_at', 'desc')
      .limit(limit)
      .execute(),
  )
}

/** How many companies match a condition, and the newest of them. */
export async function sampleCompanies(tenant: Tenant, condition: RawBuilder<SqlBool>, sampleSize: number) {
  const matching = matchingCompanies(tenant, { condition })
  const rows = await matching.select(COMPANY_COLUMNS).orderBy('created_at', 'desc').limit(sampleSize).execute()
  return { count: await countRows(matching), companies: rows.map(toCompanyObject) }
}

/** The names and domains of companies, by id; unknown ids are absent. */
export async function namesOfCompanies(tenant: Tenant, companyIds: readonly string[]) {
  if (companyIds.length === 0) return new Map<string, never>()
  const rows = await tenant.db
    .selectFrom('companies')
    .select(['company_id as _id', 'name', 'domain'])
    .where('company_id', 'in', companyIds)
    .execute()
  return new Map(rows.map((row) => [row._id, row]))
}

/** The names of companies, for the audit log; of a company without a name, the domain. */
export async function displayNamesOfCompanies(
  tenant: Tenant,
  companyIds: readonly string[],
): Promise<Map<string, string | null>> {
  const companies = await namesOfCompanies(tenant, companyIds)
  return new Map([...companies].map(([id, { name, domain }]) => [id, name ?? domain]))
}

/** Limits how many reads run at once that may scan all companies: broad or unindexed filters, and deep pages. */
function withReadLimit<T>(
  tenant: Tenant,
  filters: CompanyFilters,
  page: Page,
  sortsAll: boolean,
  work: () => Promise<T>,
): Promise<T> {
  const { search, min_employees, max_employees, created_after, created_before, condition } = filters
  const broad = [min_employees, max_employees, created_after, created_before, condition]
  const isHeavy = sortsAll || wordsOf(search).length > 0 || broad.some((value) => value !== undefined) || isDeep(page)
  return isHeavy ? tenant.heavyRead(work) : work()
}

/** A query of the matching companies. */
export function matchingCompanies(tenant: Tenant, filters: CompanyFilters) {
  return tenant.db.selectFrom('companies').where((eb) => companyMatches(eb, filters))
}

/** A name may be that of a contact, whose name must not be found letter by letter. */
function isVisible(word: string, mayName: MayName): RawBuilder<SqlBool> {
  const [inName, inDomain] = [sql`companies.name`, sql`companies.domain`].map((text) =>
    showsText({ table: 'companies', text, part: word, isCompany: true }, mayName),
  )
  return sql`(${inName} OR ${inDomain})`
}

function companyMatches(eb: ExpressionBuilder<TenantTables, 'companies'>, filters: CompanyFilters) {
  const words = wordsOf(filters.search)
  const { mayName } = filters
  const conditions = [
    ...exactFacets(COMPANY_FACETS, filters),
    ...words.map((word) => contains(sql`companies.search_text`, word)),
    ...(mayName ? words.map((word) => isVisible(word, mayName)) : []),
  ]
  if (filters.name !== undefined) conditions.push(sql`companies.name = ${filters.name}`)
  if (filters.domain !== undefined) conditions.push(sql`companies.domain = ${spelledDomain(filters.domain)}`)
  if (filters.min_employees !== undefined) conditions.push(sql`${EMPLOYEES} >= ${filters.min_employees}`)
  if (filters.max_employees !== undefined) conditions.push(sql`${EMPLOYEES} <= ${filters.max_employees}`)
  if (filters.condition) conditions.push(filters.condition)
  if (filters.company_ids) {
    // An invalid id matches nothing, and PostgreSQL would reject it.
    conditions.push(sql`companies.company_id = ANY(${filters.company_ids.filter(isUuid)}::uuid[])`)
  }
  if (filters.created_after) conditions.push(sql`companies.created_at >= ${filters.created_after}`)
  if (filters.created_before) conditions.push(sql`companies.created_at <= ${endOfMillisecond(filters.created_before)}`)
  return eb.and(conditions)
}

/** The number of employees, if the property is a number or numeric text. */
export const EMPLOYEES_SQL = `numeric_property(companies.properties, 'numberofemployees')`
const EMPLOYEES = sql.raw<number>(EMPLOYEES_SQL)
