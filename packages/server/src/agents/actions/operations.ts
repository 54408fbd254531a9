import Type from 'typebox'
import { type Context, idInPath, operationsWith } from '../../operations/declare.ts'
import { idInput } from '../../platform/http/inputs.ts'
import { Pagination, pageParameters, paginationOf } from '../../platform/http/pagination.ts'
import { filterId, oneOf, timestampBound } from '../../platform/http/query-parameters.ts'
import { pathId } from '../../platform/http/responses.ts'
import { ACTION_TYPES } from '../action-types.ts'
import { ACTION_STATUSES, Action } from './action-object.ts'
import { subjectOf } from './audit.ts'
import { approveAction, rejectAction } from './decide.ts'
import { HoldSeconds, haveInternal, NOWHERE, type Place, Reason, refOf, writesToContacts } from './decision-input.ts'
import { ACTION_OUTCOMES } from './outcome.ts'
import { hashOfParams } from './params-hash.ts'
import { PROPOSAL_REASON_MAX, proposeForApproval } from './propose-for-approval.ts'
import type { ActionServices } from './queue.ts'
import { listActions, readAction } from './read.ts'

const tag = 'Agents'
const VERSION_MAX = 2_147_483_647
const ACTION_PATH = '/v1/agents/runs/:run_id/contacts/:contact_id/actions/:action_index'

const ActionPath = {
  run_id: idInPath('run'),
  contact_id: idInPath('contact'),
  action_index: Type.String({ description: 'The position of the action among those of its contact, from 0.' }),
}
const ofAction = {
  ...writesToContacts,
  ofRecord: ({ tenant }: Context, path: Place) => haveInternal(tenant, [path]),
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
      playbook_version: Type.Optional(
        Type.Integer({
          minimum: 1,
          maximum: VERSION_MAX,
          description: 'Only actions of this version of the playbook.',
        }),
      ),
      outcome: oneOf(ACTION_OUTCOMES, 'Only actions that the outcomes of the agent count as this.'),
      date_after: timestampBound('lower', 'Actions proposed at or after this time.'),
      date_before: timestampBound('upper', 'Actions proposed at or before this time.'),
    },
    output: { actions: Type.Array(Action), pagination: Pagination },
    async run({ tenant }, { agent_id, page, limit, ...sent }) {
      const { status, outcome, playbook_version: version, date_after: after, date_before: before } = sent
      const contactId = sent.contact_id === undefined ? undefined : pathId(sent.contact_id, 'contact')
      const filters = { status, outcome, version, after, before, contactId }
      const { actions, total } = await listActions(tenant, agent_id, filters, { page, limit })
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
      hold_seconds: HoldSeconds,
    },
    output: { action: Action },
    example: { params: { subject: 'Your trial', message: 'Hello Ada, how is it going?' } },
    errors: ['409 invalid_action_state', '409 identity_required'],
    async run({ tenant, jobs, actor, now }, { params, hold_seconds: holdSeconds, ...path }) {
      const approval = { actor, ...(params === undefined ? {} : { params }), holdSeconds }
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
]
