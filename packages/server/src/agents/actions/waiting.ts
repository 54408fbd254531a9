import Type from 'typebox'
import { namesAndStagesOfContacts } from '../../contacts/names.ts'
import { findSenders, type IdentityOfSender } from '../../identities/identities.ts'
import { validationError } from '../../platform/errors.ts'
import { ContactId, Id, Nullable } from '../../platform/http/responses.ts'
import { LABEL, personal, TEXT, WORD } from '../../platform/personal.ts'
import type { Tenant } from '../../platform/tenant.ts'
import { type ActionType, isOutbound } from '../action-types.ts'
import { ACTION_COLUMNS, Action, type ActionRow, toActionObject } from './action-object.ts'
import { type Guardrail, isCheck } from './guardrail.ts'
import { checkGuardrails } from './guardrails.ts'

const LIMIT_MAX = 100
const OFFSET_MAX = 1_000_000_000

export interface WaitingFilters {
  limit: number
  offset: number
  agentId?: string
  contactId?: string
  type?: ActionType
}

/** An action with the context for a decision. */
export const ListedAction = Type.Intersect([
  Action,
  Type.Object({
    agent: Type.Object({ agent_id: Id, name: Type.String(TEXT) }),
    contact: Nullable(
      Type.Object({
        contact_id: ContactId,
        email: Nullable(Type.String(personal('email'))),
        firstname: Nullable(Type.String(personal('firstname'))),
        lastname: Nullable(Type.String(personal('lastname'))),
        company: Nullable(Type.String(LABEL)),
        jobtitle: Nullable(Type.String(TEXT)),
        lifecyclestage: Nullable(Type.String(WORD)),
      }),
    ),
    identity: Nullable(
      Type.Object({
        identity_id: Id,
        firstName: Type.String(personal('firstname')),
        lastName: Type.String(personal('lastname')),
        address: Nullable(Type.String({ description: "The sender's address.", ...personal('email') })),
      }),
    ),
    reasoning: Nullable(Type.String(TEXT)),
  }),
])

export type ListedActionObject = Type.Static<typeof ListedAction>

/**
 * The actions that wait for a person, newest first, with agent, contact, identity and the agent's reasoning. The guardrails
 * are checked again: a mailbox may have been connected, or a contact may have unsubscribed, since the proposal.
 * @throws ServiceError 400 for a limit outside 1 to 100 or a negative offset.
 */
export async function listWaitingActions(
  tenant: Tenant,
  { limit, offset, agentId, contactId, type }: WaitingFilters,
  now: Date,
): Promise<{ actions: ListedActionObject[]; total: number }> {
  requireWhole('limit', limit, 1, LIMIT_MAX)
  requireWhole('offset', offset, 0, OFFSET_MAX)
  const waiting = tenant.db
    .selectFrom('agent_actions')
    .where('agent_actions.status', '=', 'pending_approval')
    .$if(agentId !== undefined, (query) => query.where('agent_actions.agent_id', '=', agentId ?? ''))
    .$if(contactId !== undefined, (query) => query.where('agent_actions.contact_id', '=', contactId ?? ''))
    .$if(type !== undefined, (query) => query.where('agent_actions.type', '=', type ?? ''))
  const [rows, counted] = await Promise.all([
    waiting
      .innerJoin('agents', 'agents.agent_id', 'agent_actions.agent_id')
      .innerJoin('agent_run_contacts', (join) =>
        join
          .onRef('agent_run_contacts.run_id', '=', 'agent_actions.run_id')
          .onRef('agent_run_contacts.contact_id', '=', 'agent_actions.contact_id'),
      )
      .select(ACTION_COLUMNS.map((column) => `agent_actions.${column}` as const))
      .select(['agents.name as agent_name', 'agent_run_contacts.reasoning'])
      // The agent's identity may have been set after the proposal; an approval uses it then.
      .select(({ fn }) => fn.coalesce('agent_actions.identity_id', 'agents.identity_id').as('sender_id'))
      .orderBy('agent_actions.created_at', 'desc')
      .orderBy('agent_actions.run_id', 'desc')
      .orderBy('agent_actions.contact_id')
      .orderBy('agent_actions.action_index')
      .limit(limit)
      .offset(offset)
      .execute(),
    waiting.select(({ fn }) => fn.countAll<number>().as('total')).executeTakeFirstOrThrow(),
  ])
  const [contacts, senders, guardrails] = await Promise.all([
    namesAndStagesOfContacts(
      tenant,
      rows.map((row) => row.contact_id),
    ),
    findSenders(
      tenant,
      rows.flatMap(({ sender_id }) => sender_id ?? []),
    ),
    Promise.all(rows.map((row) => guardrailsOf(tenant, row, now))),
  ])
  const actions = rows.map((row, index) => ({
    ...toActionObject(row),
    guardrails: guardrails[index] ?? [],
    agent: { agent_id: row.agent_id, name: row.agent_name },
    contact: contacts.get(row.contact_id) ?? null,
    identity: identityOf(senders.get(row.sender_id ?? '')),
    reasoning: row.reasoning,
  }))
  return { actions, total: Number(counted.total) }
}

/** How many actions wait for a person. */
export async function countWaitingActions(tenant: Tenant): Promise<number> {
  const waiting = tenant.db.selectFrom('agent_actions').where('status', '=', 'pending_approval')
  const { count } = await waiting.select(({ fn }) => fn.countAll<number>().as('count')).executeTakeFirstOrThrow()
  return count
}

function identityOf(sender: IdentityOfSender | undefined): ListedActionObject['identity'] {
  if (sender === undefined) return null
  const { identity_id, first_name, last_name, address } = sender
  return { identity_id, firstName: first_name, lastName: last_name, address }
}

async function guardrailsOf(
  tenant: Tenant,
  row: Pick<ActionRow, 'run_id' | 'contact_id' | 'action_index' | 'agent_id' | 'type' | 'guardrails'> & {
    sender_id: string | null
  },
  now: Date,
): Promise<Guardrail[]> {
  const action = {
    runId: row.run_id,
    contactId: row.contact_id,
    actionIndex: row.action_index,
    agentId: row.agent_id,
    identityId: isOutbound(row.type as ActionType) ? row.sender_id : null,
    type: row.type as ActionType,
  }
  const { guardrails } = await checkGuardrails(tenant, action, 'proposal', now)
  return [...guardrails, ...(row.guardrails as unknown as Guardrail[]).filter(isCheck)]
}

function requireWhole(path: string, value: number, min: number, max: number): void {
  if (Number.isInteger(value) && value >= min && value <= max) return
  throw validationError([{ path, message: `must be a whole number from ${min} to ${max}` }])
}
