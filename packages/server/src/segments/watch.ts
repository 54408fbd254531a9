import { sql } from 'kysely'
import type { SegmentFollower } from '../contacts/writing/transaction.ts'
import { isOfOpenTenant } from '../platform/closed-tenants.ts'
import { ServiceError } from '../platform/errors.ts'
import { every } from '../platform/every.ts'
import { newId } from '../platform/ids.ts'
import { openTenant, type Tenant } from '../platform/tenant.ts'
import { type Checks, startChecks, type WatchDependencies } from './checks.ts'
import { type ClaimedSegment, claimSegment, findDue, releaseSegment } from './claim.ts'
import { startCompanyChecks } from './company-checks.ts'
import { cacheDefinitions } from './definitions.ts'
import { evaluateSegment } from './evaluate.ts'
import { createFollower } from './follow.ts'
import { deleteUnusedConditions } from './met-conditions.ts'

const EVERY_MS = 500
const PAUSE_MS = 3_000
/** Not urgent: nothing waits for it. */
const CLEAN_EVERY_MS = 3_000

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
  const companyChecks = startCompanyChecks(dependencies)
  const { rows } = await sql<{ now: string }>`SELECT now()::text AS now`.execute(stores.database)
  const startedAt = rows[0]?.now ?? ''
  let resumeAt = 0
  /**
   * The current claim, until it is released. When PostgreSQL goes down, it is retried first: it may have been made, and
   * then no other process can claim the segment until its lease ends.
   */
  let current: ({ tenantId: string } & ClaimedSegment) | null = null
  let lastTenant: string | null = null

  /** A segment that cannot be evaluated is released for a while, so that others are evaluated first. */
  async function evaluateCurrent(tenant: Tenant, claimed: ClaimedSegment): Promise<void> {
    const failure = await evaluateSegment(tenant, dependencies, claimed).then(
      () => null,
      (error: unknown) => error,
    )
    await releaseSegment(tenant, claimed)
    current = null
    if (failure instanceof ServiceError && failure.status === 503) throw failure
    if (failure !== null) log.warn({ err: failure }, 'a segment could not be evaluated; continuing with others')
  }

  const evaluating = every(EVERY_MS, async () => {
    if (Date.now() < resumeAt) return
    try {
      while (!stopping.signal.aborted) {
        // Its claim ends by itself.
        if (current !== null && stores.closed.has(current.tenantId)) current = null
        if (current === null) {
          const due = await findDue(stores, startedAt, lastTenant)
          if (!due) break
          current = { ...due, claim: newId() }
        }
        lastTenant = current.tenantId
        const tenant = openTenant(stores, current.tenantId)
        if (await claimSegment(tenant, current, startedAt)) await evaluateCurrent(tenant, current)
        current = null
      }
    } catch (error) {
      resumeAt = Date.now() + PAUSE_MS
      log.warn({ err: error }, 'a segment could not be evaluated; retrying shortly')
    }
  })

  const cleaning = every(CLEAN_EVERY_MS, async () => {
    try {
      const unused = stores.database.selectFrom('segment_unused_matches').select('tenant_id').distinct()
      const rows = await unused.where(isOfOpenTenant(stores)).execute()
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
      await companyChecks.stop()
    },
  }
}
