import type { ApprovalsPage, ListApprovalsInput } from '../api/types.ts'

/** A pending action, with the context that a person needs to decide. */
export type WaitingAction = ApprovalsPage['actions'][number]

/** What narrows the list, as the search parameters name it. */
export interface WaitingFilters {
  page?: number | undefined
  agent_id?: string | undefined
  type?: WaitingAction['type'] | undefined
}

/** Rows per page. */
export const APPROVALS_LENGTH = 20

/** The input of `listApprovals`, the same for loading ahead and for the page. */
export function inputOf({ page = 1, agent_id, type }: WaitingFilters): ListApprovalsInput {
  return {
    page,
    limit: APPROVALS_LENGTH,
    ...(agent_id === undefined ? {} : { agent_id }),
    ...(type === undefined ? {} : { type }),
  }
}
