import Type from 'typebox'
import { ACTION_TYPES } from '../../agents/action-types.ts'
import type { Values } from '../../operations/declare.ts'
import { ServiceError } from '../../platform/errors.ts'
import { idInput } from '../../platform/http/inputs.ts'
import { compactRecord, listResult, pick, placeOf } from '../results.ts'
import { type Tool, tool } from '../tool.ts'
import { idOf, rowsOf, totalOf } from './contacts.ts'
import { contactId, pageInput, ROWS } from './inputs.ts'
import { bag, count, flag, listOf, pageOf, person, record, text } from './outputs.ts'

const PLACE = {
  run_id: idInput(),
  contact_id: contactId,
  action_index: Type.Integer({ minimum: 0, maximum: 1_000 }),
}
const ACTION_FIELDS = {
  run_id: text,
  contact_id: text,
  action_index: count,
  type: text,
  params: bag,
  status: text,
  agent: record({ agent_id: text, name: text }),
  contact: person,
  reasoning: text,
}
const ACTION = ['run_id', 'contact_id', 'action_index', 'type', 'params', 'status', 'agent', 'contact', 'reasoning']

/** Nobody should approve a text that they cannot read. */
const HIDDEN =
  'Personal data is hidden from this connection. Read the whole action in the dashboard under Approvals before you confirm.'

export const AGENT_TOOLS: readonly Tool[] = [
  tool({
    name: 'run_agent',
    title: 'Run an agent',
    description:
      'Let one of the workspace’s own agents evaluate contacts and propose actions. Costs model tokens. Agents: describe_schema. Then poll run_result.',
    uses: ['triggerAgent'],
    isOutward: true,
    input: {
      agent_id: idInput(),
      contact_ids: Type.Optional(
        Type.Array(idInput(), {
          minItems: 1,
          maxItems: 100,
          description: 'Default: the agent’s audience.',
        }),
      ),
    },
    output: { run_id: text, next: text },
    async run(call, { agent_id, contact_ids }) {
      const sent = contact_ids === undefined ? { agent_id } : { agent_id, contact_ids: contact_ids.map(idOf) }
      const { job_id } = await call.operate('triggerAgent', sent)
      return { run_id: job_id, next: 'Call run_result with this run_id until its status is completed or failed.' }
    },
  }),
  tool({
    name: 'run_result',
    title: 'Result of an agent’s run',
    description: 'Status and summary of a run, and for each contact the reasoning and the proposed actions.',
    uses: ['getAgentRun', 'listRunContacts'],
    input: { run_id: idInput(), ...pageInput },
    output: {
      run: record({
        run_id: text,
        agent_id: text,
        status: text,
        trigger: text,
        summary: Type.Optional(Type.Unknown()),
        error: Type.Optional(Type.Unknown()),
        notices: Type.Optional(Type.Array(Type.Unknown())),
      }),
      ...pageOf('contacts', {
        contact_id: text,
        contact: person,
        status: text,
        reasoning: text,
        error: Type.Optional(Type.Unknown()),
        proposed_actions: listOf(
          record({ action_index: count, type: text, params: bag, status: text, error: Type.Optional(Type.Unknown()) }),
        ),
      }),
    },
    async run(call, { run_id, limit = ROWS, cursor }) {
      const place = placeOf(cursor, limit)
      const { run } = await call.operate('getAgentRun', { run_id, mode: 'summary' })
      const result = await call.operate('listRunContacts', { run_id, ...place })
      const rows = rowsOf(result.contacts, [
        'contact_id',
        'contact',
        'status',
        'reasoning',
        'error',
        'proposed_actions',
      ])
      return {
        run: compactRecord(pick(run, ['run_id', 'agent_id', 'status', 'trigger', 'summary', 'error', 'notices'])),
        ...listResult('contacts', rows.map(withShortActions), place, totalOf(result)),
      }
    },
  }),
  tool({
    name: 'propose_action',
    title: 'Propose an action',
    description:
      'Propose a mail, social message, note or CRM update for a contact, on behalf of an agent of the workspace. Nothing happens until a person approves it in the dashboard. ' +
      'Pseudonyms in texts are replaced with the real values, so you can write "Hello firstname:019a…"; properties cannot contain them.',
    uses: ['proposeAction'],
    input: {
      agent_id: idInput({ description: 'An agent with this capability: describe_schema.' }),
      contact_id: contactId,
      type: Type.Enum([...ACTION_TYPES]),
      params: Type.Object(
        {},
        {
          additionalProperties: true,
          description:
            'email_message: {subject, message}. social_message, social_connect: {message}. note: {content}. crm_update: {properties}. An unknown field is refused with the list of valid ones.',
        },
      ),
      reason: Type.String({ minLength: 1, maxLength: 2_000, description: 'Why, for the person who decides.' }),
    },
    output: { action: record(ACTION_FIELDS), next: text },
    async run(call, { contact_id, params, reason, ...proposal }) {
      const id = idOf(contact_id)
      if (proposal.type === 'crm_update') call.refusePseudonyms(params)
      call.refusePseudonyms(proposal)
      const texts = { params: await call.reveal(params, id), reason: await call.revealReadable(reason, id) }
      const { action } = await call.operate('proposeAction', { contact_id: id, ...proposal, ...texts })
      return compactRecord({ action: pick(action, ACTION), next: 'It waits for a person: list_approvals shows it.' })
    },
  }),
  tool({
    name: 'list_approvals',
    title: 'List approvals',
    description: 'The actions that wait for a person to approve or reject them.',
    uses: ['listApprovals'],
    input: {
      agent_id: Type.Optional(idInput()),
      contact_id: Type.Optional(contactId),
      ...pageInput,
    },
    output: pageOf('actions', ACTION_FIELDS),
    async run(call, { agent_id, contact_id, limit = ROWS, cursor }) {
      const place = placeOf(cursor, limit)
      const sent = { agent_id, contact_id: contact_id === undefined ? undefined : idOf(contact_id), ...place }
      const result = await call.operate('listApprovals', sent)
      return listResult('actions', rowsOf(result.actions, ACTION), place, totalOf(result))
    },
  }),
  tool({
    name: 'decide_approval',
    title: 'Approve or reject an action',
    description:
      'Approve or reject an action that waits. Your client asks the person to confirm first; without their confirmation nothing happens. Never decide on your own.',
    uses: ['getAction', 'listApprovals', 'approveAction', 'rejectAction'],
    isOutward: true,
    input: {
      ...PLACE,
      decision: Type.Enum(['approve', 'reject']),
      reason: Type.Optional(Type.String({ maxLength: 1_000, description: 'For a rejection.' })),
    },
    output: { decided: flag, reason: text, action: record(ACTION_FIELDS) },
    async run(call, { decision, reason, contact_id, action_index, run_id }) {
      const place = { run_id, contact_id: idOf(contact_id), action_index: String(action_index) }
      if (decision === 'approve' && reason !== undefined) throw reasonForApproval()
      const { action } = await call.operate('getAction', place)
      const waiting = { contact_id: place.contact_id, limit: WAITING_MAX }
      const shown = waitingAction(await call.operate('listApprovals', waiting), place)
      const question = questionOf(decision, action as Values, shown, reason, call.isRedacted)
      const versions = [
        await call.hashOf('getAction', place, (read) => pick(read.action, DECIDED)),
        await call.hashOf('listApprovals', waiting, (read) => pick(waitingAction(read, place), WITH)),
      ]
      const confirmation = await call.confirm(question, { ...place, decision, reason: reason ?? null, versions })
      if ('ask' in confirmation) return confirmation.ask
      if (!confirmation.isConfirmed)
        return { decided: false, reason: 'The person did not confirm, so nothing changed.' }
      const decided =
        decision === 'approve'
          ? await call.operate('approveAction', place)
          : await call.operate('rejectAction', { ...place, ...(reason === undefined ? {} : { reason }) })
      return compactRecord({ decided: true, action: pick(decided.action, ACTION) })
    },
  }),
]

