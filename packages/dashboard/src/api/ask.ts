import { queryOptions } from '@tanstack/react-query'
import type { AskResult, ToolCall } from '../../../client/src/generated/types.gen.ts'
import { call } from './client.ts'

export type { AskResult, ToolCall }

/** The model that answers questions; null if none is configured. */
export const askModelQuery = queryOptions({
  queryKey: ['ask-model'],
  queryFn: ({ signal }) => call('getAskModel', {}, signal),
  staleTime: 5 * 60_000,
})

export function ask(question: string) {
  return call('ask', { question })
}
