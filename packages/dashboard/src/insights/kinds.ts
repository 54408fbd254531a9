import type { QueryClient } from '@tanstack/react-query'
import type { Input } from '../api/client.ts'
import { answerQuery, eventNamesQuery, type InsightName, type Kind } from './answer-query.ts'
import { isTrend, parseQuestion, trendRequest } from './question.ts'
import { isRetention } from './retention-question.ts'

export const TREND: Kind<'insightTrend'> = {
  name: 'insightTrend',
  isQuestion: isTrend,
  propose: ([event]) => ({
    last: { value: 30, unit: 'day' },
    series: [{ ...(event === undefined ? {} : { event }), metric: 'unique_people' }],
    interval: 'day',
  }),
  requestOf: trendRequest,
}

export const RETENTION: Kind<'insightRetention'> = {
  name: 'insightRetention',
  isQuestion: isRetention,
  propose: () => ({
    last: { value: 8, unit: 'week' },
    start: 'first_seen',
    return: 'any',
    interval: 'week',
    intervals: 7,
    mode: 'on',
  }),
  requestOf: (question) => question,
}

/** Asks the question in a URL, or the one that is proposed, before its page is there. */
export async function prefetchAnswer<Name extends InsightName>(
  queryClient: QueryClient,
  kind: Kind<Name>,
  text: string | undefined,
): Promise<void> {
  const stored = parseQuestion(text, kind.isQuestion)
  const ask = (question: Input<Name>) => queryClient.prefetchQuery(answerQuery(kind, question))
  if (stored) return ask(stored)
  // The page says what failed.
  await queryClient.prefetchQuery(eventNamesQuery)
  const events = queryClient.getQueryData(eventNamesQuery.queryKey)?.stats.by_type ?? []
  if (events.length > 0) await ask(kind.propose(events.map(({ type }) => type)))
}
