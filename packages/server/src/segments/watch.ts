import { sql } from 'kysely'
import { ServiceError } from '../platform/errors.ts'
import { every } from '../platform/every.ts'
import { openTenant } from '../platform/tenant.ts'
import { type Checks, startChecks, type WatchDependencies } from './checks.ts'
import { rememberDefinitions } from './definitions.ts'
import { evaluateSegment } from './evaluate.ts'
import { createFollower, type SegmentFollower } from './follow.ts'

const EVERY_MS = 500
const PAUSE_MS = 3_000
/** Who belongs changes by time alone. */
const TIMED_EVERY_MINUTES = 10
/** What a crash made the checks forget is found again. */
const EVENTS_EVERY_MINUTES = 360

/** Everything that keeps memberships right while the service runs. */
export interface Segments extends Pick<Checks, 'onRecorded' | 'onMoved'> {
  follower: SegmentFollower
  stop(): Promise<void>
}

/** Starts following contacts, events and time. */
export async function watchSegments(given: Omit<WatchDependencies, 'definitions'>): Promise<Segments> {
  const stopping = new AbortController()
  const dependencies = { ...given, definitions: rememberDefinitions(), signal: stopping.signal }
  const { stores, definitions, clock, log } = dependencies
  const checks = startChecks(dependencies)
  const { rows } = await sql<{ now: string }>`SELECT now()::text AS now`.execute(stores.database)
  const startedAt = rows[0]?.now ?? ''
  let resumeAt = 0

  /** A segment that cannot be evaluated stays claimed for a while, so that the others have their turn. */
  function giveWay(error: unknown): void {
    if (error instanceof ServiceError && error.status === 503) throw error
    log.warn({ err: error }, 'a segment could not be evaluated; the others go on')
  }

  const evaluating = every(EVERY_MS, async () => {
    if (Date.now() < resumeAt) return
    try {
      while (!stopping.signal.aborted) {
        const claimed = await claimDue(stores.database, startedAt)
        if (!claimed) break
        await evaluateSegment(openTenant(stores, claimed.tenant_id), dependencies, claimed.segment_id).catch(giveWay)
      }
    } catch (error) {
      resumeAt = Date.now() + PAUSE_MS
      log.warn({ err: error }, 'a segment could not be evaluated; it is tried again shortly')
    }
  })

  return {
    follower: createFollower(definitions, clock),
    onRecorded: checks.onRecorded,
    onMoved: checks.onMoved,
    stop: async () => {
      stopping.abort()
      await evaluating.stop()
      await checks.stop()
    },
  }
}

/**
 * Takes a segment whose members are to be looked at as a whole: a new one, one that time changes, and, once after each
 * start, one that events change, because a crash may have made a check forget. One that is new and uses events waits
 * a little for what the journal still holds.
 */
async function claimDue(database: WatchDependencies['stores']['database'], startedAt: string) {
  const { rows } = await sql<{ tenant_id: string; segment_id: string }>`
    UPDATE segments SET claimed_until = now() + interval '2 minutes'
    WHERE (tenant_id, segment_id) = (
      SELECT tenant_id, segment_id FROM segments
      WHERE (claimed_until IS NULL OR claimed_until < now()) AND (
        (evaluated_at IS NULL AND NOT (uses_events AND EXISTS (SELECT FROM journal
          WHERE created_at BETWEEN now() - interval '30 seconds' AND now() - interval '1 second')))
        OR (uses_time OR uses_events) AND evaluated_at < ${startedAt}::timestamptz
        OR uses_time AND evaluated_at < now() - make_interval(mins => ${TIMED_EVERY_MINUTES})
        OR uses_events AND evaluated_at < now() - make_interval(mins => ${EVENTS_EVERY_MINUTES}))
      ORDER BY evaluated_at NULLS FIRST
      LIMIT 1 FOR UPDATE SKIP LOCKED
    )
    RETURNING tenant_id, segment_id`.execute(database)
  return rows[0]
}