/** The fields of an action, and its people, that a confirmation applies to. If one changes, the person is asked again. */
const DECIDED = ['type', 'params', 'status', 'identity_id']
const WITH = ['contact', 'agent', 'identity']
const WAITING_MAX = 100

/** The action as a list of approvals shows it, with its agent, contact and sender; undefined if it does not wait. */
function waitingAction({ actions }: Values, { run_id, action_index }: Record<string, string>): Values | undefined {
  return (actions as Values[]).find((each) => each.run_id === run_id && String(each.action_index) === action_index)
}

function reasonForApproval(): ServiceError {
  const message = 'reason: is for a rejection; leave it out to approve.'
  return new ServiceError(400, 'validation_error', message, { details: [{ path: 'reason', message }] })
}

/** The question for the person, with everything that the decision causes. */
function questionOf(
  decision: 'approve' | 'reject',
  { type, params, contact_id: contactId }: Values,
  waiting: Values | undefined,
  reason: string | undefined,
  isRedacted: boolean,
): string {
  const { contact, agent, identity } = (waiting ?? {}) as Record<string, Values | null | undefined>
  const lines = [
    `${decision === 'approve' ? 'Approve' : 'Reject'} this ${String(type).replaceAll('_', ' ')}?`,
    `Contact: ${onOneLine(contact?.firstname, contact?.lastname, contact?.email, contactId)}`,
    ...(agent ? [`Agent: ${onOneLine(agent.name)}`] : []),
    ...(identity ? [`Sender: ${onOneLine(identity.firstName, identity.lastName, identity.address)}`] : []),
    '',
    JSON.stringify(params, null, 2),
    ...(reason === undefined ? [] : ['', `Reason: ${onOneLine(reason)}`]),
    ...(isRedacted ? ['', HIDDEN] : []),
  ]
  return lines.join('\n')
}

/** Joins texts of strangers and models into one line, so that they cannot look like other lines of the question. */
function onOneLine(...parts: unknown[]): string {
  return parts
    .filter(Boolean)
    .map((part) => String(part).replace(/[\s\p{C}]+/gu, ' '))
    .join(' ')
}

function withShortActions({ proposed_actions: actions, ...row }: Record<string, unknown>) {
  return { ...row, proposed_actions: rowsOf(actions ?? [], ['action_index', 'type', 'params', 'status', 'error']) }
}
