import Type from 'typebox'
import { entryAbout } from '../operations/audit.ts'
import { idInPath, operationsWith } from '../operations/declare.ts'
import { idInput } from '../platform/http/inputs.ts'
import { filterText, flag, oneOf } from '../platform/http/query-parameters.ts'
import { Changed, Id, Nullable } from '../platform/http/responses.ts'
import type { Jobs } from '../platform/jobs/jobs.ts'
import type { ApiFetch } from '../platform/outbound/api-fetch.ts'
import { LABEL } from '../platform/personal.ts'
import { Agent, etagOfAgent, toAgentObject } from './agent.ts'
import { createAgent, deleteAgent, listAgents, newConfiguration, readAgent, updateAgent } from './agents.ts'
import { checkBaseUrl } from './configuration.ts'
import { ofChangedAgent, ofDryRun, ofNewAgent, withToolsOf } from './further-scopes.ts'
import type { ModelDoor } from './reasoning/model-view.ts'
import type { LlmSettings } from './reasoning/models.ts'
import { AGENT_FIELDS, AgentName, windowParameters } from './requests.ts'
import { DRY_RUN_CONTACTS, dryRun } from './runs/dry-run.ts'
import { DryRun } from './runs/dry-run-object.ts'
import { lastRuns } from './runs/read.ts'
import { Run } from './runs/run-object.ts'
import { requireContacts } from './runs/trigger.ts'

export interface AgentServices {
  config: { llm: LlmSettings }
  jobs: Pick<Jobs, 'nextTime'>
  llmOutbound: Pick<ApiFetch, 'check' | 'fetch'>
  modelDoor: ModelDoor
}

const tag = 'Agents'
const AgentPath = { agent_id: idInPath('agent') }
const ListedAgent = Type.Intersect([
  Agent,
  Type.Object({
    last_run: Type.Optional(Nullable(Run, 'Only with `include=last_run`; null if the agent has never run.')),
  }),
])

const agentOperation = operationsWith<AgentServices>()

const entryOf = entryAbout('agent')

