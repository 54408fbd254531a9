import Type from 'typebox'
import { type Context, idInPath, operationsWith } from '../../operations/declare.ts'
import { notFound } from '../../platform/errors.ts'
import { idInput } from '../../platform/http/inputs.ts'
import { offsetOf, Pagination, pageParameters, paginationOf } from '../../platform/http/pagination.ts'
import { filterId, oneOf } from '../../platform/http/query-parameters.ts'
import { ContactId, Id, Nullable, pathId, RecordError } from '../../platform/http/responses.ts'
import { ID_LENGTH_MAX } from '../../platform/ids.ts'
import type { Tenant } from '../../platform/tenant.ts'
import { ACTION_TYPES, isOutbound } from '../action-types.ts'
import { ACTION_STATUSES, Action } from './action-object.ts'
import { subjectOf } from './audit.ts'
import { approveAction, type Decided, decideMany, rejectAction } from './decide.ts'
import { hashOfParams } from './params-hash.ts'
import { PROPOSAL_REASON_MAX, proposeForApproval } from './propose-for-approval.ts'
import type { ActionRef, ActionServices } from './queue.ts'
import { listActions, readAction, typesOfActions } from './read.ts'
import { ListedAction, listWaitingActions } from './waiting.ts'

const tag = 'Agents'
const ACTION_PATH = '/v1/agents/runs/:run_id/contacts/:contact_id/actions/:action_index'
const INDEX_MAX = 2_147_483_647
const OFFSET_MAX = 1_000_000_000
const NOWHERE = '00000000-0000-4000-8000-000000000000'

const ActionPath = {
  run_id: idInPath('run'),
  contact_id: idInPath('contact'),
  action_index: Type.String({ description: 'The position of the action among those of its contact, from 0.' }),
}
const Reason = Type.Optional(
  Type.String({ maxLength: 1_000, description: 'Stored in the audit log.', examples: ['We spoke yesterday.'] }),
)
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
export type Decision = Type.Static<typeof Decision>

/**
 * An agent's own notes and updates of properties run without approval. So a waiting one was proposed through the API, which
 * does not need `contacts:write`, and whoever approves it makes the change.
 */
const writesToContacts = {
  scopes: ['contacts:write'] as const,
  when: 'for a note or an update of properties',
}
const ofAction = {
  ...writesToContacts,
  ofRecord: ({ tenant }: Context, path: Place) => haveInternal(tenant, [path]),
}
const ofActions = {
  ...writesToContacts,
  ofRecord: ({ tenant }: Context, { actions }: { actions: Place[] }) => haveInternal(tenant, actions),
}

async function haveInternal(tenant: Tenant, places: readonly Place[]): Promise<boolean> {
  return !(await typesOfActions(tenant, refsOf(places))).every(isOutbound)
}

const actionOperation = operationsWith<ActionServices>()

