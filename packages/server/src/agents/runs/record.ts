import { sql } from 'kysely'
import { type ChangeLog, changeContacts } from '../../contacts/writing/transaction.ts'
import type { Jobs } from '../../platform/jobs/jobs.ts'
import { ClaimLost } from '../../platform/postgres/lease.ts'
import { updateRun } from '../../platform/runs/run.ts'
import type { Tenant } from '../../platform/tenant.ts'
import { proposeAction } from '../actions/propose.ts'
import type { ActionServices } from '../actions/queue.ts'
import { type SkippedAction, waitingOf } from '../actions/same-waiting.ts'
import type { MadeCall } from '../reasoning/model-view.ts'
import { type Evaluation, NO_USAGE, type Usage } from '../reasoning/reasoner.ts'
import type { AgentRun } from './agent-run.ts'
import { spend } from './costs.ts'
import type { Reserved } from './reserve-cost.ts'

/** The result for one contact of a run. */
export type Outcome =
  | { status: 'evaluated'; evaluation: Evaluation }
  | { status: 'failed'; error: string; usage: Usage; toolCalls?: readonly MadeCall[] }
  | { status: 'skipped'; error: string }

/**
 * Records the result for one contact together with the actions proposed for it, in one transaction. It is recorded once:
 * a second process, or the same one after a restart, finds the first record and stops. The cost of the answer is counted
 * in any case, and its reservation ends.
 * @throws ClaimLost if another process has claimed the run, or it has ended.
 */
export async function recordOutcome(
  services: ActionServices,
  run: AgentRun,
  contactId: string,
  outcome: Outcome,
  reserved: Reserved = { usd: 0 },
): Promise<void> {
  const { jobs, clock } = services
  const now = clock()
  try {
    await changeContacts(run.tenant, services, (tx, log) =>
      record(tx, log, jobs, run, contactId, outcome, reserved, now),
    )
  } catch (error) {
    if (error instanceof ClaimLost) await countLost(run, usageOf(outcome), now)
    throw error
  }
}

async function record(
  tx: Tenant,
  log: ChangeLog,
  jobs: Pick<Jobs, 'send'>,
  run: AgentRun,
  contactId: string,
  outcome: Outcome,
  reserved: Reserved,
  now: Date,
): Promise<void> {
  const usage = usageOf(outcome)
  const said = outcome.status === 'evaluated' ? outcome.evaluation : null
  const { numUpdatedRows } = await tx.db
    .updateTable('agent_run_contacts')
    .set({
      status: outcome.status,
      reasoning: said?.reasoning ?? null,
      error: 'error' in outcome ? outcome.error : said?.dropped.join(' ') || null,
      tool_calls: JSON.stringify(toolCallsOf(outcome)),
      input_tokens: usage.inputTokens,
      output_tokens: usage.outputTokens,
      evaluated_at: outcome.status === 'skipped' ? null : now,
    })
    .where('run_id', '=', run.runId)
    .where('contact_id', '=', contactId)
    .where('status', '=', 'pending')
    .executeTakeFirst()
  const isErased = numUpdatedRows === 0n && !(await isListed(tx, run, contactId))
  if (numUpdatedRows === 0n && !isErased) throw new ClaimLost()
  // If the contact was erased during its evaluation, only the cost is kept.
  const evaluation = isErased ? null : said
  const dropped = evaluation?.dropped ?? []
  const { statuses, skipped } = await propose(tx, log, jobs, run, contactId, evaluation?.actions ?? [], now)
  const count = (status: string) => statuses.filter((each) => each === status).length
  const errors = dropped.length + (outcome.status === 'failed' && !isErased ? 1 : 0)
  // The rows of the run and of the month come last, so that contacts wait for each other no longer than a commit takes.
  await updateRun(
    run,
    {
      progressed_at: sql`now()`,
      failures: 0,
      contacts_evaluated: sql`contacts_evaluated + ${evaluation ? 1 : 0}::integer`,
      actions_proposed: sql`actions_proposed + ${statuses.length}::integer`,
      actions_auto_approved: sql`actions_auto_approved + ${count('approved')}::integer`,
      actions_pending_approval: sql`actions_pending_approval + ${count('pending_approval')}::integer`,
      actions_skipped: sql`actions_skipped + ${skipped}::integer`,
      errors: sql`errors + ${errors}::integer`,
      input_tokens: sql`input_tokens + ${usage.inputTokens}::bigint`,
      output_tokens: sql`output_tokens + ${usage.outputTokens}::bigint`,
      cost_usd: sql`cost_usd + ${usage.costUsd}::numeric`,
      reserved_usd: sql`greatest(0, reserved_usd - ${reserved.usd}::numeric)`,
    },
    tx,
  )
  await spend(tx, usage.costUsd, now)
}

