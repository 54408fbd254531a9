import { sql } from 'kysely'
import { companiesWith } from '../companies/dimensions.ts'
import { COMPANY_KEY, isCompany } from '../companies/filter-fields.ts'
import { nextCompanyIds } from '../companies/pages.ts'
import { compileFilter } from '../conditions/to-postgres.ts'
import { addCompanies, companyMembershipsAmong, removeCompanies } from '../memberships/company-memberships.ts'
import { lock } from '../platform/postgres/locks.ts'
import type { Tenant } from '../platform/tenant.ts'
import type { Clock } from '../platform/time.ts'
import { COMPANIES_AT_ONCE, queryEventsOfCompanies } from './company-events.ts'
import { companyContextOf } from './company-filters.ts'
import type { Definition, Definitions } from './definitions.ts'

/** Segments per statement, because the number of parameters is limited. */
const SEGMENTS_PER_QUERY = 50

/**
 * Evaluates a segment of companies for all of them.
 * @returns false if aborted, or if the segment has changed.
 */
export async function evaluateCompanies(
  tenant: Tenant,
  { definitions, clock }: { definitions: Definitions; clock: Clock },
  { segmentId, revision }: Definition,
  stopping: AbortSignal,
): Promise<boolean> {
  for (let after: string | undefined; ; ) {
    if (stopping.aborted) return false
    const ids = await nextCompanyIds(tenant, {}, after, COMPANIES_AT_ONCE)
    const isCurrent = await tenant.transaction(async (tx) => {
      const { companies } = await definitions.of(tx)
      const definition = companies.find((each) => each.segmentId === segmentId && each.revision === revision)
      if (!definition) return false
      await lockCompanySegments(tx)
      await correctCompanies(tx, [definition], ids, clock())
      return true
    })
    if (!isCurrent) return false
    if (ids.length < COMPANIES_AT_ONCE) return true
    after = ids.at(-1)
  }
}

/**
 * Waits for other evaluations of the tenant's companies. They read contacts and events before they write, so that one that
 * began earlier could overwrite what a later one found.
 */
export async function lockCompanySegments(tx: Tenant): Promise<void> {
  await lock(tx.db, 'company_segments', tx.id)
}

/** Corrects the memberships of some companies. Call it with the lock. */
export async function correctCompanies(
  tx: Tenant,
  definitions: readonly Definition[],
  companyIds: readonly string[],
  now: Date,
): Promise<void> {
  if (definitions.length === 0 || companyIds.length === 0) return
  const matches = definitions.flatMap((definition) => definition.matches)
  const results = await queryEventsOfCompanies(tx, matches, companyIds, now)
  for (let from = 0; from < definitions.length; from += SEGMENTS_PER_QUERY) {
    const group = definitions.slice(from, from + SEGMENTS_PER_QUERY)
    const conditions = group.map(({ filter, zone }) =>
      compileFilter(filter, { ...companyContextOf(now, zone), hasEvents: (match) => results.hasEvents(match) }),
    )
    const belongs = sql<boolean[]>`ARRAY[${sql.join(conditions)}]`
    const rows = await companiesWith(tx, { condition: isCompany(companyIds) }, { id: COMPANY_KEY, belongs }).execute()
    const known = await companyMembershipsAmong(
      tx,
      group.map(({ segmentId }) => segmentId),
      companyIds,
    )
    for (const [index, { segmentId }] of group.entries()) {
      const members = new Set(known.flatMap((each) => (each.segmentId === segmentId ? each.companyId : [])))
      const isMember = ({ id }: (typeof rows)[number]) => members.has(String(id))
      const belonging = (row: (typeof rows)[number]) => (row.belongs as boolean[])[index] === true
      const idsOf = (some: typeof rows) => some.map(({ id }) => String(id))
      const entering = idsOf(rows.filter((row) => belonging(row) && !isMember(row)))
      const leaving = idsOf(rows.filter((row) => !belonging(row) && isMember(row)))
      if (entering.length > 0) await addCompanies(tx, segmentId, entering, now)
      if (leaving.length > 0) await removeCompanies(tx, segmentId, leaving)
    }
  }
}
