import { sql } from 'kysely'
import { ServiceError } from '../platform/errors.ts'
import { every } from '../platform/every.ts'
import { openTenant } from '../platform/tenant.ts'
import { type Checks, startChecks, type WatchDependencies } from './checks.ts'
import { rememberDefinitions } from './definitions.ts'
import { evaluateSegment } from './evaluate.ts'
import { createFollower, type SegmentFollower } from './follow.ts'
import { deleteUnused } from './holders.ts'

const EVERY_MS = 500
const PAUSE_MS = 3_000
/** Nobody waits for it. */
const CLEAN_EVERY_MS = 3_000
/** Half of the time for which a segment is claimed. */
const RESUMED_WITHIN_MS = 60_000
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
  /** What was being evaluated when a store went away. Nobody else can claim it for a while, so it is tried again first. */
  let interrupted: { segment: Claimed; until: number } | null = null

  /** A segment that cannot be evaluated stays claimed for a while, so that the others have their turn. */
  function giveWay(error: unknown): void {
    if (error instanceof ServiceError && error.status === 503) throw error
    log.warn({ err: error }, 'a segment could not be evaluated; the others go on')
  }

  const evaluating = every(EVERY_MS, async () => {
    if (Date.now() < resumeAt) return
    try {
      while (!stopping.signal.aborted) {
        if (interrupted === null || Date.now() > interrupted.until) {
          const segment = await claimDue(stores.database, startedAt)
          if (!segment) break
          interrupted = { segment, until: Date.now() + RESUMED_WITHIN_MS }
        }
        const { tenant_id, segment_id } = interrupted.segment
        await evaluateSegment(openTenant(stores, tenant_id), dependencies, segment_id).catch(giveWay)
        interrupted = null
      }
    } catch (error) {
      resumeAt = Date.now() + PAUSE_MS
      log.warn({ err: error }, 'a segment could not be evaluated; it is tried again shortly')
    }
  })

  const cleaning = every(CLEAN_EVERY_MS, async () => {
    try {
      const rows = await stores.database.selectFrom('segment_unused_matches').select('tenant_id').distinct().execute()
      for (const { tenant_id } of rows) {
        await deleteUnused(openTenant(stores, tenant_id), definitions, stopping.signal)
      }
    } catch (error) {
      log.warn({ err: error }, 'what no segment asks any more could not be deleted; it is tried again shortly')
    }
  })

  return {
    follower: createFollower(definitions, clock),
    onRecorded: checks.onRecorded,
    onMoved: checks.onMoved,
    stop: async () => {
      stopping.abort()
      await evaluating.stop()
      await cleaning.stop()
      await checks.stop()
    },
  }
}

interface Claimed {
  tenant_id: string
  segment_id: string
}

/**
 * Takes a segment whose members are to be looked at as a whole: a new one, one that time changes, and, once after each
 * start, one that events change, because a crash may have made a check forget.
 */
async function claimDue(database: WatchDependencies['stores']['database'], startedAt: string) {
  const { rows } = await sql<Claimed>`
    UPDATE segments SET claimed_until = now() + interval '2 minutes'
    WHERE (tenant_id, segment_id) = (
      SELECT tenant_id, segment_id FROM segments
      WHERE (claimed_until IS NULL OR claimed_until < now()) AND (
        evaluated_at IS NULL
        OR (uses_time OR uses_events) AND evaluated_at < ${startedAt}::timestamptz
        OR uses_time AND evaluated_at < now() - make_interval(mins => ${TIMED_EVERY_MINUTES})
        OR uses_events AND evaluated_at < now() - make_interval(mins => ${EVENTS_EVERY_MINUTES}))
      ORDER BY evaluated_at NULLS FIRST
      LIMIT 1 FOR UPDATE SKIP LOCKED
    )
    RETURNING tenant_id, segment_id`.execute(database)
  return rows[0]
}
