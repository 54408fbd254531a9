import Type from 'typebox'
import type { Properties } from '../../contacts/properties.ts'
import { validationError } from '../../platform/errors.ts'
import { Id, Nullable } from '../../platform/http/responses.ts'
import type { Tenant } from '../../platform/tenant.ts'
import { ACTION_COLUMNS, Action, type ActionStatus, toActionObject } from './action-object.ts'

const LIMIT_MAX = 100
const OFFSET_MAX = 1_000_000_000

export interface WaitingFilters {
  limit: number
  offset: number
  agentId?: string
  contactId?: string
  /** Default: pending_approval. */
  status?: ActionStatus
}

/** An action with the context for a decision. */
export const ListedAction = Type.Intersect([
  Action,
  Type.Object({
    agent: Type.Object({ agent_id: Id, name: Type.String() }),
    contact: Nullable(
      Type.Object({
        contact_id: Id,
        email: Nullable(Type.String()),
        firstname: Nullable(Type.String()),
        lastname: Nullable(Type.String()),
        company: Nullable(Type.String()),
        jobtitle: Nullable(Type.String()),
      }),
    ),
    identity: Nullable(
      Type.Object({
        identity_id: Id,
        firstName: Type.String(),
        lastName: Type.String(),
        address: Nullable(Type.String({ description: "The sender's address." })),
      }),
    ),
    reasoning: Nullable(Type.String()),
  }),
])

export type ListedActionObject = Type.Static<typeof ListedAction>

/**
 * The actions that wait for a person, newest first, with agent, contact, identity and the agent's reasoning.
 * @throws ServiceError 400 for a limit outside 1 to 100 or a negative offset.
 */
export async function listWaitingActions(
  tenant: Tenant,
  { limit, offset, agentId, contactId, status = 'pending_approval' }: WaitingFilters,
): Promise<{ actions: ListedActionObject[]; total: number }> {
  requireWhole('limit', limit, 1, LIMIT_MAX)
  requireWhole('offset', offset, 0, OFFSET_MAX)
  const waiting = tenant.db
    .selectFrom('agent_actions')
    .where('agent_actions.status', '=', status)
    .$if(agentId !== undefined, (query) => query.where('agent_actions.agent_id', '=', agentId ?? ''))
    .$if(contactId !== undefined, (query) => query.where('agent_actions.contact_id', '=', contactId ?? ''))
  const [rows, counted] = await Promise.all([
    waiting
      .innerJoin('agents', 'agents.agent_id', 'agent_actions.agent_id')
      .innerJoin('agent_run_contacts', (join) =>
        join
          .onRef('agent_run_contacts.run_id', '=', 'agent_actions.run_id')
          .onRef('agent_run_contacts.contact_id', '=', 'agent_actions.contact_id'),
      )
      .leftJoin('contacts', 'contacts.contact_id', 'agent_actions.contact_id')
      .leftJoin('identities', 'identities.identity_id', 'agent_actions.identity_id')
      .leftJoin('email_accounts', 'email_accounts.identity_id', 'agent_actions.identity_id')
      .select(ACTION_COLUMNS.map((column) => `agent_actions.${column}` as const))
      .select(['agents.name as agent_name', 'agent_run_contacts.reasoning'])
      .select(['contacts.contact_id as known_contact_id', 'contacts.email', 'contacts.properties'])
      .select(['identities.first_name', 'identities.last_name', 'email_accounts.address'])
      .orderBy('agent_actions.created_at', 'desc')
      .orderBy('agent_actions.run_id', 'desc')
      .orderBy('agent_actions.contact_id')
      .orderBy('agent_actions.action_index')
      .limit(limit)
      .offset(offset)
      .execute(),
    waiting.select(({ fn }) => fn.countAll<number>().as('total')).executeTakeFirstOrThrow(),
  ])
  const actions = rows.map((row) => ({
    ...toActionObject(row),
    agent: { agent_id: row.agent_id, name: row.agent_name },
    contact: row.known_contact_id === null ? null : compactContact(row.known_contact_id, row.email, row.properties),
    identity:
      row.identity_id === null
        ? null
        : {
            identity_id: row.identity_id,
            firstName: row.first_name ?? '',
            lastName: row.last_name ?? '',
            address: row.address,
          },
    reasoning: row.reasoning,
  }))
  return { actions, total: Number(counted.total) }
}

function compactContact(contactId: string, email: string | null, properties: unknown) {
  const known = properties as Properties
  const text = (key: string) => (typeof known[key] === 'string' ? known[key] : null)
  return {
    contact_id: contactId,
    email,
    firstname: text('firstname'),
    lastname: text('lastname'),
    company: text('company'),
    jobtitle: text('jobtitle'),
  }
}

function requireWhole(path: string, value: number, min: number, max: number): void {
  if (Number.isInteger(value) && value >= min && value <= max) return
  throw validationError([{ path, message: `must be a whole number from ${min} to ${max}` }])
}
