import { sql } from 'kysely'
import type { JournalRow } from '../../journal/append.ts'
import type { Projector } from '../../journal/projector.ts'
import type { Jobs } from '../../platform/jobs/jobs.ts'
import type { Tenant } from '../../platform/tenant.ts'
import type { Clock } from '../../platform/time.ts'
import { proposeAction } from '../actions/propose.ts'
import { type Evaluation, NO_USAGE, type Usage } from '../reasoning/reasoner.ts'
import { type ClaimedRun, NotOurs, ours } from './claim.ts'

/** What recording needs beside the tenant's data. */
export interface RecordDependencies {
  jobs: Pick<Jobs, 'send'>
  projector: Pick<Projector, 'project'>
  clock: Clock
}

/** What is remembered of one contact of a run. */
type Outcome =
  | { status: 'evaluated'; evaluation: Evaluation }
  | { status: 'failed'; error: string; usage: Usage }
  | { status: 'skipped'; error: string }

/**
 * Writes down what came of one contact, with the actions that are proposed for it, all or nothing. It is written once:
 * whoever comes second, after a restart or beside another process, finds that it has been, and stops.
 * @throws NotOurs
 */
export async function recordOutcome(
  tenant: Tenant,
  { jobs, projector, clock }: RecordDependencies,
  run: ClaimedRun,
  contactId: string,
  outcome: Outcome,
): Promise<void> {
  const now = clock()
  const evaluation = outcome.status === 'evaluated' ? outcome.evaluation : null
  const usage = evaluation?.usage ?? (outcome.status === 'failed' ? outcome.usage : NO_USAGE)
  const recorded = await tenant.transaction(async (tx) => {
    // The run's row is held first, so that those who work on one run write one after the other.
    const held = await ours(tx, run)
      .set({ heartbeat_at: sql`now()`, progressed_at: sql`now()`, restarts: 0 })
      .executeTakeFirst()
    if (held.numUpdatedRows === 0n) throw new NotOurs()
    const dropped = evaluation?.dropped ?? []
    const { numUpdatedRows } = await tx.db
      .updateTable('agent_run_contacts')
      .set({
        status: outcome.status,
        reasoning: evaluation?.reasoning ?? null,
        error: 'error' in outcome ? outcome.error : dropped.join(' ') || null,
        input_tokens: usage.inputTokens,
        output_tokens: usage.outputTokens,
        evaluated_at: outcome.status === 'skipped' ? null : now,
      })
      .where('run_id', '=', run.runId)
      .where('contact_id', '=', contactId)
      .where('status', '=', 'pending')
      .executeTakeFirst()
    if (numUpdatedRows === 0n) throw new NotOurs()
    const { rows, statuses } = await propose(tx, jobs, run, contactId, evaluation?.actions ?? [], now)
    const count = (status: string) => statuses.filter((each) => each === status).length
    const errors = dropped.length + (outcome.status === 'failed' ? 1 : 0)
    await ours(tx, run)
      .set({
        contacts_evaluated: sql`contacts_evaluated + ${evaluation ? 1 : 0}::integer`,
        actions_proposed: sql`actions_proposed + ${statuses.length}::integer`,
        actions_auto_approved: sql`actions_auto_approved + ${count('approved')}::integer`,
        actions_pending_approval: sql`actions_pending_approval + ${count('pending_approval')}::integer`,
        errors: sql`errors + ${errors}::integer`,
        input_tokens: sql`input_tokens + ${usage.inputTokens}::bigint`,
        output_tokens: sql`output_tokens + ${usage.outputTokens}::bigint`,
        cost_usd: sql`cost_usd + ${usage.costUsd}::numeric`,
      })
      .execute()
    return rows
  })
  for (const row of recorded) await projector.project(row)
}

async function propose(
  tx: Tenant,
  jobs: Pick<Jobs, 'send'>,
  { runId, agentId, configuration }: ClaimedRun,
  contactId: string,
  actions: Evaluation['actions'],
  now: Date,
): Promise<{ rows: JournalRow[]; statuses: string[] }> {
  const rows: JournalRow[] = []
  const statuses: string[] = []
  for (const [actionIndex, { type, params }] of actions.entries()) {
    const proposal = {
      runId,
      contactId,
      actionIndex,
      agentId,
      agentName: configuration.name,
      type,
      params,
      // Neither the recipient nor the sender is anything that the proposal could say.
      identityId: configuration.identity_id,
      requireApproval: configuration.playbook.require_approval ?? true,
    }
    const { status, recorded } = await proposeAction(tx, { jobs }, proposal, now)
    statuses.push(status)
    rows.push(recorded)
  }
  return { rows, statuses }
}
