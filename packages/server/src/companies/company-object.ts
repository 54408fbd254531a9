import type { Selectable } from 'kysely'
import Type from 'typebox'
import { CompanyProperties, type Properties, type PropertyChanges } from '../contacts/properties.ts'
import { etagOf } from '../operations/etag.ts'
import { Id, Nullable, Timestamp } from '../platform/http/responses.ts'
import { LABEL, TEXT, WORD } from '../platform/personal.ts'
import type { TenantTables } from '../platform/postgres/database.ts'

export const COMPANY_COLUMNS = [
  'company_id',
  'domain',
  'name',
  'external_id',
  'properties',
  'form_keys',
  'created_at',
  'updated_at',
] as const

export type CompanyRow = Pick<Selectable<TenantTables['companies']>, (typeof COMPANY_COLUMNS)[number]>

export interface CompanyChanges {
  /** undefined: unchanged; null: removed. */
  domain?: string | null
  name?: string | null
  properties: PropertyChanges
}

export const Company = Type.Object(
  {
    company_id: Id,
    _id: Id,
    name: Nullable(Type.String({ examples: ['Analytical Engines'], ...LABEL })),
    domain: Nullable(Type.String({ examples: ['analytical.example'], ...WORD })),
    external_id: Nullable(Type.String(TEXT), 'Your own id of the company, from a group call of an SDK.'),
    properties: CompanyProperties,
    created_at: Timestamp,
    updated_at: Timestamp,
  },
  { title: 'Company' },
)

/** A company as the API returns it. */
export function toCompanyObject(row: CompanyRow): Type.Static<typeof Company> {
  return {
    company_id: row.company_id,
    _id: row.company_id,
    name: row.name,
    domain: row.domain,
    external_id: row.external_id,
    properties: row.properties as Properties,
    created_at: row.created_at.toISOString(),
    updated_at: row.updated_at.toISOString(),
  }
}

/** The version of a company: what its writers set. @param computed the names of properties that the service computes */
export function etagOfCompany(
  { name, domain, properties }: Record<'name' | 'domain' | 'properties', unknown>,
  computed: ReadonlySet<string>,
): string {
  const written = Object.entries(properties as Properties).filter(([key]) => !computed.has(key))
  return etagOf(name, domain, Object.fromEntries(written))
}
