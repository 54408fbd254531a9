import Type from 'typebox'
import type { App } from '../platform/http/app-types.ts'
import { Id, pathId, success } from '../platform/http/responses.ts'
import type { Jobs } from '../platform/jobs/jobs.ts'
import type { Clock } from '../platform/time.ts'
import { Agent, toAgentObject } from './agent.ts'
import { createAgent, deleteAgent, listAgents, readAgent, updateAgent } from './agents.ts'
import type { ConfigurationDependencies } from './configuration.ts'
import {
  CreateAgentBody,
  ListAgentsQuery,
  ListRunsQuery,
  ReadRunQuery,
  TriggerBody,
  UpdateAgentBody,
} from './requests.ts'
import { listRuns, readRun } from './runs/read.ts'
import { Run, RunDetail } from './runs/run-object.ts'
import { triggerRun } from './runs/trigger.ts'

const Path = Type.Object({ id: Type.String() })
const RunPath = Type.Object({ runId: Type.String() })
const OneAgent = success({ agent: Agent })
const Counted = { total: Type.Integer(), limit: Type.Integer(), offset: Type.Integer() }

interface Dependencies extends ConfigurationDependencies {
  clock: Clock
  jobs: Jobs
}

/** Agents: list, create, read, update, delete. */
export function agentRoutes(app: App, dependencies: Dependencies): void {
  const { clock } = dependencies
  app.get(
    '/v1/agents',
    {
      config: { access: 'agents:read' },
      schema: {
        operationId: 'listAgents',
        summary: 'List agents, newest first',
        tags: ['Agents'],
        querystring: ListAgentsQuery,
        response: { 200: success({ agents: Type.Array(Agent), ...Counted }) },
      },
    },
    async ({ tenant, query }) => {
      const { limit = 20, offset = 0, enabled, playbook_template: playbookTemplate } = query
      const filters = {
        ...(enabled === undefined ? {} : { enabled }),
        ...(playbookTemplate === undefined ? {} : { playbookTemplate }),
      }
      const { rows, total } = await listAgents(tenant, filters, { limit, offset })
      return { status: 'success' as const, agents: rows.map(toAgentObject), total, limit, offset }
    },
  )

  app.post(
    '/v1/agents',
    {
      config: { access: 'agents:write' },
      schema: {
        operationId: 'createAgent',
        summary: 'Create an agent',
        tags: ['Agents'],
        body: CreateAgentBody,
        response: { 201: OneAgent },
      },
    },
    async ({ tenant, body, actor }, reply) => {
      const row = await createAgent(tenant, dependencies, body, actor, clock())
      return reply.code(201).send({ status: 'success', agent: toAgentObject(row) })
    },
  )

  app.get(
    '/v1/agents/:id',
    {
      config: { access: 'agents:read' },
      schema: {
        operationId: 'getAgent',
        summary: 'Get an agent',
        tags: ['Agents'],
        params: Path,
        response: { 200: OneAgent },
      },
    },
    async ({ tenant, params }) => {
      const row = await readAgent(tenant, pathId(params.id, 'agent'))
      return { status: 'success' as const, agent: toAgentObject(row) }
    },
  )

  app.patch(
    '/v1/agents/:id',
    {
      config: { access: 'agents:write' },
      schema: {
        operationId: 'updateAgent',
        summary: 'Change an agent; what is not sent stays, a null takes a setting away',
        description:
          'Inside playbook, monitoring and llm_config, too, only what is sent changes. Runs that are under way go on with the settings they began with.',
        tags: ['Agents'],
        params: Path,
        body: UpdateAgentBody,
        response: { 200: OneAgent },
      },
    },
    async ({ tenant, params, body, actor }) => {
      const row = await updateAgent(tenant, dependencies, pathId(params.id, 'agent'), body, actor, clock())
      return { status: 'success' as const, agent: toAgentObject(row) }
    },
  )

  app.delete(
    '/v1/agents/:id',
    {
      config: { access: 'agents:write' },
      schema: {
        operationId: 'deleteAgent',
        summary: 'Delete an agent with its runs',
        tags: ['Agents'],
        params: Path,
        response: { 200: success({ deleted: Type.Literal(true), agent_id: Id }) },
      },
    },
    async ({ tenant, params, actor }) => {
      const agentId = pathId(params.id, 'agent')
      await deleteAgent(tenant, agentId, actor, clock())
      return { status: 'success' as const, deleted: true as const, agent_id: agentId }
    },
  )
  runRoutes(app, dependencies)
}

/** Runs: trigger, list, read. */
function runRoutes(app: App, dependencies: Dependencies): void {
  app.post(
    '/v1/agents/:id/trigger',
    {
      config: { access: 'agents:trigger' },
      schema: {
        operationId: 'triggerAgent',
        summary: 'Queue a run of an agent, enabled or not',
        tags: ['Agents'],
        params: Path,
        body: TriggerBody,
        response: {
          200: success({
            job_id: Type.String({ format: 'uuid', description: 'The id of the run, readable at once.' }),
          }),
        },
      },
    },
    async ({ tenant, params, body, actor }) => {
      const agentId = pathId(params.id, 'agent')
      const contactIds = body.contact_ids ?? null
      const runId = await triggerRun(tenant, dependencies, agentId, contactIds, actor, dependencies.clock())
      return { status: 'success' as const, job_id: runId }
    },
  )

  app.get(
    '/v1/agents/:id/runs',
    {
      config: { access: 'agents:read' },
      schema: {
        operationId: 'listAgentRuns',
        summary: 'List the runs of an agent, newest first',
        tags: ['Agents'],
        params: Path,
        querystring: ListRunsQuery,
        response: { 200: success({ runs: Type.Array(Run), ...Counted }) },
      },
    },
    async ({ tenant, params, query }) => {
      const { limit = 20, offset = 0, status } = query
      const { runs, total } = await listRuns(tenant, pathId(params.id, 'agent'), status, { limit, offset })
      return { status: 'success' as const, runs, total, limit, offset }
    },
  )

  app.get(
    '/v1/agents/runs/:runId',
    {
      config: { access: 'agents:read' },
      schema: {
        operationId: 'getAgentRun',
        summary: 'Get a run with the results of its first 25 contacts',
        tags: ['Agents'],
        params: RunPath,
        querystring: ReadRunQuery,
        response: { 200: success({ run: RunDetail }) },
      },
    },
    async ({ tenant, params, query }) => {
      const run = await readRun(tenant, pathId(params.runId, 'run'), query.mode ?? 'full')
      return { status: 'success' as const, run }
    },
  )
}
