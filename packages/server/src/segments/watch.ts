import { sql } from 'kysely'
import type { SegmentFollower } from '../contacts/change-log.ts'
import { ServiceError } from '../platform/errors.ts'
import { every } from '../platform/every.ts'
import { openTenant, type Stores } from '../platform/tenant.ts'
import { type Checks, startChecks, type WatchDependencies } from './checks.ts'
import { cacheDefinitions } from './definitions.ts'
import { evaluateSegment } from './evaluate.ts'
import { createFollower } from './follow.ts'
import { deleteUnusedConditions } from './met-conditions.ts'

const EVERY_MS = 500
const PAUSE_MS = 3_000
/** Not urgent: nothing waits for it. */
const CLEAN_EVERY_MS = 3_000
/** Half of a claim's duration, so that the claim is still valid. */
const RESUMED_WITHIN_MS = 60_000
/** Membership that changes with time alone. */
const TIMED_EVERY_MINUTES = 10
/** Covers checks that were lost in a crash. */
const EVENTS_EVERY_MINUTES = 360

/** Everything that keeps memberships up to date while the service runs. */
export interface Segments extends Pick<Checks, 'onRecorded'> {
  follower: SegmentFollower
  stop(): Promise<void>
}

/** Starts updating memberships by contacts, events and time. */
export async function watchSegments(given: Omit<WatchDependencies, 'definitions'>): Promise<Segments> {
  const stopping = new AbortController()
  const dependencies = { ...given, definitions: cacheDefinitions(), signal: stopping.signal }
  const { stores, definitions, clock, log } = dependencies
  const checks = startChecks(dependencies)
  const { rows } = await sql<{ now: string }>`SELECT now()::text AS now`.execute(stores.database)
  const startedAt = rows[0]?.now ?? ''
  let resumeAt = 0
  /**
   * The current claim. It is kept when a database goes down, and retried first, because no other process can claim the
   * segment for a while.
   */
  let current: { segment: Due; until: number; isClaimed: boolean } | null = null
  let lastTenant: string | null = null

  /** A segment that cannot be evaluated stays claimed until the claim ends, so that others are evaluated first. */
  function skipSegment(error: unknown): void {
    if (error instanceof ServiceError && error.status === 503) throw error
    log.warn({ err: error }, 'a segment could not be evaluated; continuing with others')
  }

  const evaluating = every(EVERY_MS, async () => {
    if (Date.now() < resumeAt) return
    try {
      while (!stopping.signal.aborted) {
        if (current === null || Date.now() > current.until) {
          const segment = await findDue(stores.database, startedAt, lastTenant)
          if (!segment) break
          current = { segment, until: Date.now() + RESUMED_WITHIN_MS, isClaimed: false }
        }
        const { tenant_id, segment_id } = current.segment
        lastTenant = tenant_id
        current.isClaimed ||= await claim(stores.database, current.segment, startedAt)
        if (current.isClaimed) {
          await evaluateSegment(openTenant(stores, tenant_id), dependencies, segment_id).catch(skipSegment)
        }
        current = null
      }
    } catch (error) {
      resumeAt = Date.now() + PAUSE_MS
      log.warn({ err: error }, 'a segment could not be evaluated; retrying shortly')
    }
  })

  const cleaning = every(CLEAN_EVERY_MS, async () => {
    try {
      const rows = await stores.database.selectFrom('segment_unused_matches').select('tenant_id').distinct().execute()
      for (const { tenant_id } of rows) {
        await deleteUnusedConditions(openTenant(stores, tenant_id), definitions, stopping.signal)
      }
    } catch (error) {
      log.warn({ err: error }, 'unused event conditions could not be deleted; retrying shortly')
    }
  })

  return {
    follower: createFollower(definitions, clock),
    onRecorded: checks.onRecorded,
    stop: async () => {
      stopping.abort()
      await evaluating.stop()
      await cleaning.stop()
      await checks.stop()
    },
  }
}

interface Due {
  tenant_id: string
  segment_id: string
  /** When the claim ends, to the microsecond, which identifies the claim. */
  claim_ends: string
}

/**
 * Finds a segment to evaluate as a whole: a new one, one that depends on time, and, once after each start, one that
 * depends on events, because a crash may have lost a check. Tenants alternate, so one that creates hundreds of segments
 * at once does not delay others.
 */
async function findDue(
  database: Stores['database'],
  startedAt: string,
  lastTenant: string | null,
): Promise<Due | undefined> {
  const { rows } = await sql<Due>`
    SELECT tenant_id, segment_id, (clock_timestamp() + interval '2 minutes')::text AS claim_ends
    FROM segments WHERE ${isDue(startedAt)}
    ORDER BY tenant_id IS NOT DISTINCT FROM ${lastTenant}::uuid, evaluated_at NULLS FIRST
    LIMIT 1 FOR UPDATE SKIP LOCKED`.execute(database)
  return rows[0]
}

/**
 * Claims a segment for this process. It can be retried if the response was lost, because a successful claim is
 * identified by its end.
 * @returns false if another process was first.
 */
async function claim(database: Stores['database'], segment: Due, startedAt: string): Promise<boolean> {
  const { tenant_id, segment_id, claim_ends } = segment
  const { numAffectedRows } = await sql`
    UPDATE segments SET claimed_until = ${claim_ends}::timestamptz
    WHERE tenant_id = ${tenant_id} AND segment_id = ${segment_id}
      AND (claimed_until = ${claim_ends}::timestamptz OR ${isDue(startedAt)})`.execute(database)
  return numAffectedRows === 1n
}

const isDue = (startedAt: string) => sql<boolean>`
  (claimed_until IS NULL OR claimed_until < now()) AND (
    evaluated_at IS NULL
    OR (uses_time OR uses_events) AND evaluated_at < ${startedAt}::timestamptz
    OR uses_time AND evaluated_at < now() - make_interval(mins => ${TIMED_EVERY_MINUTES})
    OR uses_events AND evaluated_at < now() - make_interval(mins => ${EVENTS_EVERY_MINUTES}))`
