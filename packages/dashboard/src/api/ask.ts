import { queryOptions } from '@tanstack/react-query'
import { get, send } from './client.ts'

/** A call of a tool with which the model looked something up. */
export interface AskCall {
  tool: string
  title: string
  arguments: Record<string, unknown>
  /** Why it failed; null if it succeeded. */
  error: string | null
}

export interface AskAnswer {
  /** Markdown. */
  answer: string
  calls: AskCall[]
  model: string
}

/** The model that answers questions; null if none is configured. */
export const askModelQuery = queryOptions({
  queryKey: ['ask-model'],
  queryFn: ({ signal }) => get<{ model: string | null }>('/v1/ask', {}, signal),
  staleTime: 5 * 60_000,
})

export function ask(question: string): Promise<AskAnswer> {
  return send<AskAnswer>('POST', '/v1/ask', { question })
}
