import { sql } from 'kysely'
import { completeRun, updateRun } from '../../platform/runs/run.ts'
import type { Reasoner } from '../reasoning/reasoner.ts'
import { type AgentRun, skipPending } from './agent-run.ts'
import { chooseContacts } from './choose.ts'

const NONE_NAMED = 'No contact was evaluated: the agent has no monitoring.filter, and the trigger named no contacts.'
const NONE_MATCH = "No contact was evaluated: no contact matches the agent's monitoring filter."

/** Stores the contacts, the provider and the model of a run. After that, a restart continues where the run stopped. */
export async function startRun(run: AgentRun, reasoner: Reasoner, now: Date): Promise<void> {
  const { tenant, runId, agentId, configuration, row } = run
  // Chosen outside the transaction, which would be open for as long as ClickHouse takes.
  const contactIds = row.requested_contact_ids ?? (await chooseContacts(tenant, agentId, configuration.monitoring, now))
  const notices = [...reasoner.notices]
  if (contactIds.length === 0) notices.push(configuration.monitoring.filter === undefined ? NONE_NAMED : NONE_MATCH)
  await tenant.transaction(async (tx) => {
    const { provider, model } = reasoner
    await updateRun(run, { provider, model, notices: JSON.stringify(notices) }, tx)
    if (contactIds.length === 0) return
    await tx.db
      .insertInto('agent_run_contacts')
      .values(contactIds.map((contact_id, position) => ({ run_id: runId, contact_id, position })))
      .execute()
  })
}

/**
 * Completes a run; contacts that were not evaluated are skipped. @param notice why it ends before its last contact.
 * @throws ClaimLost
 */
export async function finishRun(run: AgentRun, now: Date, notice?: string): Promise<void> {
  await run.tenant.transaction(async (tx) => {
    // Contacts are locked before the run, in the same order as `recordOutcome`.
    await skipPending(tx, run.runId)
    const notices = sql<string>`notices || ${JSON.stringify([notice])}::jsonb`
    await completeRun(run, notice === undefined ? {} : { notices }, now, tx)
  })
}
