import { type Expression, expressionBuilder, type RawBuilder, type SqlBool, sql } from 'kysely'
import type { TenantTables } from '../platform/postgres/database.ts'
import type { Tenant } from '../platform/tenant.ts'

/*
 * The companies in segments of companies.
 */

export interface CompanyMembership {
  segmentId: string
  companyId: string
}

/** A query of the ids of a segment's companies. */
export function companiesOf({ db }: Tenant, segmentId: string) {
  return db
    .selectFrom('company_segment_members')
    .select('company_segment_members.company_id')
    .where('company_segment_members.segment_id', '=', segmentId)
}

/** A condition of another query, to which the tenant is added later: the company is in one of some segments. */
export function isCompanyInAny(segmentIds: readonly string[], companyId: Expression<string>): RawBuilder<SqlBool> {
  const membership = expressionBuilder<TenantTables, never>()
    .selectFrom('company_segment_members')
    .select('company_segment_members.company_id')
    .where('company_segment_members.company_id', '=', companyId)
    .where('company_segment_members.segment_id', '=', sql<string>`ANY(${segmentIds}::uuid[])`)
  return sql`EXISTS ${membership}`
}

/** The memberships of some companies in some segments. */
export async function companyMembershipsAmong(
  { db }: Tenant,
  segmentIds: readonly string[],
  companyIds: readonly string[],
): Promise<CompanyMembership[]> {
  const rows = await db
    .selectFrom('company_segment_members')
    .select(['segment_id', 'company_id'])
    .where('segment_id', '=', sql<string>`ANY(${segmentIds}::uuid[])`)
    .where('company_id', '=', sql<string>`ANY(${companyIds}::uuid[])`)
    .execute()
  return rows.map(({ segment_id, company_id }) => ({ segmentId: segment_id, companyId: company_id }))
}

export async function addCompanies(tx: Tenant, segmentId: string, companyIds: readonly string[], now: Date) {
  await tx.db
    .insertInto('company_segment_members')
    .columns(['segment_id', 'company_id', 'entered_at'])
    .expression(
      tx.db
        .selectFrom(sql`unnest(${companyIds}::uuid[])`.as<'entering'>(sql`entering (company_id)`))
        .select([
          sql<string>`${segmentId}::uuid`.as('segment_id'),
          sql<string>`entering.company_id`.as('company_id'),
          sql<Date>`${now}::timestamptz`.as('entered_at'),
        ]),
    )
    .onConflict((row) => row.columns(['segment_id', 'company_id']).doNothing())
    .execute()
}

export async function removeCompanies(tx: Tenant, segmentId: string, companyIds: readonly string[]) {
  await tx.db
    .deleteFrom('company_segment_members')
    .where('segment_id', '=', segmentId)
    .where('company_id', '=', sql<string>`ANY(${companyIds}::uuid[])`)
    .execute()
}
