import { type Expression, expressionBuilder, type RawBuilder, type SqlBool, sql } from 'kysely'
import type { TenantTables } from '../platform/postgres/database.ts'
import type { Tenant } from '../platform/tenant.ts'

/** Rows per statement: the number of parameters is limited, and a row has four. */
const ROWS_PER_STATEMENT = 2_000

export interface Membership {
  segmentId: string
  contactId: string
}

/** A column `segment_ids`: the segments of the contact whose id a query has, sorted by id. */
export function segmentIdsOf(contactId: Expression<string>) {
  return expressionBuilder<TenantTables, never>()
    .selectFrom('segment_members')
    .select(
      sql<string[]>`coalesce(array_agg(segment_members.segment_id ORDER BY segment_members.segment_id), '{}')`.as(
        'ids',
      ),
    )
    .where('segment_members.contact_id', '=', contactId)
    .$asScalar()
    .$notNull()
    .as('segment_ids')
}

/** A column `member_count`: the number of members of the segment whose id a query has, from stored counters. */
export function memberCountOf(segmentId: Expression<string>) {
  return expressionBuilder<TenantTables, never>()
    .selectFrom('segment_counts')
    .select(sql<number>`coalesce(sum(segment_counts.members), 0)::bigint`.as('members'))
    .where('segment_counts.segment_id', '=', segmentId)
    .$asScalar()
    .$notNull()
    .as('member_count')
}

/** A query of the ids of a segment's members. */
export function membersOf({ db }: Tenant, segmentId: string) {
  return db
    .selectFrom('segment_members')
    .select('segment_members.contact_id')
    .where('segment_members.segment_id', '=', segmentId)
}

/** The segment that each contact entered last; contacts in no segment are absent. */
export async function latestSegments(
  { db }: Tenant,
  contactIds: readonly string[],
): Promise<Map<string, { segmentId: string; since: Date }>> {
  if (contactIds.length === 0) return new Map()
  const rows = await db
    .selectFrom('segment_members')
    .select(['contact_id', 'segment_id', 'entered_at'])
    .distinctOn('contact_id')
    .where('contact_id', '=', sql<string>`any(${contactIds}::uuid[])`)
    .orderBy('contact_id')
    .orderBy('entered_at', 'desc')
    .orderBy('segment_id')
    .execute()
  return new Map(
    rows.map(({ contact_id, segment_id, entered_at }) => [contact_id, { segmentId: segment_id, since: entered_at }]),
  )
}

/** A condition of another query: the contact whose id it has is a member of a segment. */
export function isMemberOf(tenant: Tenant, segmentId: string, contactId: Expression<string>): RawBuilder<SqlBool> {
  return sql`EXISTS ${membersOf(tenant, segmentId).where('segment_members.contact_id', '=', contactId)}`
}

/** The same for any of some segments, in a query to which the tenant is added later. */
export function isMemberOfAny(segmentIds: readonly string[], contactId: Expression<string>): RawBuilder<SqlBool> {
  const membership = expressionBuilder<TenantTables, never>()
    .selectFrom('segment_members')
    .select('segment_members.contact_id')
    .where('segment_members.contact_id', '=', contactId)
    .where('segment_members.segment_id', '=', sql<string>`ANY(${segmentIds}::uuid[])`)
  return sql`EXISTS ${membership}`
}

/** @returns the memberships that are new. */
export function addMembers(tx: Tenant, memberships: readonly Membership[], now: Date): Promise<Membership[]> {
  return inParts(memberships, async (part) => {
    const rows = await tx.db
      .insertInto('segment_members')
      .values(
        part.map(({ segmentId, contactId }) => ({ segment_id: segmentId, contact_id: contactId, entered_at: now })),
      )
      .onConflict((row) => row.columns(['segment_id', 'contact_id']).doNothing())
      .returning(['segment_id', 'contact_id'])
      .execute()
    return rows.map(toMembership)
  })
}

/** @returns the memberships that existed. */
export function removeMembers(tx: Tenant, memberships: readonly Membership[]): Promise<Membership[]> {
  return inParts(memberships, async (part) => {
    const rows = await tx.db
      .deleteFrom('segment_members')
      .where((eb) =>
        eb(
          eb.refTuple('segment_id', 'contact_id'),
          'in',
          part.map(({ segmentId, contactId }) => eb.tuple(segmentId, contactId)),
        ),
      )
      .returning(['segment_id', 'contact_id'])
      .execute()
    return rows.map(toMembership)
  })
}

/** Removes contacts from every segment. @returns the memberships that existed. */
export async function removeFromAll(tx: Tenant, contactIds: readonly string[]): Promise<Membership[]> {
  const rows = await tx.db
    .deleteFrom('segment_members')
    .where('contact_id', 'in', contactIds)
    .returning(['segment_id', 'contact_id'])
    .execute()
  return rows.map(toMembership)
}

/** Deletes the counters of a deleted segment. Its memberships were deleted with it. */
export async function deleteCounters(tx: Tenant, segmentId: string): Promise<void> {
  await tx.db.deleteFrom('segment_counts').where('segment_id', '=', segmentId).execute()
}

function toMembership(row: { segment_id: string; contact_id: string }): Membership {
  return { segmentId: row.segment_id, contactId: row.contact_id }
}

async function inParts(
  memberships: readonly Membership[],
  write: (part: readonly Membership[]) => Promise<Membership[]>,
): Promise<Membership[]> {
  const written: Membership[] = []
  for (let from = 0; from < memberships.length; from += ROWS_PER_STATEMENT) {
    written.push(...(await write(memberships.slice(from, from + ROWS_PER_STATEMENT))))
  }
  return written
}
