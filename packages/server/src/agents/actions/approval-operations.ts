import Type from 'typebox'
import { type Context, operationsWith } from '../../operations/declare.ts'
import { offsetOf, Pagination, pageParameters, paginationOf } from '../../platform/http/pagination.ts'
import { filterId, oneOf } from '../../platform/http/query-parameters.ts'
import { ContactId, Id, Nullable, pathId, RecordError } from '../../platform/http/responses.ts'
import { ID_LENGTH_MAX } from '../../platform/ids.ts'
import { ACTION_TYPES } from '../action-types.ts'
import { Action } from './action-object.ts'
import { approveAction, type Decided, decideMany, rejectAction } from './decide.ts'
import {
  HoldSeconds,
  haveInternal,
  INDEX_MAX,
  NOWHERE,
  type Place,
  Reason,
  refsOf,
  writesToContacts,
} from './decision-input.ts'
import type { ActionRef, ActionServices } from './queue.ts'
import { undoDecision } from './undo.ts'
import { ListedAction, listWaitingActions } from './waiting.ts'

const tag = 'Agents'
const OFFSET_MAX = 1_000_000_000

const Places = Type.Array(
  Type.Object(
    {
      run_id: Type.String({ maxLength: ID_LENGTH_MAX }),
      contact_id: Type.String({ maxLength: ID_LENGTH_MAX }),
      action_index: Type.Integer({ minimum: 0, maximum: INDEX_MAX }),
    },
    { title: 'ActionPlace', additionalProperties: false },
  ),
  { minItems: 1, maxItems: 100, examples: [[{ run_id: NOWHERE, contact_id: NOWHERE, action_index: 0 }]] },
)

const Decision = Type.Object(
  {
    run_id: Id,
    contact_id: ContactId,
    action_index: Type.Integer(),
    action: Nullable(Action, 'The action after the decision; null if it could not be decided.'),
    error: Nullable(RecordError),
  },
  { title: 'Decision' },
)
type Decision = Type.Static<typeof Decision>

const ofActions = {
  ...writesToContacts,
  ofRecord: ({ tenant }: Context, { actions }: { actions: Place[] }) => haveInternal(tenant, actions),
}

const approvalOperation = operationsWith<ActionServices>()

/** What people do in the list of what waits for them. */
export const APPROVAL_OPERATIONS = [
  approvalOperation({
    name: 'listApprovals',
    tag,
    http: 'GET /v1/approvals',
    command: 'action list-waiting',
    scope: 'agents:read',
    summary: 'List the actions that wait for approval, newest first',
    description: 'The guardrails are checked again for each response, so they say what an approval would meet now.',
    input: {
      ...pageParameters(20, 100),
      agent_id: filterId('Only actions of this agent.'),
      contact_id: filterId('Only actions for this contact.'),
      type: oneOf(ACTION_TYPES, 'Only actions of this type.'),
    },
    output: { actions: Type.Array(ListedAction), pagination: Pagination },
    errors: ['404 not_found'],
    async run({ tenant, now }, { page, limit, agent_id, contact_id, type }) {
      const filters = {
        ...(type === undefined ? {} : { type }),
        ...(agent_id === undefined ? {} : { agentId: pathId(agent_id, 'agent') }),
        ...(contact_id === undefined ? {} : { contactId: pathId(contact_id, 'contact') }),
      }
      const offset = Math.min(offsetOf({ page, limit }), OFFSET_MAX)
      const { actions, total } = await listWaitingActions(tenant, { limit, offset, ...filters }, now)
      return { actions, pagination: paginationOf({ page, limit }, total) }
    },
  }),
  approvalOperation({
    name: 'approveActions',
    tag,
    http: 'POST /v1/approvals/approve',
    command: 'action approve-many',
    scope: 'agents:approve',
    also: [ofActions],
    summary: 'Approve several proposed actions independently',
    description:
      'If an action cannot be approved, its decision has an `error`, and the others are not affected. Only a missing scope refuses them all.',
    input: { actions: Places, hold_seconds: HoldSeconds },
    output: { decisions: Type.Array(Decision) },
    errors: ['404 not_found'],
    async run({ tenant, jobs, actor, now }, { actions, hold_seconds: holdSeconds }) {
      const approve = (ref: ActionRef) => approveAction(tenant, jobs, ref, { actor, holdSeconds }, now)
      return { decisions: (await decideMany(refsOf(actions), approve)).map(toDecision) }
    },
    // Each decision has its own entry. Without an Idempotency-Key, it is a transaction of its own.
    audit: 'own',
    isAtomic: true,
  }),
  approvalOperation({
    name: 'rejectActions',
    tag,
    http: 'POST /v1/approvals/reject',
    command: 'action reject-many',
    scope: 'agents:approve',
    summary: 'Reject several proposed actions independently',
    description: 'If an action cannot be rejected, its decision has an `error`, and the others are not affected.',
    input: { actions: Places, reason: Reason },
    output: { decisions: Type.Array(Decision) },
    errors: ['404 not_found'],
    async run({ tenant, actor, now }, { actions, reason }) {
      const rejection = { actor, ...(reason === undefined ? {} : { reason }) }
      const reject = (ref: ActionRef) => rejectAction(tenant, ref, rejection, now)
      return { decisions: (await decideMany(refsOf(actions), reject)).map(toDecision) }
    },
    // Each decision has its own entry. Without an Idempotency-Key, it is a transaction of its own.
    audit: 'own',
    isAtomic: true,
  }),
  approvalOperation({
    name: 'undoDecisions',
    tag,
    http: 'POST /v1/approvals/undo',
    command: 'action undo',
    scope: 'agents:approve',
    summary: 'Undo decisions independently; the actions wait for approval again',
    description:
      'An approval can be undone until the service begins to execute the action: approve with `hold_seconds` to have time for it. A rejection can be undone for a minute. If a decision cannot be undone, it has an `error`, and the others are not affected.',
    input: { actions: Places },
    output: { decisions: Type.Array(Decision) },
    errors: ['404 not_found'],
    async run({ tenant, actor, now }, { actions }) {
      const undo = (ref: ActionRef) => undoDecision(tenant, ref, actor, now)
      return { decisions: (await decideMany(refsOf(actions), undo)).map(toDecision) }
    },
    // Each has its own entry. Without an Idempotency-Key, it is a transaction of its own.
    audit: 'own',
    isAtomic: true,
  }),
]

function toDecision(decided: Decided): Decision {
  const { runId, contactId, actionIndex } = decided.ref
  const place = { run_id: runId, contact_id: contactId, action_index: actionIndex }
  if ('action' in decided) return { ...place, action: decided.action, error: null }
  const { code, message } = decided.error
  return { ...place, action: null, error: { code, message } }
}
