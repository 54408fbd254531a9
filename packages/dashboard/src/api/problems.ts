import { queryOptions } from '@tanstack/react-query'
import type { RequestProblem } from '../../../client/src/generated/types.gen.ts'
import { call } from './client.ts'

export type { RequestProblem }

const PROBLEMS_MAX = 100
const AGAIN_MS = 3_000

/** The last hour's requests that were rejected or got warnings, newest first. */
export const problemsQuery = queryOptions({
  queryKey: ['tracker', 'problems'],
  queryFn: ({ signal }) => call('listRequestProblems', { limit: PROBLEMS_MAX }, signal),
  select: ({ problems }) => problems,
  refetchInterval: AGAIN_MS,
})
