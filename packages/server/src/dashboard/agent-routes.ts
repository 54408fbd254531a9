import Type from 'typebox'
import { Agent, toAgentObject } from '../agents/agent.ts'
import { listAgents } from '../agents/agents.ts'
import { cancelRun } from '../agents/runs/cancel.ts'
import { lastRuns, listRunContacts, readRun } from '../agents/runs/read.ts'
import { ContactResult, Run } from '../agents/runs/run-object.ts'
import type { App } from '../platform/http/app-types.ts'
import { offsetOf, Pagination, pageParameters, paginationOf } from '../platform/http/pagination.ts'
import { flag } from '../platform/http/query-parameters.ts'
import { Nullable, pathId, success } from '../platform/http/responses.ts'
import type { Clock } from '../platform/time.ts'
import { MEMBER, VIEWER } from './access.ts'

const RunPath = Type.Object({ run_id: Type.String() })
const ListedAgent = Type.Intersect([Agent, Type.Object({ last_run: Nullable(Run) })])
export type ListedAgent = Type.Static<typeof ListedAgent>

/** Agents with how they last ran; the contacts of a run page by page; ending a run. */
export function agentPageRoutes(app: App, { clock }: { clock: Clock }): void {
  app.get(
    '/api/agents',
    {
      config: { access: VIEWER },
      schema: {
        hide: true,
        querystring: Type.Object({
          ...pageParameters(50, 100),
          enabled: flag('Only enabled, or only disabled agents.'),
        }),
        response: { 200: success({ agents: Type.Array(ListedAgent), pagination: Pagination }) },
      },
    },
    async ({ tenant, query: { page = 1, limit = 50, enabled } }) => {
      const filters = enabled === undefined ? {} : { enabled }
      const { rows, total } = await listAgents(tenant, filters, { limit, offset: offsetOf({ page, limit }) })
      const runs = await lastRuns(
        tenant,
        rows.map((row) => row.agent_id),
      )
      const agents = rows.map((row) => ({ ...toAgentObject(row), last_run: runs.get(row.agent_id) ?? null }))
      return { status: 'success' as const, agents, pagination: paginationOf({ page, limit }, total) }
    },
  )

  app.get(
    '/api/agents/runs/:run_id/contacts',
    {
      config: { access: VIEWER },
      schema: {
        hide: true,
        params: RunPath,
        querystring: Type.Object(pageParameters(10, 100)),
        response: {
          200: success({ contacts: Type.Array(ContactResult), done: Type.Integer(), pagination: Pagination }),
        },
      },
    },
    async ({ tenant, params, query: { page = 1, limit = 10 } }) => {
      const window = { limit, offset: offsetOf({ page, limit }) }
      const { contacts, total, done } = await listRunContacts(tenant, pathId(params.run_id, 'run'), window)
      return { status: 'success' as const, contacts, done, pagination: paginationOf({ page, limit }, total) }
    },
  )

  app.post(
    '/api/agents/runs/:run_id/cancel',
    {
      config: { access: MEMBER },
      schema: { hide: true, params: RunPath, response: { 200: success({ run: Run }) } },
    },
    async ({ tenant, actor, params }) => {
      const runId = pathId(params.run_id, 'run')
      await cancelRun(tenant, runId, actor, clock())
      return { status: 'success' as const, run: await readRun(tenant, runId, 'summary') }
    },
  )
}
