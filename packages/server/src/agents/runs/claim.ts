import { sql } from 'kysely'
import { newId } from '../../platform/ids.ts'
import type { Jobs } from '../../platform/jobs/jobs.ts'
import { isClaimed, isFree, newClaim, RELEASED } from '../../platform/postgres/lease.ts'
import type { Tenant } from '../../platform/tenant.ts'
import type { AgentConfiguration } from '../agent.ts'
import { RUN_QUEUE } from './queue.ts'

/** A run that makes no progress fails after this many restarts. */
export const RESTARTS_MAX = 5

/** A run that this process is working on. */
export interface ClaimedRun {
  runId: string
  agentId: string
  claim: string
  configuration: AgentConfiguration
  requestedContactIds: string[] | null
  /** Whether its provider and its contacts have been chosen. */
  hasStarted: boolean
}

/** Claims a run that is queued, or whose process is dead. @returns null if there is nothing to do. */
export async function claimRun(tenant: Tenant, runId: string, now: Date): Promise<ClaimedRun | null> {
  const claim = newId()
  const row = await tenant.db
    .updateTable('agent_runs')
    .set({
      status: 'running',
      ...newClaim('agent_run', claim),
      progressed_at: sql`now()`,
      started_at: sql`coalesce(started_at, ${now}::timestamptz)`,
      // Reservations of the process that worked on it before.
      reserved_usd: 0,
    })
    .where('run_id', '=', runId)
    .where('status', 'in', ['queued', 'running'])
    .where(isFree)
    .returning(['agent_id', 'configuration', 'requested_contact_ids', 'provider'])
    .executeTakeFirst()
  if (!row) return null
  return {
    runId,
    agentId: row.agent_id,
    claim,
    configuration: row.configuration as unknown as AgentConfiguration,
    requestedContactIds: row.requested_contact_ids,
    hasStarted: row.provider !== null,
  }
}

/** An update of a run that applies only while this process has claimed it. */
export function whereClaimed(tenant: Tenant, { runId, claim }: Pick<ClaimedRun, 'runId' | 'claim'>) {
  return tenant.db
    .updateTable('agent_runs')
    .where('run_id', '=', runId)
    .where(isClaimed(claim))
    .where('status', '=', 'running')
}

/** Releases a run that is not finished, so that any process can continue it. */
export async function releaseRun(tenant: Tenant, jobs: Pick<Jobs, 'send'>, run: ClaimedRun): Promise<void> {
  await tenant.transaction(async (tx) => {
    const { numUpdatedRows } = await whereClaimed(tx, run).set(RELEASED).executeTakeFirst()
    if (numUpdatedRows > 0n) await jobs.send(tx, RUN_QUEUE, { runId: run.runId })
  })
}

/**
 * Releases a run after a failure that does not concern a single contact, to be retried later.
 * @returns whether it will be retried; otherwise it has failed.
 */
export async function releaseAfterFailure(
  tenant: Tenant,
  run: ClaimedRun,
  message: string,
  now: Date,
): Promise<boolean> {
  const isLast = sql<boolean>`restarts >= ${RESTARTS_MAX}::integer`
  return tenant.transaction(async (tx) => {
    const row = await whereClaimed(tx, run)
      .set({
        ...RELEASED,
        restarts: sql`restarts + 1`,
        status: sql`CASE WHEN ${isLast} THEN 'failed' ELSE status END`,
        error: sql`CASE WHEN ${isLast} THEN ${message}::text ELSE error END`,
        completed_at: sql`CASE WHEN ${isLast} THEN ${now}::timestamptz ELSE completed_at END`,
      })
      .returning('status')
      .executeTakeFirst()
    if (row?.status === 'failed') await skipPending(tx, run.runId)
    return row?.status === 'running'
  })
}

/** Skips the contacts that an ended run has not evaluated. */
export async function skipPending(tx: Tenant, runId: string): Promise<void> {
  await tx.db
    .updateTable('agent_run_contacts')
    .set({ status: 'skipped' })
    .where('run_id', '=', runId)
    .where('status', '=', 'pending')
    .execute()
}