async function isListed(tx: Tenant, { runId }: AgentRun, contactId: string): Promise<boolean> {
  const row = await tx.db
    .selectFrom('agent_run_contacts')
    .select('contact_id')
    .where('run_id', '=', runId)
    .where('contact_id', '=', contactId)
    .executeTakeFirst()
  return row !== undefined
}

function toolCallsOf(outcome: Outcome): readonly MadeCall[] {
  if (outcome.status === 'evaluated') return outcome.evaluation.toolCalls ?? []
  return outcome.status === 'failed' ? (outcome.toolCalls ?? []) : []
}

function usageOf(outcome: Outcome): Usage {
  if (outcome.status === 'evaluated') return outcome.evaluation.usage
  return outcome.status === 'failed' ? outcome.usage : NO_USAGE
}

/** Counts the cost of an answer that arrived too late to be recorded. */
async function countLost({ tenant, runId }: AgentRun, usage: Usage, now: Date): Promise<void> {
  await tenant.transaction(async (tx) => {
    await tx.db
      .updateTable('agent_runs')
      .set({
        input_tokens: sql`input_tokens + ${usage.inputTokens}::bigint`,
        output_tokens: sql`output_tokens + ${usage.outputTokens}::bigint`,
        cost_usd: sql`cost_usd + ${usage.costUsd}::numeric`,
      })
      .where('run_id', '=', runId)
      .execute()
    await spend(tx, usage.costUsd, now)
  })
}

/** Proposes the actions, except those whose type is already waiting for a person's decision; these are recorded as skipped. */
async function propose(
  tx: Tenant,
  log: ChangeLog,
  jobs: Pick<Jobs, 'send'>,
  run: AgentRun,
  contactId: string,
  actions: Evaluation['actions'],
  now: Date,
): Promise<{ statuses: string[]; skipped: number }> {
  const statuses: string[] = []
  const { runId, agentId, configuration } = run
  const waiting = actions.length === 0 ? new Map<string, SkippedAction>() : await waitingOf(tx, run, contactId)
  const skipped = actions.flatMap(({ type }) => waiting.get(type) ?? [])
  const proposed = actions.filter(({ type }) => !waiting.has(type))
  for (const [actionIndex, { type, params, checks = [] }] of proposed.entries()) {
    const proposal = {
      runId,
      contactId,
      actionIndex,
      agentId,
      agentName: configuration.name,
      type,
      params,
      checks,
      // A proposal cannot choose the recipient or the sender.
      identityId: configuration.identity_id,
      requireApproval: configuration.playbook.require_approval ?? true,
    }
    const { status } = await proposeAction(tx, log.events, jobs, proposal, now)
    statuses.push(status)
  }
  if (skipped.length > 0) {
    await tx.db
      .updateTable('agent_run_contacts')
      .set({ skipped_actions: JSON.stringify(skipped) })
      .where('run_id', '=', runId)
      .where('contact_id', '=', contactId)
      .execute()
  }
  return { statuses, skipped: skipped.length }
}
