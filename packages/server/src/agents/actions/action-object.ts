import type { Selectable } from 'kysely'
import Type from 'typebox'
import { type Actor, NAME_OF_ACTOR } from '../../operations/audit.ts'
import { ContactId, Id, Nullable, Timestamp } from '../../platform/http/responses.ts'
import { bag, TEXT, WORD } from '../../platform/personal.ts'
import type { TenantTables } from '../../platform/postgres/database.ts'
import { ACTION_TYPES, type ActionType } from '../action-types.ts'
import type { Guardrail } from './guardrail.ts'

export const ACTION_STATUSES = ['pending_approval', 'approved', 'rejected', 'executed', 'failed'] as const

export type ActionStatus = (typeof ACTION_STATUSES)[number]

export const ACTION_COLUMNS = [
  'run_id',
  'contact_id',
  'action_index',
  'agent_id',
  'identity_id',
  'type',
  'params',
  'status',
  'auto_approved',
  'proposed_by',
  'edited',
  'playbook_version',
  'guardrails',
  'decided_by',
  'decided_at',
  'due_at',
  'executed_at',
  'result',
  'error',
  'created_at',
] as const

export type ActionRow = Pick<Selectable<TenantTables['agent_actions']>, (typeof ACTION_COLUMNS)[number]>

/** Why an action was not executed. */
export interface ActionError {
  /** Stable, machine-readable. */
  code: string
  message: string
  /** The guardrail that stopped it. */
  rule?: string
}

export const GuardrailObject = Type.Object(
  {
    rule: Type.String({ examples: ['outreach_interval'], ...WORD }),
    passed: Type.Boolean(),
    message: Type.String(TEXT),
    waits_until: Nullable(Timestamp, 'Until when the rule delays the action.'),
    checked: Type.Enum(['proposal', 'execution']),
    at: Timestamp,
  },
  { title: 'Guardrail' },
)

export const ActorObject = Type.Object(
  {
    kind: Type.Enum(['user', 'api_key', 'command_line', 'agent', 'service']),
    id: Type.Optional(Type.String(WORD)),
    name: Type.Optional(Type.String(NAME_OF_ACTOR)),
  },
  { title: 'Actor' },
)

export const Action = Type.Object(
  {
    run_id: Id,
    contact_id: ContactId,
    action_index: Type.Integer(),
    type: Type.Enum([...ACTION_TYPES]),
    params: Type.Record(Type.String(), Type.Unknown(), {
      examples: [{ subject: 'Your trial', message: 'Hello Ada, how is it going?' }],
      ...bag('any'),
    }),
    status: Type.Enum([...ACTION_STATUSES]),
    identity_id: Nullable(Id),
    auto_approved: Type.Boolean({ description: 'Whether it was approved automatically.' }),
    proposed_by: Nullable(ActorObject, 'Who proposed it with proposeAction; null if the agent itself did.'),
    edited: Type.Boolean({ description: 'Whether a person changed the params when approving it.' }),
    playbook_version: Nullable(
      Type.Integer(),
      'The version of the playbook that the agent followed; null if someone else proposed it.',
    ),
    guardrails: Type.Array(GuardrailObject, {
      description: 'The results of the checks before it was proposed and before it was executed.',
    }),
    decided_by: Nullable(ActorObject),
    decided_at: Nullable(Timestamp),
    due_at: Nullable(Type.String({ format: 'date-time', description: 'The earliest time at which it is executed.' })),
    executed_at: Nullable(Timestamp),
    result: Nullable(Type.Record(Type.String(), Type.Unknown(), bag('any'))),
    error: Nullable(
      Type.Object(
        {
          code: Type.String(WORD),
          message: Type.String(TEXT),
          rule: Type.Optional(Type.String({ description: 'The guardrail that stopped it.', ...WORD })),
        },
        { title: 'ActionError' },
      ),
    ),
    created_at: Timestamp,
  },
  { title: 'Action' },
)

export type ActionObject = Type.Static<typeof Action>

export function toActionObject(row: ActionRow): ActionObject {
  return {
    run_id: row.run_id,
    contact_id: row.contact_id,
    action_index: row.action_index,
    type: row.type as ActionType,
    params: row.params as Record<string, unknown>,
    status: row.status as ActionStatus,
    identity_id: row.identity_id,
    auto_approved: row.auto_approved,
    proposed_by: row.proposed_by as Actor | null,
    edited: row.edited,
    playbook_version: row.playbook_version,
    guardrails: row.guardrails as unknown as Guardrail[],
    decided_by: row.decided_by as Actor | null,
    decided_at: row.decided_at?.toISOString() ?? null,
    due_at: row.due_at?.toISOString() ?? null,
    executed_at: row.executed_at?.toISOString() ?? null,
    result: row.result as Record<string, unknown> | null,
    error: row.error as ActionError | null,
    created_at: row.created_at.toISOString(),
  }
}
