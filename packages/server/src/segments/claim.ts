import { sql } from 'kysely'
import { isOfOpenTenant } from '../platform/closed-tenants.ts'
import { isClaimed, isFree, newClaim, RELEASED, releasedFor } from '../platform/postgres/lease.ts'
import type { Stores, Tenant } from '../platform/tenant.ts'

/** Membership that changes with time alone, or with other contacts. */
const TIMED_EVERY_MINUTES = 10
/** Covers checks that were lost in a crash. */
const EVENTS_EVERY_MINUTES = 360
/** After a failure or a concurrent change of the segment, it is due again soon, but not at once. */
const PAUSE_SECONDS = 2

/** A segment that this process evaluates. */
export interface ClaimedSegment {
  segmentId: string
  claim: string
}

/**
 * Finds a segment to evaluate as a whole: a new one, one that depends on time, and, once after each start, one that
 * depends on events, because a crash may have lost a check. Tenants alternate, so one that creates hundreds of segments
 * at once does not delay others.
 */
export async function findDue(
  stores: Pick<Stores, 'database' | 'closed'>,
  startedAt: string,
  lastTenant: string | null,
): Promise<{ tenantId: string; segmentId: string } | undefined> {
  const { rows } = await sql<{ tenantId: string; segmentId: string }>`
    SELECT tenant_id AS "tenantId", segment_id AS "segmentId" FROM segments
    WHERE ${isDue(startedAt)} AND ${isOfOpenTenant(stores)}
    ORDER BY tenant_id IS NOT DISTINCT FROM ${lastTenant}::uuid, evaluated_at NULLS FIRST
    LIMIT 1 FOR UPDATE SKIP LOCKED`.execute(stores.database)
  return rows[0]
}

/**
 * Claims a segment for this process. It can be repeated with the same claim if the response was lost.
 * @returns false if another process was first.
 */
export async function claimSegment(
  tenant: Tenant,
  { segmentId, claim }: ClaimedSegment,
  startedAt: string,
): Promise<boolean> {
  const { numUpdatedRows } = await tenant.db
    .updateTable('segments')
    .set(newClaim('segment', claim))
    .where('segment_id', '=', segmentId)
    .where(({ or }) => or([isClaimed(claim), isDue(startedAt)]))
    .executeTakeFirst()
  return numUpdatedRows > 0n
}

/** Records that a segment was evaluated, unless it has changed since. `startedAt` is exact to the microsecond. */
export async function finishSegment(
  tenant: Tenant,
  segment: ClaimedSegment,
  revision: string,
  startedAt: string,
): Promise<void> {
  await whereClaimed(tenant, segment)
    .where('revision', '=', revision)
    .set({ ...RELEASED, evaluated_at: sql`${startedAt}::timestamptz` })
    .execute()
}

/** Releases a segment whose evaluation did not finish. */
export async function releaseSegment(tenant: Tenant, segment: ClaimedSegment): Promise<void> {
  await whereClaimed(tenant, segment).set(releasedFor(PAUSE_SECONDS)).execute()
}

/** An update of a segment that applies only while this process has claimed it. A change of the filter ends the claim. */
export function whereClaimed(tenant: Tenant, { segmentId, claim }: ClaimedSegment) {
  return tenant.db.updateTable('segments').where('segment_id', '=', segmentId).where(isClaimed(claim))
}

const isDue = (startedAt: string) => sql<boolean>`
  ${isFree} AND (
    evaluated_at IS NULL
    OR (uses_time OR uses_events) AND evaluated_at < ${startedAt}::timestamptz
    OR uses_time AND evaluated_at < now() - make_interval(mins => ${TIMED_EVERY_MINUTES})
    OR uses_events AND evaluated_at < now() - make_interval(mins => ${EVENTS_EVERY_MINUTES}))`
