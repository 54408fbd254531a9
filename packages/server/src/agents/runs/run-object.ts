import { type Selectable, sql } from 'kysely'
import Type from 'typebox'
import type { Actor } from '../../operations/audit.ts'
import { ContactId, Id, Nullable, Timestamp } from '../../platform/http/responses.ts'
import { LABEL, personal, TEXT, WORD } from '../../platform/personal.ts'
import type { TenantTables } from '../../platform/postgres/database.ts'
import { ACTION_TYPES } from '../action-types.ts'
import { Action, ActorObject } from '../actions/action-object.ts'
import { AgentTrigger, type Trigger } from '../triggers/trigger.ts'

export const RUN_STATUSES = ['queued', 'running', 'completed', 'failed', 'cancelled'] as const

export type RunStatus = (typeof RUN_STATUSES)[number]

const RUN_TRIGGERS = ['manual', 'schedule', 'event', 'segment_entered', 'score', 'proposal'] as const
export type RunTrigger = (typeof RUN_TRIGGERS)[number]

const Word = <T extends string>(words: readonly T[]) => Type.Unsafe<T>({ type: 'string', enum: words })

/** A run without its contacts. */
export const TokenUsage = Type.Object(
  { input_tokens: Type.Integer(), output_tokens: Type.Integer(), cost_usd: Type.Number() },
  { title: 'TokenUsage' },
)

const FIELDS = {
  run_id: Id,
  _id: Id,
  agent_id: Id,
  status: Word(RUN_STATUSES),
  trigger: Type.Unsafe<RunTrigger>({
    type: 'string',
    enum: RUN_TRIGGERS,
    description:
      '`event`, `segment_entered` and `score`: a trigger of the agent, which is in `triggered_by`. `proposal`: the run records an action that someone proposed for the agent, which evaluated nothing.',
  }),
  triggered_by: Nullable(AgentTrigger, 'The trigger of the agent that noticed the contacts; null if no trigger did.'),
  requested_by: ActorObject,
  playbook_version: Nullable(Type.Integer(), 'The version of the playbook that it follows; null for a proposal.'),
  provider: Nullable(Type.String({ description: 'The model provider; null before the run starts.', ...WORD })),
  model: Nullable(Type.String(WORD)),
  notices: Type.Array(Type.String({ description: 'Something that readers of the run should know.', ...TEXT })),
  error: Nullable(Type.String({ description: 'Why the run failed.', ...TEXT })),
  created_at: Timestamp,
  started_at: Nullable(Timestamp),
  completed_at: Nullable(Timestamp),
  summary: Type.Object(
    {
      contacts_evaluated: Type.Integer(),
      actions_proposed: Type.Integer(),
      actions_auto_approved: Type.Integer(),
      actions_pending_approval: Type.Integer(),
      actions_skipped: Type.Integer({
        description: 'Not proposed, because an action of the same type for the contact already waits for approval.',
      }),
      errors: Type.Integer(),
    },
    { title: 'RunSummary' },
  ),
  usage: TokenUsage,
}

export const Run = Type.Object(FIELDS, { title: 'Run' })

export type RunObject = Type.Static<typeof Run>

export const ContactResult = Type.Object(
  {
    contact_id: ContactId,
    contact: Nullable(
      Type.Object(
        {
          contact_id: ContactId,
          _id: ContactId,
          email: Nullable(Type.String(personal('email'))),
          firstname: Nullable(Type.String(personal('firstname'))),
          lastname: Nullable(Type.String(personal('lastname'))),
          company: Nullable(Type.String(LABEL)),
        },
        { title: 'EvaluatedContact', description: 'null once the contact has been deleted.' },
      ),
    ),
    status: Word(['pending', 'evaluated', 'failed', 'skipped', 'proposed']),
    reasoning: Nullable(Type.String(TEXT)),
    error: Nullable(Type.String(TEXT)),
    proposed_actions: Type.Array(Action),
    skipped_actions: Type.Array(
      Type.Object({
        type: Word(ACTION_TYPES),
        reason: Word(['waits_for_approval']),
        run_id: Id,
        action_index: Type.Integer(),
      }),
      {
        description:
          'The actions that were not proposed, each with the action of an earlier run that waits for approval instead.',
      },
    ),
  },
  { title: 'RunContact' },
)

export type ContactResultObject = Type.Static<typeof ContactResult>

/** A run with the results of its first contacts; in summary mode without. */
export const RunDetail = Type.Object(
  { ...FIELDS, contact_results: Type.Optional(Type.Array(ContactResult)) },
  { title: 'RunDetail' },
)

export const RUN_COLUMNS = [
  'run_id',
  'agent_id',
  'status',
  'trigger',
  'triggered_by',
  'requested_by',
  'playbook_version',
  'provider',
  'model',
  'notices',
  'error',
  'contacts_evaluated',
  'actions_proposed',
  'actions_auto_approved',
  'actions_skipped',
  'errors',
  'input_tokens',
  'output_tokens',
  'cost_usd',
  'created_at',
  'started_at',
  'finished_at',
] as const

type RunRow = Pick<Selectable<TenantTables['agent_runs']>, (typeof RUN_COLUMNS)[number]>

/** The status in responses: a run that has started is running until it ends. */
function statusOf({ status, started_at }: Pick<RunRow, 'status' | 'started_at'>): RunStatus {
  if (status !== 'queued' && status !== 'waiting') return status as RunStatus
  return started_at === null ? 'queued' : 'running'
}

/** The runs that have a status in responses. */
export function hasStatus(status: RunStatus) {
  return sql<boolean>`CASE WHEN status NOT IN ('queued', 'waiting') THEN status
    WHEN started_at IS NULL THEN 'queued' ELSE 'running' END = ${status}`
}

/** A run as the API returns it. @param pending the number of its actions that wait for a decision. */
export function toRunObject(row: RunRow, pending: number): RunObject {
  return {
    run_id: row.run_id,
    _id: row.run_id,
    agent_id: row.agent_id,
    status: statusOf(row),
    trigger: row.trigger as RunObject['trigger'],
    triggered_by: row.triggered_by as Trigger | null,
    requested_by: row.requested_by as unknown as Actor,
    playbook_version: row.playbook_version,
    provider: row.provider,
    model: row.model,
    notices: row.notices as string[],
    error: row.status === 'failed' ? row.error : null,
    created_at: row.created_at.toISOString(),
    started_at: row.started_at?.toISOString() ?? null,
    completed_at: row.finished_at?.toISOString() ?? null,
    summary: {
      contacts_evaluated: row.contacts_evaluated,
      actions_proposed: row.actions_proposed,
      actions_auto_approved: row.actions_auto_approved,
      actions_pending_approval: pending,
      actions_skipped: row.actions_skipped,
      errors: row.errors,
    },
    usage: {
      input_tokens: Number(row.input_tokens),
      output_tokens: Number(row.output_tokens),
      cost_usd: Number(row.cost_usd),
    },
  }
}
