import { keepPreviousData, type QueryClient, queryOptions } from '@tanstack/react-query'
import type Type from 'typebox'
import type { AgentSettings } from '../../../server/src/agents/actions/settings.ts'
import type { Agent as AgentSchema } from '../../../server/src/agents/agent.ts'
import type { ListedAgent } from '../../../server/src/agents/operations.ts'
import type { Playbooks } from '../../../server/src/agents/playbooks/operations.ts'
import type { AgentInput } from '../../../server/src/agents/requests.ts'
import type { DryRunObject } from '../../../server/src/agents/runs/dry-run-object.ts'
import type { ContactResultObject, RunObject } from '../../../server/src/agents/runs/run-object.ts'
import type { Pagination } from '../../../server/src/platform/http/pagination.ts'
import { get, send } from './client.ts'

export type { AgentInput, AgentSettings, ListedAgent, Playbooks }
export type Agent = Type.Static<typeof AgentSchema>
export type Run = RunObject
export type DryRun = DryRunObject
export type RunContact = ContactResultObject
type Page = { pagination: Type.Static<typeof Pagination> }

/** Rows per page. */
export const AGENTS_LENGTH = 50

export const agentsQuery = (query: { limit: number; offset: number; enabled?: boolean | undefined }) =>
  queryOptions({
    queryKey: ['agents', 'list', query],
    queryFn: ({ signal }) =>
      get<{ agents: ListedAgent[]; total: number }>('/v1/agents', { ...query, include: 'last_run' }, signal),
    placeholderData: keepPreviousData,
    refetchInterval: ({ state }) => (state.data?.agents.some(({ last_run }) => isOpen(last_run)) ? 2_500 : false),
  })

export const agentQuery = (agentId: string) =>
  queryOptions({
    queryKey: ['agents', 'one', agentId],
    queryFn: ({ signal }) => get<{ agent: Agent }>(`/v1/agents/${encodeURIComponent(agentId)}`, {}, signal),
    select: ({ agent }) => agent,
  })

/** Rows per page. */
export const RUNS_LENGTH = 20

export const runsQuery = (agentId: string, query: { limit: number; offset: number }) =>
  queryOptions({
    queryKey: ['agents', 'runs', agentId, query],
    queryFn: ({ signal }) =>
      get<{ runs: Run[]; total: number }>(`/v1/agents/${encodeURIComponent(agentId)}/runs`, query, signal),
    placeholderData: keepPreviousData,
    refetchInterval: ({ state }) => (state.data?.runs.some(isOpen) ? 2_500 : false),
  })

/** The status of a run, polled until it ends. */
export const runQuery = (runId: string) =>
  queryOptions({
    queryKey: ['agents', 'run', runId, 'summary'],
    queryFn: ({ signal }) =>
      get<{ run: Run }>(`/v1/agents/runs/${encodeURIComponent(runId)}`, { mode: 'summary' }, signal),
    select: ({ run }) => run,
    refetchInterval: ({ state }) => (state.data && !isOpen(state.data.run) ? false : 2_000),
  })

/** Rows per page. */
export const RUN_CONTACTS_LENGTH = 10

export const runContactsQuery = (runId: string, query: { page: number; limit: number }, isUnderWay: boolean) =>
  queryOptions({
    // Read again when the run has ended: the last response may be older than its end.
    queryKey: ['agents', 'run', runId, 'contacts', query, isUnderWay],
    queryFn: ({ signal }) =>
      get<{ contacts: RunContact[]; done: number } & Page>(
        `/v1/agents/runs/${encodeURIComponent(runId)}/contacts`,
        query,
        signal,
      ),
    placeholderData: keepPreviousData,
    // A prefetched response may be older than the run.
    staleTime: 0,
    // Approved actions are executed after the run, too.
    refetchInterval: ({ state }) => {
      if (isUnderWay) return 2_000
      return state.data?.contacts.some(({ proposed_actions }) => proposed_actions.some(isExecuting)) ? 3_000 : false
    },
  })

export const playbooksQuery = queryOptions({
  queryKey: ['playbooks'],
  queryFn: ({ signal }) => get<{ playbooks: Playbooks }>('/v1/playbooks', {}, signal),
  select: ({ playbooks }) => playbooks,
  staleTime: 5 * 60_000,
})

/** The variables of a playbook that do not exist. */
export const unknownVariablesQuery = (playbook: {
  playbook_md: string
  playbook_template?: string
  variables: string[]
}) =>
  queryOptions({
    queryKey: ['playbooks', 'check', playbook],
    queryFn: ({ signal }) => send<{ unknown: string[] }>('POST', '/v1/playbooks/check', playbook, signal),
    select: ({ unknown }) => unknown,
    placeholderData: keepPreviousData,
    staleTime: Number.POSITIVE_INFINITY,
  })

/** The next times of a schedule. */
export const scheduleQuery = (cron: string, timeZone: string) =>
  queryOptions({
    queryKey: ['schedules', cron, timeZone],
    queryFn: ({ signal }) => get<{ times: string[] }>('/v1/schedules', { cron, time_zone: timeZone }, signal),
    select: ({ times }) => times,
    retry: false,
  })

export const agentSettingsQuery = queryOptions({
  queryKey: ['agent-settings'],
  queryFn: ({ signal }) =>
    get<{ settings: AgentSettings; cost_this_month_usd: number }>('/v1/agent-settings', {}, signal),
})

export function createAgent(agent: AgentInput & { name: string }) {
  return send<{ agent: Agent }>('POST', '/v1/agents', agent)
}

/** Evaluates a few contacts with the settings of an agent that is not stored. @param contactIds null: of its audience. */
export function dryRunAgent(agent: AgentInput & { name: string }, contactIds: string[] | null) {
  const body = contactIds === null ? agent : { ...agent, contact_ids: contactIds }
  return send<{ dry_run: DryRun }>('POST', '/v1/agents/dry-run', body)
}

export function updateAgent(agentId: string, changes: AgentInput) {
  return send<{ agent: Agent }>('PATCH', `/v1/agents/${encodeURIComponent(agentId)}`, changes)
}

export function deleteAgent(agentId: string) {
  return send('DELETE', `/v1/agents/${encodeURIComponent(agentId)}`)
}

/** Queues a run. @param contactIds the contacts to evaluate; null: the agent's audience. */
export function triggerAgent(agentId: string, contactIds: string[] | null) {
  const body = contactIds === null ? {} : { contact_ids: contactIds }
  return send<{ job_id: string }>('POST', `/v1/agents/${encodeURIComponent(agentId)}/trigger`, body)
}

export function cancelRun(runId: string) {
  return send<{ run: Run }>('POST', `/v1/agents/runs/${encodeURIComponent(runId)}/cancel`)
}

export function saveAgentSettings(settings: Partial<AgentSettings>) {
  return send('PATCH', '/v1/agent-settings', settings)
}

export function refreshAgents(queryClient: QueryClient): Promise<unknown> {
  return queryClient.invalidateQueries({ queryKey: ['agents'] })
}

/** Whether an approved action is about to be executed. */
export function isExecuting({
  status,
  due_at: due,
}: Pick<RunContact['proposed_actions'][number], 'status' | 'due_at'>) {
  return status === 'approved' && (due === null || Date.parse(due) < Date.now() + 60_000)
}

/** Whether a run is queued or running. */
export function isOpen(run: Pick<Run, 'status'> | null | undefined): boolean {
  return run?.status === 'queued' || run?.status === 'running'
}
