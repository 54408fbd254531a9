import type { RawBuilder, SqlBool } from 'kysely'
import Type from 'typebox'
import { sortProperty } from '../contacts/computed-names.ts'
import { COMPANY_FACET_FILTERS } from '../contacts/facets.ts'
import { checkProperties, PropertiesInput, type PropertyChanges } from '../contacts/properties.ts'
import type { MayName } from '../contacts/visible-texts.ts'
import { type ErrorDetail, validationError } from '../platform/errors.ts'
import { pageParameters } from '../platform/http/pagination.ts'
import {
  filterId,
  filterJson,
  filterText,
  flag,
  idList,
  idsIn,
  oneOf,
  searchText,
  timestampBound,
} from '../platform/http/query-parameters.ts'
import type { Tenant } from '../platform/tenant.ts'
import type { CompanyChanges } from './company-object.ts'
import { parseCompanyDomain } from './domain.ts'
import type { CompanyFilters } from './list.ts'

const Domain = Type.String({ minLength: 1, maxLength: 500, examples: ['analytical.example'] })
const Name = Type.String({ minLength: 1, maxLength: 1_000 })

/** Fields of POST /v1/companies. */
export const NEW_COMPANY_FIELDS = {
  domain: Type.Optional(Domain),
  name: Type.Optional(Name),
  properties: Type.Optional(PropertiesInput),
}

/** Fields of PUT /v1/companies/:company_id. */
export const COMPANY_FIELDS = {
  domain: Type.Optional(Type.Union([Domain, Type.Null()], { 'x-expected': 'a domain, or null for none' })),
  name: Type.Optional(Type.Union([Name, Type.Null()], { 'x-expected': 'a name of 1 to 1000 characters, or null' })),
  properties: Type.Optional(PropertiesInput),
}

/** Query of GET /v1/companies. */
export const ListCompaniesQuery = Type.Object({
  ...pageParameters(20, 100),
  name: filterText('Exact name.'),
  domain: filterText('Exact domain.', 500),
  ...COMPANY_FACET_FILTERS,
  min_employees: Type.Optional(Type.Integer({ minimum: 0, description: 'Minimum number of employees.' })),
  max_employees: Type.Optional(Type.Integer({ minimum: 0, description: 'Maximum number of employees.' })),
  created_after: timestampBound('lower', 'Created at or after this time.'),
  created_before: timestampBound('upper', 'Created at or before this time.'),
  search: searchText('Words that must all occur in the name or domain.'),
  company_ids: idList('Only companies with one of these ids.'),
  filter: filterJson('Its conditions are about the company, and the events of its contacts together.'),
  segment_id: filterId('Members of this segment of companies.'),
  sort_by: oneOf(['name', 'createdate'], 'The field to sort by.', 'createdate'),
  sort_property: sortProperty('companies'),
  sort_dir: oneOf(['asc', 'desc'], 'Sort direction; missing values come last in both directions.', 'desc'),
  count_only: flag('Return only the number of results.', false),
})

type ListQuery = Type.Static<typeof ListCompaniesQuery>
type Order = 'page' | 'limit' | 'sort_by' | 'sort_property' | 'sort_dir' | 'count_only'

/**
 * Reads the filters of a list that belong to another feature: segments know companies, not the other way round.
 * @returns their condition; undefined if the query has no such filter.
 * @throws ServiceError 400, 403.
 */
export type CompanyFilter = (
  tenant: Tenant,
  /** `filter` as a value, or as JSON. */
  query: { filter?: unknown; segment_id?: string | undefined },
  context: CompanyFilterContext,
) => Promise<RawBuilder<SqlBool> | undefined>

interface CompanyFilterContext {
  now: Date
  requireScope(scope: 'events:read'): void
  /** Whether personal values are hidden from the caller. */
  visibleOnly: boolean
}

interface ListNeeds extends Omit<CompanyFilterContext, 'visibleOnly'> {
  companyFilter: CompanyFilter
  /** If personal values are hidden from the caller. */
  mayName?: MayName | undefined
}

/** The filters of a list. @throws ServiceError 400 naming every invalid field of `filter`. */
export async function companyFiltersOf(
  tenant: Tenant,
  { filter, segment_id, company_ids, ...rest }: Omit<ListQuery, Order | 'filter'> & { filter?: unknown },
  { companyFilter, mayName, ...needs }: ListNeeds,
): Promise<CompanyFilters> {
  const condition = await companyFilter(
    tenant,
    { filter, segment_id },
    { ...needs, visibleOnly: mayName !== undefined },
  )
  return {
    ...rest,
    ...(mayName ? { mayName } : {}),
    ...(condition ? { condition } : {}),
    ...(company_ids === undefined ? {} : { company_ids: idsIn(company_ids, 'company_ids') }),
  }
}

/** Validates what a schema cannot. @throws ServiceError 400 naming every invalid field. */
export function parseCompany(body: Type.Static<Type.TObject<typeof COMPANY_FIELDS>>, isNew: boolean): CompanyChanges {
  const details: ErrorDetail[] = checkProperties(body.properties ?? {})
  for (const key of ['name', 'domain']) {
    if (key in (body.properties ?? {})) {
      details.push({ path: `properties.${key}`, message: `is not a property; send it as the field ${key}` })
    }
  }
  const domain = typeof body.domain === 'string' ? parseCompanyDomain(body.domain) : body.domain
  if (typeof body.domain === 'string' && domain === null) {
    details.push({ path: 'domain', message: 'is not a domain like example.com' })
  }
  const name = body.name?.trim()
  if (name === '') details.push({ path: 'name', message: 'must not be blank' })
  if (isNew && body.domain === undefined && body.name === undefined) {
    details.push({ path: 'domain', message: 'is required, unless a name is sent' })
  }
  if (details.length > 0) throw validationError(details)
  return {
    ...(domain === undefined ? {} : { domain }),
    ...(body.name === undefined ? {} : { name: name ?? null }),
    properties: (body.properties ?? {}) as PropertyChanges,
  }
}
