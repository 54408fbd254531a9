import type { ActionParams, ActionType } from '../src/agents/action-types.ts'
import { type Proposed, proposeAction } from '../src/agents/actions/propose.ts'
import type { ActionRef } from '../src/agents/actions/queue.ts'
import { type SystemEvent, toRecords } from '../src/journal/append.ts'
import type { Actor } from '../src/operations/audit.ts'
import { newId } from '../src/platform/ids.ts'
import type { Jobs } from '../src/platform/jobs/jobs.ts'
import type { Tenant } from '../src/platform/tenant.ts'
import { appendRecords } from '../src/webhooks/append.ts'

export interface TestProposal<T extends ActionType = ActionType> {
  contactId: string
  type: T
  params: ActionParams<T>
  identityId?: string | null
  requireApproval?: boolean
  agentId?: string
  /** The run of another proposal. */
  runId?: string
  actionIndex?: number
  /** Who proposes it, if no run does. */
  proposedBy?: Actor
  now?: Date
}

export const MAIL = { type: 'email_message', params: { subject: 'Hello', message: 'How is it going?' } } as const
export const NOTE = { type: 'note', params: { content: 'Asked for **pricing**.' } } as const

/** An agent as it is stored. */
export async function insertAgent(tenant: Tenant, identityId: string | null = null, name = 'Scout'): Promise<string> {
  const agent_id = newId()
  const now = new Date()
  await tenant.db
    .insertInto('agents')
    .values({ agent_id, name, identity_id: identityId, created_at: now, updated_at: now })
    .execute()
  await tenant.db
    .insertInto('agent_playbook_versions')
    .values({ agent_id, version: 1, playbook: '{}', since: now })
    .execute()
  return agent_id
}

/** An identity without a mailbox. */
export async function insertIdentity(tenant: Tenant): Promise<string> {
  const identity_id = newId()
  const now = new Date()
  const person = { first_name: 'Grace', last_name: 'Hopper', role: 'Sales' }
  await tenant.db
    .insertInto('identities')
    .values({ identity_id, ...person, created_at: now, updated_at: now })
    .execute()
  return identity_id
}

/** A mailbox that counts as connected, but that nothing can be sent through. */
export async function insertMailbox(
  tenant: Tenant,
  identityId: string,
  more: { error?: string; settings?: string } = {},
): Promise<void> {
  const now = new Date()
  const server = {
    host: 'mail.example',
    port: 587,
    security: 'starttls',
    user: 'grace@mail.example',
    login: 'password',
  }
  await tenant.db
    .insertInto('email_accounts')
    .values({
      identity_id: identityId,
      address: 'grace@mail.example',
      settings: JSON.stringify({ smtp: server, imap: null }),
      sealed: '',
      daily_limit: 100,
      spacing_seconds: 0,
      verified_at: now,
      created_at: now,
      updated_at: now,
      ...more,
    })
    .execute()
}

/** Proposes an action as a run does, in a new run unless one is given. */
export async function propose(
  tenant: Tenant,
  jobs: Pick<Jobs, 'send'>,
  { contactId, type, params, actionIndex = 0, ...more }: TestProposal,
): Promise<Proposed & { ref: ActionRef; agentId: string; path: string }> {
  const { identityId = null, requireApproval = true, now = new Date() } = more
  const agentId = more.agentId ?? (await insertAgent(tenant, identityId))
  const runId = more.runId ?? (await insertRun(tenant, agentId))
  const proposed = await tenant.transaction(async (tx) => {
    await tx.db
      .insertInto('agent_run_contacts')
      .values({ run_id: runId, contact_id: contactId, position: 0, status: 'evaluated', reasoning: 'They asked.' })
      .onConflict((existing) => existing.columns(['run_id', 'contact_id']).doNothing())
      .execute()
    const place = { runId, agentId, contactId, actionIndex, agentName: 'Scout' }
    const events: SystemEvent[] = []
    const by = more.proposedBy === undefined ? {} : { proposedBy: more.proposedBy }
    const sent = { ...place, type, params, identityId, requireApproval, ...by }
    const result = await proposeAction(tx, events, jobs, sent, now)
    await appendRecords(tx, toRecords(tx.id, events))
    return result
  })
  const path = `/v1/agents/runs/${runId}/contacts/${contactId}/actions/${actionIndex}`
  return { ...proposed, ref: { runId, contactId, actionIndex }, agentId, path }
}

async function insertRun(tenant: Tenant, agentId: string): Promise<string> {
  const run_id = newId()
  await tenant.db
    .insertInto('agent_runs')
    .values({
      run_id,
      agent_id: agentId,
      status: 'running',
      trigger: 'manual',
      requested_by: JSON.stringify({ kind: 'service' }),
      configuration: '{}',
      playbook_version: 1,
      created_at: new Date(),
    })
    .execute()
  return run_id
}

/** An action as it is stored. */
export async function actionOf(tenant: Tenant, { runId, contactId, actionIndex }: ActionRef) {
  return tenant.db
    .selectFrom('agent_actions')
    .selectAll()
    .where('run_id', '=', runId)
    .where('contact_id', '=', contactId)
    .where('action_index', '=', actionIndex)
    .executeTakeFirstOrThrow()
}
