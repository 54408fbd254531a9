import { sql } from 'kysely'
import { updateClaimed } from '../../platform/postgres/lease.ts'
import type { Tenant } from '../../platform/tenant.ts'
import type { Reasoner } from '../reasoning/reasoner.ts'
import { chooseContacts } from './choose.ts'
import { type ClaimedRun, skipPending, whereClaimed } from './claim.ts'

const NONE_NAMED = 'No contact was evaluated: the agent has no monitoring.filter, and the trigger named no contacts.'
const NONE_MATCH = "No contact was evaluated: no contact matches the agent's monitoring filter."

/** Stores the contacts, the provider and the model of a run. After that, a restart continues where the run stopped. */
export async function startRun(tenant: Tenant, run: ClaimedRun, reasoner: Reasoner, now: Date): Promise<void> {
  const { runId, agentId, configuration, requestedContactIds } = run
  // Chosen outside the transaction, which would be open for as long as ClickHouse takes.
  const contactIds = requestedContactIds ?? (await chooseContacts(tenant, agentId, configuration.monitoring, now))
  const notices = [...reasoner.notices]
  if (contactIds.length === 0) notices.push(configuration.monitoring.filter === undefined ? NONE_NAMED : NONE_MATCH)
  await tenant.transaction(async (tx) => {
    const { provider, model } = reasoner
    await updateClaimed(whereClaimed(tx, run).set({ provider, model, notices: JSON.stringify(notices) }))
    if (contactIds.length === 0) return
    await tx.db
      .insertInto('agent_run_contacts')
      .values(contactIds.map((contact_id, position) => ({ run_id: runId, contact_id, position })))
      .execute()
  })
}

interface End {
  status: 'completed' | 'failed'
  error?: string
  /** Why it ended before its last contact. */
  notice?: string
}

/** Ends a run; contacts that were not evaluated are skipped. @throws ClaimLost */
export async function finishRun(
  tenant: Tenant,
  run: ClaimedRun,
  { status, error, notice }: End,
  now: Date,
): Promise<void> {
  await tenant.transaction(async (tx) => {
    // Contacts are locked before the run, in the same order as `recordOutcome`.
    await skipPending(tx, run.runId)
    await updateClaimed(
      whereClaimed(tx, run).set({
        status,
        error: error ?? null,
        completed_at: now,
        ...(notice === undefined ? {} : { notices: sql`notices || ${JSON.stringify([notice])}::jsonb` }),
      }),
    )
  })
}
