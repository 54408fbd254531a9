import { keepPreviousData, type QueryClient, queryOptions } from '@tanstack/react-query'
import type { Action, ActionPlace, ApprovalsPage, ListApprovalsInput } from '../../../client/src/generated/types.gen.ts'
import { call } from './client.ts'

export type { Action, ActionPlace }
/** A pending action, with the context that a person needs to decide. */
export type WaitingAction = ApprovalsPage['actions'][number]

/** Rows per page. */
export const APPROVALS_LENGTH = 20

export const approvalsQuery = (filters: ListApprovalsInput) =>
  queryOptions({
    queryKey: ['approvals', 'list', filters],
    queryFn: ({ signal }) => call('listApprovals', filters, signal),
    placeholderData: keepPreviousData,
  })

/** The number of pending actions, polled because agents work in the background. */
export const waitingCountQuery = queryOptions({
  queryKey: ['approvals', 'count'],
  queryFn: ({ signal }) => call('listApprovals', { limit: 1 }, signal),
  select: ({ pagination }) => pagination.total_items,
  refetchInterval: 30_000,
})

/** An approved action, polled until it is executed. */
export const executionQuery = (place: ActionPlace) =>
  queryOptions({
    queryKey: ['approvals', 'action', actionKey(place)],
    queryFn: ({ signal }) => call('getAction', pathOf(place), signal),
    select: ({ action }) => action,
    refetchInterval: ({ state }) => {
      if (!state.data) return 1_000
      const { status, due_at: due } = state.data.action
      if (status !== 'approved') return false
      return due !== null && Date.parse(due) > Date.now() + 60_000 ? 30_000 : 1_000
    },
  })

export function approveAction(place: ActionPlace, params?: Record<string, unknown>) {
  return call('approveAction', { ...pathOf(place), ...(params === undefined ? {} : { params }) })
}

export function rejectAction(place: ActionPlace, reason: string) {
  return call('rejectAction', { ...pathOf(place), ...(reason === '' ? {} : { reason }) })
}

/** Decides several actions in one request; each succeeds or fails alone. */
export async function decideAll(verb: 'approve' | 'reject', places: ActionPlace[], reason: string) {
  const actions = places.map(({ run_id, contact_id, action_index }) => ({ run_id, contact_id, action_index }))
  const body = verb === 'reject' && reason !== '' ? { actions, reason } : { actions }
  const { decisions } = await call(verb === 'approve' ? 'approveActions' : 'rejectActions', body)
  return decisions
}

/** A key that identifies an action. */
export function actionKey({ run_id, contact_id, action_index }: ActionPlace): string {
  return `${run_id}/${contact_id}/${action_index}`
}

export function refreshApprovals(queryClient: QueryClient): Promise<unknown> {
  return Promise.all([
    queryClient.invalidateQueries({ queryKey: ['approvals'] }),
    queryClient.invalidateQueries({ queryKey: ['agents'] }),
  ])
}

function pathOf({ run_id, contact_id, action_index }: ActionPlace) {
  return { run_id, contact_id, action_index: String(action_index) }
}