export const AGENT_OPERATIONS = [
  agentOperation({
    name: 'listAgents',
    tag,
    http: 'GET /v1/agents',
    command: 'agent list',
    scope: 'agents:read',
    summary: 'List agents, newest first',
    input: {
      enabled: flag('Only enabled agents, or only disabled ones.'),
      playbook_template: filterText('Only agents with this playbook template.', 200),
      include: oneOf(['last_run'], 'What to add to each agent: its latest run.'),
      ...windowParameters,
    },
    output: {
      agents: Type.Array(ListedAgent),
      total: Type.Integer(),
      limit: Type.Integer(),
      offset: Type.Integer(),
    },
    async run({ tenant }, { limit, offset, enabled, playbook_template: playbookTemplate, include }) {
      const filters = {
        ...(enabled === undefined ? {} : { enabled }),
        ...(playbookTemplate === undefined ? {} : { playbookTemplate }),
      }
      const { rows, total } = await listAgents(tenant, filters, { limit, offset })
      const agents = rows.map(toAgentObject)
      if (include === undefined) return { agents, total, limit, offset }
      const ids = rows.map((row) => row.agent_id)
      const runs = await lastRuns(tenant, ids)
      const listed = agents.map((agent) => ({ ...agent, last_run: runs.get(agent.agent_id) ?? null }))
      return { agents: listed, total, limit, offset }
    },
  }),
  agentOperation({
    name: 'createAgent',
    tag,
    http: 'POST /v1/agents',
    command: 'agent create',
    scope: 'agents:write',
    also: ofNewAgent,
    summary: 'Create an agent',
    input: { name: AgentName, ...AGENT_FIELDS },
    output: { agent: Agent },
    status: 201,
    example: { name: 'Pricing follow-up', playbook_template: 'pricing_visitor_followup' },
    errors: ['409 too_many_agents'],
    etag: ({ agent }) => etagOfAgent(agent),
    check: ({ llmOutbound }, input) => checkBaseUrl(llmOutbound, input),
    async run({ tenant, now, jobs, scopes }, input) {
      return { agent: toAgentObject(await createAgent(tenant, jobs, withToolsOf(input, scopes), now)) }
    },
    audit: ({ agent: { agent_id, name } }) => entryOf('agent.created', agent_id, { name }),
  }),
  agentOperation({
    name: 'dryRunAgent',
    tag,
    http: 'POST /v1/agents/dry-run',
    command: 'agent dry-run',
    scope: 'agents:write',
    also: ofDryRun,
    summary: 'Evaluate up to three contacts with the settings of an agent, without storing the agent or its proposals',
    description:
      'Takes the fields of a new agent. The contacts are evaluated as in a run, and the response has its proposals, with the results of the guardrails. If a model is called, its cost counts towards the caps, and the audit log has an entry. If a request is interrupted, a retry calls the model again, at a cost.',
    input: {
      name: AgentName,
      ...AGENT_FIELDS,
      contact_ids: Type.Optional(
        Type.Array(idInput(), {
          minItems: 1,
          maxItems: DRY_RUN_CONTACTS,
          description: 'The contacts to evaluate; without them, the first of the audience.',
        }),
      ),
    },
    output: { dry_run: DryRun },
    example: { name: 'Pricing follow-up', playbook_template: 'pricing_visitor_followup' },
    errors: ['409 too_many_runs', '409 run_failed', '409 unknown_segment'],
    check: ({ llmOutbound }, input) => checkBaseUrl(llmOutbound, input),
    async run(context, { contact_ids, ...input }) {
      const { tenant, actor, scopes, now, isGivenUp, config, jobs, llmOutbound, modelDoor } = context
      const configuration = await tenant.transaction((tx) => newConfiguration(tx, jobs, withToolsOf(input, scopes)))
      const contactIds = contact_ids === undefined ? null : await requireContacts(tenant, contact_ids)
      const request = { configuration, contactIds, actor, now, isGivenUp }
      return { dry_run: await dryRun(tenant, { llm: config.llm, llmOutbound, modelDoor }, request) }
    },
    // The model is called outside a transaction, and a dry run that fails has cost money too.
    audit: 'own',
  }),
  agentOperation({
    name: 'getAgent',
    tag,
    http: 'GET /v1/agents/:agent_id',
    command: 'agent get',
    scope: 'agents:read',
    summary: 'Get an agent',
    input: AgentPath,
    output: { agent: Agent },
    etag: ({ agent }) => etagOfAgent(agent),
    run: async ({ tenant }, { agent_id }) => ({ agent: toAgentObject(await readAgent(tenant, agent_id)) }),
  }),
  agentOperation({
    name: 'updateAgent',
    tag,
    http: 'PATCH /v1/agents/:agent_id',
    command: 'agent update',
    scope: 'agents:write',
    also: ofChangedAgent,
    summary: 'Change an agent; omitted fields keep their values, and null removes a setting',
    description:
      'Inside playbook, monitoring and llm_config, too, only the fields that are sent change. Runs in progress keep the settings with which they started. The agent as it is after the change decides about further scopes; to turn it off, with `enabled: false` alone, `agents:write` is enough.',
    input: { ...AgentPath, name: Type.Optional(AgentName), ...AGENT_FIELDS },
    output: { agent: Agent },
    forAudit: { changed: Changed },
    example: { name: 'Pricing page follow-up' },
    etag: ({ agent }) => etagOfAgent(agent),
    ifMatch: true,
    check: ({ llmOutbound }, input) => checkBaseUrl(llmOutbound, input),
    async run(context, { agent_id, ...input }) {
      const { row, changed } = await updateAgent(context.tenant, context.jobs, agent_id, input, context)
      return { agent: toAgentObject(row), changed }
    },
    audit: ({ agent, changed }) =>
      changed.length === 0 ? null : entryOf('agent.updated', agent.agent_id, { changed }),
  }),
  agentOperation({
    name: 'deleteAgent',
    tag,
    http: 'DELETE /v1/agents/:agent_id',
    command: 'agent delete',
    scope: 'agents:write',
    summary: 'Delete an agent with its runs',
    input: AgentPath,
    output: { deleted: Type.Literal(true), agent_id: Id },
    forAudit: { name: Type.String(LABEL) },
    ifMatch: true,
    async run({ tenant, requireMatch }, { agent_id }) {
      const name = await deleteAgent(tenant, agent_id, requireMatch)
      return { deleted: true as const, agent_id, name }
    },
    audit: ({ agent_id, name }) => entryOf('agent.deleted', agent_id, { name }),
  }),
]
