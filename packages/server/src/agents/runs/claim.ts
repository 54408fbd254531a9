import { sql } from 'kysely'
import { newId } from '../../platform/ids.ts'
import type { Jobs } from '../../platform/jobs/jobs.ts'
import type { Tenant } from '../../platform/tenant.ts'
import type { AgentConfiguration } from '../agent.ts'
import { RUN_QUEUE } from './queue.ts'

/** A process that has not been heard of for so long is taken for dead, and its run goes on elsewhere. */
export const SILENT_SECONDS_MAX = 30
/** A run that does not get on is ended after so many restarts. */
export const RESTARTS_MAX = 5

/** A run that this process works on. */
export interface ClaimedRun {
  runId: string
  agentId: string
  claim: string
  configuration: AgentConfiguration
  requestedContactIds: string[] | null
  /** Whether its provider and its contacts have been chosen. */
  hasBegun: boolean
}

/** Thrown inside the work on a run that has ended meanwhile, or that another process has taken over. */
export class NotOurs extends Error {}

/** Takes a run that waits, or whose process is silent. @returns null when there is nothing to do here. */
export async function claimRun(tenant: Tenant, runId: string, now: Date): Promise<ClaimedRun | null> {
  const claim = newId()
  const row = await tenant.db
    .updateTable('agent_runs')
    .set({
      status: 'running',
      claim,
      heartbeat_at: sql`now()`,
      progressed_at: sql`now()`,
      started_at: sql`coalesce(started_at, ${now}::timestamptz)`,
      // What a process held that does not work on it any more.
      held_usd: 0,
    })
    .where('run_id', '=', runId)
    .where('status', 'in', ['queued', 'running'])
    .where(({ or, eb }) =>
      or([
        eb('claim', 'is', null),
        eb('heartbeat_at', '<', sql<Date>`now() - make_interval(secs => ${SILENT_SECONDS_MAX})`),
      ]),
    )
    .returning(['agent_id', 'configuration', 'requested_contact_ids', 'provider'])
    .executeTakeFirst()
  if (!row) return null
  return {
    runId,
    agentId: row.agent_id,
    claim,
    configuration: row.configuration as unknown as AgentConfiguration,
    requestedContactIds: row.requested_contact_ids,
    hasBegun: row.provider !== null,
  }
}

/** Says that this process lives. @returns false when the run is no longer its own. */
export async function beat(tenant: Tenant, { runId, claim }: ClaimedRun): Promise<boolean> {
  const { numUpdatedRows } = await ours(tenant, { runId, claim }).set({ heartbeat_at: sql`now()` }).executeTakeFirst()
  return numUpdatedRows > 0n
}

/** A change of a run as long as it is this process's own. */
export function ours(tenant: Tenant, { runId, claim }: Pick<ClaimedRun, 'runId' | 'claim'>) {
  return tenant.db
    .updateTable('agent_runs')
    .where('run_id', '=', runId)
    .where('claim', '=', claim)
    .where('status', '=', 'running')
}

/** Gives a run back that has more to do: whoever is free goes on with it. */
export async function giveBack(tenant: Tenant, jobs: Pick<Jobs, 'send'>, run: ClaimedRun): Promise<void> {
  await tenant.transaction(async (tx) => {
    const { numUpdatedRows } = await ours(tx, run).set({ claim: null, heartbeat_at: sql`now()` }).executeTakeFirst()
    if (numUpdatedRows > 0n) await jobs.send(tx, RUN_QUEUE, { runId: run.runId })
  })
}

/**
 * Gives a run back after a failure that is no contact's: whatever was wrong may be right in a while.
 * @returns whether it may be tried again; otherwise it has failed.
 */
export async function giveBackAfterFailure(
  tenant: Tenant,
  run: ClaimedRun,
  message: string,
  now: Date,
): Promise<boolean> {
  const isLast = sql<boolean>`restarts >= ${RESTARTS_MAX}::integer`
  return tenant.transaction(async (tx) => {
    const row = await ours(tx, run)
      .set({
        claim: null,
        heartbeat_at: sql`now()`,
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

/** The contacts that an ended run has not come to. */
export async function skipPending(tx: Tenant, runId: string): Promise<void> {
  await tx.db
    .updateTable('agent_run_contacts')
    .set({ status: 'skipped' })
    .where('run_id', '=', runId)
    .where('status', '=', 'pending')
    .execute()
}