export const ACTION_OPERATIONS = [
  actionOperation({
    name: 'listActions',
    tag,
    http: 'GET /v1/agents/:agent_id/actions',
    command: 'action list',
    scope: 'agents:read',
    summary: 'List the actions of an agent, newest first',
    input: {
      agent_id: idInPath('agent'),
      ...pageParameters(20, 100),
      status: oneOf(ACTION_STATUSES, 'Only actions with this status.'),
      contact_id: filterId('Only actions for this contact.'),
    },
    output: { actions: Type.Array(Action), pagination: Pagination },
    async run({ tenant }, { agent_id, page, limit, status, contact_id }) {
      const contactId = contact_id === undefined ? undefined : pathId(contact_id, 'contact')
      const { actions, total } = await listActions(tenant, agent_id, { status, contactId }, { page, limit })
      return { actions, pagination: paginationOf({ page, limit }, total) }
    },
  }),
  actionOperation({
    name: 'getAction',
    tag,
    http: `GET ${ACTION_PATH}`,
    command: 'action get',
    scope: 'agents:read',
    summary: 'Get a proposed action with its status and result',
    input: ActionPath,
    output: { action: Action },
    run: async ({ tenant }, path) => ({ action: await readAction(tenant, refOf(path)) }),
  }),
  actionOperation({
    name: 'proposeAction',
    tag,
    http: 'POST /v1/agents/:agent_id/actions',
    command: 'action propose',
    scope: 'agents:trigger',
    // The list of what waits shows the contact.
    also: [{ scopes: ['contacts:read'] }],
    summary: 'Propose an action for a contact; it always waits for approval',
    description:
      "Use it for proposals that your own program or AI agent makes. The action is one of the agent: its capabilities say which types may be proposed, its identity is the sender, and the guardrails apply. It waits for approval whatever its type and the agent's playbook say. No model is called. If a guardrail rejects it, the response is an action with the status `rejected`, whose `error` says why.",
    input: {
      agent_id: idInPath('agent'),
      contact_id: idInput({ description: 'The contact.', examples: [NOWHERE] }),
      type: Type.Enum([...ACTION_TYPES], { examples: ['note'] }),
      params: Type.Unsafe<Record<string, unknown>>({
        type: 'object',
        description: 'The content. The type of the action determines the fields.',
        examples: [{ content: 'Asked for **pricing**.' }],
      }),
      reason: Type.String({
        minLength: 1,
        maxLength: PROPOSAL_REASON_MAX,
        pattern: '\\S',
        'x-expected': `a text of 1 to ${PROPOSAL_REASON_MAX} characters`,
        description: 'Why you propose it. The person who approves it reads this.',
        examples: ['They viewed the pricing page twice this week.'],
      }),
    },
    output: { action: Action },
    status: 201,
    errors: ['404 contact_merged', '409 agent_disabled', '409 already_proposed', '409 capability_required'],
    async run(context, { agent_id: agentId, contact_id, ...proposal }) {
      const { tenant, actor, now } = context
      const request = { agentId, contactId: pathId(contact_id, 'contact'), actor, ...proposal }
      return { action: await proposeForApproval(tenant, context, request, now) }
    },
    audit: ({ action }, { agent_id, type, params }) => {
      const ref = { runId: action.run_id, contactId: action.contact_id, actionIndex: action.action_index }
      const details = { type, agent_id, params_hash: hashOfParams(params) }
      return { action: 'action.proposed', subjectKind: 'action', subjectId: subjectOf(ref), details }
    },
  }),
  actionOperation({
    name: 'approveAction',
    tag,
    http: `POST ${ACTION_PATH}/approve`,
    command: 'action approve',
    scope: 'agents:approve',
    also: [ofAction],
    summary: 'Approve a proposed action; it is then queued for execution',
    input: {
      ...ActionPath,
      params: Type.Optional(
        Type.Unsafe<Record<string, unknown>>({
          type: 'object',
          description: 'Edited params that replace the proposed ones. The type of the action determines the fields.',
        }),
      ),
    },
    output: { action: Action },
    example: { params: { subject: 'Your trial', message: 'Hello Ada, how is it going?' } },
    errors: ['409 invalid_action_state', '409 identity_required'],
    async run({ tenant, jobs, actor, now }, { params, ...path }) {
      const approval = { actor, ...(params === undefined ? {} : { params }) }
      return { action: await approveAction(tenant, jobs, refOf(path), approval, now) }
    },
    // The function also decides about several actions, each with its own entry.
    audit: 'own',
    isAtomic: true,
  }),
  actionOperation({
    name: 'rejectAction',
    tag,
    http: `POST ${ACTION_PATH}/reject`,
    command: 'action reject',
    scope: 'agents:approve',
    summary: 'Reject a proposed action; it never executes',
    input: { ...ActionPath, reason: Reason },
    output: { action: Action },
    errors: ['409 invalid_action_state'],
    async run({ tenant, actor, now }, { reason, ...path }) {
      const rejection = { actor, ...(reason === undefined ? {} : { reason }) }
      return { action: await rejectAction(tenant, refOf(path), rejection, now) }
    },
    // The function also decides about several actions, each with its own entry.
    audit: 'own',
    isAtomic: true,
  }),
  actionOperation({
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
    },
    output: { actions: Type.Array(ListedAction), pagination: Pagination },
    errors: ['404 not_found'],
    async run({ tenant, now }, { page, limit, agent_id, contact_id }) {
      const filters = {
        ...(agent_id === undefined ? {} : { agentId: pathId(agent_id, 'agent') }),
        ...(contact_id === undefined ? {} : { contactId: pathId(contact_id, 'contact') }),
      }
      const offset = Math.min(offsetOf({ page, limit }), OFFSET_MAX)
      const { actions, total } = await listWaitingActions(tenant, { limit, offset, ...filters }, now)
      return { actions, pagination: paginationOf({ page, limit }, total) }
    },
  }),
  actionOperation({
    name: 'approveActions',
    tag,
    http: 'POST /v1/approvals/approve',
    command: 'action approve-many',
    scope: 'agents:approve',
    also: [ofActions],
    summary: 'Approve several proposed actions independently',
    description:
      'If an action cannot be approved, its decision has an `error`, and the others are not affected. Only a missing scope refuses them all.',
    input: { actions: Places },
    output: { decisions: Type.Array(Decision) },
    errors: ['404 not_found'],
    async run({ tenant, jobs, actor, now }, { actions }) {
      const approve = (ref: ActionRef) => approveAction(tenant, jobs, ref, { actor }, now)
      return { decisions: (await decideMany(refsOf(actions), approve)).map(toDecision) }
    },
    // Each decision has its own entry. Without an Idempotency-Key, it is a transaction of its own.
    audit: 'own',
    isAtomic: true,
  }),
  actionOperation({
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
]

interface Place {
  run_id: string
  contact_id: string
  action_index: string | number
}

/** @throws ServiceError 404 for a malformed reference. */
function refOf({ run_id, contact_id, action_index }: Place): ActionRef {
  const index = /^\d{1,10}$/.test(String(action_index)) ? Number(action_index) : Number.NaN
  if (!(index <= INDEX_MAX)) throw notFound('proposed action')
  return { runId: pathId(run_id, 'run'), contactId: pathId(contact_id, 'contact'), actionIndex: index }
}

function refsOf(places: readonly Place[]): ActionRef[] {
  return places.map(refOf)
}

function toDecision(decided: Decided): Decision {
  const { runId, contactId, actionIndex } = decided.ref
  const place = { run_id: runId, contact_id: contactId, action_index: actionIndex }
  if ('action' in decided) return { ...place, action: decided.action, error: null }
  const { code, message } = decided.error
  return { ...place, action: null, error: { code, message } }
}
