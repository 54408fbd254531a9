import { queryOptions } from '@tanstack/react-query'
import { call, type Input, type Result } from '../api/client.ts'
import { keyOf, queryOf } from '../api/operation.ts'

export type InsightName = 'insightTrend' | 'insightFunnel' | 'insightRetention' | 'insightPaths' | 'insightWeb'

/** A kind of question. */
export interface Kind<Name extends InsightName> {
  /** The operation that answers it. */
  name: Name
  isQuestion: (value: unknown) => value is Input<Name>
  /** A question to begin with. @param events the names of the events, most frequent first; at least one */
  propose: (events: readonly string[]) => Input<Name>
  /** What is sent to ask a question. */
  requestOf: (question: Input<Name>) => Input<Name>
  /** How often the answer is read again while people look at it. */
  refreshMs?: number
}

/** An answer, and the question that it belongs to: the one before is still shown while the next one is asked. */
export interface Answered<Name extends InsightName> {
  question: Input<Name>
  answer: Result<Name>
}

export function answerQuery<Name extends InsightName>(kind: Kind<Name>, question: Input<Name>) {
  const { name, requestOf, refreshMs = false } = kind
  const request = requestOf(question)
  return queryOptions<Answered<Name>>({
    queryKey: keyOf(name, request),
    queryFn: async ({ signal }) => ({ question, answer: await call(name, request, signal) }),
    refetchInterval: refreshMs,
  })
}

/** Follows each page view, so a question about it says nothing more. */
const ECHO = 'page_leave'

/** The names of the events to propose questions about, most frequent first. */
export function namesToPropose({ stats }: Result<'getEventStats'>): string[] {
  const names = stats.by_type?.map(({ type }) => type) ?? []
  const others = names.filter((name) => name !== ECHO)
  return others.length > 0 ? others : names
}

export const eventNamesQuery = {
  ...queryOf('getEventStats', { group_by: 'type' }),
  select: namesToPropose,
}
