import { keepPreviousData, type QueryClient, queryOptions } from '@tanstack/react-query'
import type {
  Agent,
  AgentSettings,
  CheckPlaybookInput,
  CreateAgentInput,
  DryRun,
  ListAgentsInput,
  ListAgentsResult,
  Playbooks,
  Run,
  RunContact,
  UpdateAgentInput,
} from '../../../client/src/generated/types.gen.ts'
import { call } from './client.ts'

export type { Agent, AgentSettings, CreateAgentInput, DryRun, Playbooks, Run, RunContact }
export type ListedAgent = ListAgentsResult['agents'][number]

/** Rows per page. */
export const AGENTS_LENGTH = 50

export const agentsQuery = (query: ListAgentsInput) =>
  queryOptions({
    queryKey: ['agents', 'list', query],
    queryFn: ({ signal }) => call('listAgents', { ...query, include: 'last_run' }, signal),
    placeholderData: keepPreviousData,
    refetchInterval: ({ state }) => (state.data?.agents.some(({ last_run }) => isOpen(last_run)) ? 2_500 : false),
  })

export const agentQuery = (agent_id: string) =>
  queryOptions({
    queryKey: ['agents', 'one', agent_id],
    queryFn: ({ signal }) => call('getAgent', { agent_id }, signal),
    select: ({ agent }) => agent,
  })

/** Rows per page. */
export const RUNS_LENGTH = 20

export const runsQuery = (agent_id: string, query: { limit: number; offset: number }) =>
  queryOptions({
    queryKey: ['agents', 'runs', agent_id, query],
    queryFn: ({ signal }) => call('listAgentRuns', { agent_id, ...query }, signal),
    placeholderData: keepPreviousData,
    refetchInterval: ({ state }) => (state.data?.runs.some(isOpen) ? 2_500 : false),
  })

/** The status of a run, polled until it ends. */
export const runQuery = (run_id: string) =>
  queryOptions({
    queryKey: ['agents', 'run', run_id, 'summary'],
    queryFn: ({ signal }) => call('getAgentRun', { run_id, mode: 'summary' }, signal),
    select: ({ run }) => run,
    refetchInterval: ({ state }) => (state.data && !isOpen(state.data.run) ? false : 2_000),
  })

/** Rows per page. */
export const RUN_CONTACTS_LENGTH = 10

export const runContactsQuery = (run_id: string, query: { page: number; limit: number }, isUnderWay: boolean) =>
  queryOptions({
    // Read again when the run has ended: the last response may be older than its end.
    queryKey: ['agents', 'run', run_id, 'contacts', query, isUnderWay],
    queryFn: ({ signal }) => call('listRunContacts', { run_id, ...query }, signal),
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
  queryFn: ({ signal }) => call('listPlaybooks', {}, signal),
  select: ({ playbooks }) => playbooks,
  staleTime: 5 * 60_000,
})

/** The variables of a playbook that do not exist. */
export const unknownVariablesQuery = (playbook: CheckPlaybookInput) =>
  queryOptions({
    queryKey: ['playbooks', 'check', playbook],
    queryFn: ({ signal }) => call('checkPlaybook', playbook, signal),
    select: ({ unknown }) => unknown,
    placeholderData: keepPreviousData,
    staleTime: Number.POSITIVE_INFINITY,
  })

/** The next times of a schedule. */
export const scheduleQuery = (cron: string, timeZone: string) =>
  queryOptions({
    queryKey: ['schedules', cron, timeZone],
    queryFn: ({ signal }) => call('listScheduleTimes', { cron, time_zone: timeZone }, signal),
    select: ({ times }) => times,
    retry: false,
  })

export const agentSettingsQuery = queryOptions({
  queryKey: ['agent-settings'],
  queryFn: ({ signal }) => call('getAgentSettings', {}, signal),
})

export function createAgent(agent: CreateAgentInput) {
  return call('createAgent', agent)
}

/** Evaluates a few contacts with the settings of an agent that is not stored. @param contactIds null: of its audience. */
export function dryRunAgent(agent: CreateAgentInput, contactIds: string[] | null) {
  return call('dryRunAgent', contactIds === null ? agent : { ...agent, contact_ids: contactIds })
}

export function updateAgent(agent_id: string, changes: Omit<UpdateAgentInput, 'agent_id'>) {
  return call('updateAgent', { agent_id, ...changes })
}

export function deleteAgent(agent_id: string) {
  return call('deleteAgent', { agent_id })
}

/** Queues a run. @param contactIds the contacts to evaluate; null: the agent's audience. */
export function triggerAgent(agent_id: string, contactIds: string[] | null) {
  const contacts = contactIds === null ? {} : { contact_ids: contactIds }
  return call('triggerAgent', { agent_id, ...contacts })
}

export function cancelRun(run_id: string) {
  return call('cancelRun', { run_id })
}

export function updateAgentSettings(settings: Partial<AgentSettings>) {
  return call('updateAgentSettings', settings)
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
