import Type from 'typebox'
import { idInPath, operation } from '../../operations/declare.ts'
import { fieldOf } from '../../operations/further-scopes.ts'
import { idInput } from '../../platform/http/inputs.ts'
import { offsetOf, Pagination, pageParameters, paginationOf } from '../../platform/http/pagination.ts'
import { oneOf } from '../../platform/http/query-parameters.ts'
import { MAX_CONTACTS } from '../agent.ts'
import { windowParameters } from '../requests.ts'
import { cancelAgentRun } from './agent-run.ts'
import { listRunContacts, listRuns, readRun } from './read.ts'
import { ContactResult, RUN_STATUSES, Run, RunDetail } from './run-object.ts'
import { triggerRun } from './trigger.ts'

const tag = 'Agents'
const AgentPath = { agent_id: idInPath('agent') }
const RunPath = { run_id: idInPath('run') }

export const RUN_OPERATIONS = [
  operation({
    name: 'triggerAgent',
    tag,
    http: 'POST /v1/agents/:agent_id/trigger',
    command: 'agent trigger',
    scope: 'agents:trigger',
    also: [
      {
        scopes: ['contacts:read', 'events:read'],
        when: 'with `contact_ids`',
        ofSent: (sent) => (fieldOf(sent, 'contact_ids') ?? null) !== null,
      },
    ],
    summary: 'Queue a run of an agent, even if the agent is disabled',
    input: {
      ...AgentPath,
      contact_ids: Type.Optional(
        Type.Array(idInput(), {
          minItems: 1,
          maxItems: MAX_CONTACTS.max,
          description: "The contacts to evaluate, in this order; without them the agent's monitoring filter chooses.",
        }),
      ),
    },
    output: {
      job_id: Type.String({ format: 'uuid', description: 'The id of the run, which can be read at once.' }),
    },
    example: { contact_ids: ['019a2b3c-4d5e-7f60-8a1b-2c3d4e5f6071'] },
    errors: ['409 too_many_runs'],
    async run({ tenant, actor, now }, { agent_id, contact_ids: contactIds = null }) {
      return { job_id: await triggerRun(tenant, agent_id, contactIds, actor, now) }
    },
    audit: ({ job_id }, { agent_id }) => ({
      action: 'agent.triggered',
      subjectKind: 'agent',
      subjectId: agent_id,
      details: { run_id: job_id },
    }),
  }),
  operation({
    name: 'listAgentRuns',
    tag,
    http: 'GET /v1/agents/:agent_id/runs',
    command: 'run list',
    scope: 'agents:read',
    summary: 'List the runs of an agent, newest first',
    input: { ...AgentPath, ...windowParameters, status: oneOf(RUN_STATUSES, 'Only runs in this status.') },
    output: { runs: Type.Array(Run), total: Type.Integer(), limit: Type.Integer(), offset: Type.Integer() },
    async run({ tenant }, { agent_id, limit, offset, status }) {
      return { ...(await listRuns(tenant, agent_id, status, { limit, offset })), limit, offset }
    },
  }),
  operation({
    name: 'getAgentRun',
    tag,
    http: 'GET /v1/agents/runs/:run_id',
    command: 'run get',
    scope: 'agents:read',
    summary: 'Get a run with the results of its first 25 contacts',
    input: {
      ...RunPath,
      mode: oneOf(['summary', 'full'], 'Only status and counts, or also the results of at most 25 contacts.', 'full'),
    },
    output: { run: RunDetail },
    run: async ({ tenant }, { run_id, mode }) => ({ run: await readRun(tenant, run_id, mode) }),
  }),
  operation({
    name: 'listRunContacts',
    tag,
    http: 'GET /v1/agents/runs/:run_id/contacts',
    command: 'run contacts',
    scope: 'agents:read',
    summary: 'List the contacts of a run with their results, in the order of the run',
    input: { ...RunPath, ...pageParameters(10, 100) },
    output: {
      contacts: Type.Array(ContactResult),
      done: Type.Integer({ description: 'How many contacts the run has evaluated or skipped so far.' }),
      pagination: Pagination,
    },
    async run({ tenant }, { run_id, page, limit }) {
      const window = { limit, offset: offsetOf({ page, limit }) }
      const { contacts, total, done } = await listRunContacts(tenant, run_id, window)
      return { contacts, done, pagination: paginationOf({ page, limit }, total) }
    },
  }),
  operation({
    name: 'cancelRun',
    tag,
    http: 'POST /v1/agents/runs/:run_id/cancel',
    command: 'run cancel',
    scope: 'agents:trigger',
    summary: 'Cancel a run that is queued or running; its proposed actions stay',
    input: RunPath,
    output: { run: Run },
    errors: ['409 run_ended'],
    async run({ tenant, now }, { run_id }) {
      await cancelAgentRun(tenant, run_id, now)
      return { run: await readRun(tenant, run_id, 'summary') }
    },
    audit: ({ run: { run_id, agent_id } }) => ({
      action: 'run.cancelled',
      subjectKind: 'run',
      subjectId: run_id,
      details: { agent_id },
    }),
  }),
]
