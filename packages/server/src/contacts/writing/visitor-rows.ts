import { type Selectable, sql } from 'kysely'
import { countOwners } from '../../owners/link-owners.ts'
import type { TenantTables } from '../../platform/postgres/database.ts'
import type { Tenant } from '../../platform/tenant.ts'
import { PAST_VISITORS_MAX, VISITORS_MAX } from './visitor-limits.ts'

const COLUMNS = [
  'visitor_id',
  'contact_id',
  'episode',
  'first_seen_at',
  'first_page_at',
  'first_url',
  'first_referrer',
  'external_contact_id',
  'created_at',
] as const

export type LockedVisitor = Pick<Selectable<TenantTables['visitors']>, (typeof COLUMNS)[number]>

/** Locks visitors in the order of their ids. Those that do not exist are left out. */
export async function lockVisitors(tx: Tenant, visitorIds: readonly string[]): Promise<LockedVisitor[]> {
  return tx.db
    .selectFrom('visitors')
    .select(COLUMNS)
    .where('visitor_id', '=', sql<string>`any(${[...new Set(visitorIds)]}::text[])`)
    .orderBy('visitor_id')
    .forUpdate()
    .execute()
}

/**
 * The visitors that sent some external ids: anonymous ones, and those of contacts that may lose their id. Anyone can send an
 * id that no contact has yet, so only as many are read as a contact can have.
 */
export async function claimingVisitors(
  tx: Tenant,
  externalIds: readonly string[],
  holderIds: readonly string[],
): Promise<string[]> {
  if (externalIds.length === 0) return []
  const ofHolders = tx.db
    .selectFrom('visitors')
    .select('visitor_id')
    .where('external_contact_id', '=', sql<string>`any(${externalIds}::text[])`)
    .where('contact_id', '=', sql<string>`any(${holderIds}::uuid[])`)
  const anonymous = tx.db
    .selectFrom(sql<{ id: string }>`unnest(${externalIds}::text[])`.as<'sent'>(sql`sent (id)`))
    .innerJoinLateral(
      (db) =>
        db
          .selectFrom('visitors')
          .select('visitor_id')
          .whereRef('external_contact_id', '=', 'sent.id')
          .where('contact_id', 'is', null)
          .orderBy('created_at')
          .orderBy('visitor_id')
          .limit(VISITORS_MAX)
          .as('claiming'),
      (join) => join.onTrue(),
    )
    .select('claiming.visitor_id')
  const rows = await (holderIds.length === 0 ? anonymous : anonymous.unionAll(ofHolders)).execute()
  return rows.map(({ visitor_id }) => visitor_id)
}

/** How many visitors contacts have, and have had, each counted up to its limit. */
export async function countVisitors(
  tx: Tenant,
  contactIds: readonly string[],
): Promise<{ contact_id: string; current: number; past: number }[]> {
  if (contactIds.length === 0) return []
  return tx.db
    .selectFrom(sql<{ contact_id: string }>`unnest(${contactIds}::uuid[])`.as<'counted'>(sql`counted (contact_id)`))
    .select('counted.contact_id')
    .select(({ selectFrom, fn }) =>
      selectFrom(
        selectFrom('visitors')
          .select('visitor_id')
          .whereRef('visitors.contact_id', '=', 'counted.contact_id')
          .limit(VISITORS_MAX)
          .as('some'),
      )
        .select(fn.countAll<number>().as('count'))
        .as('current'),
    )
    .select(countOwners(tx, sql.ref('counted.contact_id'), PAST_VISITORS_MAX).as('past'))
    .$castTo<{ contact_id: string; current: number; past: number }>()
    .execute()
}

/**
 * Inserts unknown visitors. Outside of the transaction that links them: a flush, which has events of many tenants, would
 * otherwise wait for the end of that transaction.
 */
export async function registerVisitors(tenant: Tenant, visitorIds: readonly string[], now: Date): Promise<void> {
  const ids = [...new Set(visitorIds)].sort()
  if (ids.length === 0) return
  await tenant.db
    .insertInto('visitors')
    .columns(['visitor_id', 'created_at'])
    .expression((eb) =>
      eb
        .selectFrom(sql<{ visitor_id: string }>`unnest(${ids}::text[])`.as<'sent'>(sql`sent (visitor_id)`))
        .select(['sent.visitor_id', sql<Date>`${now}::timestamptz`.as('created_at')]),
    )
    .onConflict((known) => known.columns(['visitor_id']).doNothing())
    .execute()
}
