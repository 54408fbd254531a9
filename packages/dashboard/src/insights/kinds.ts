import type { QueryClient } from '@tanstack/react-query'
import type { Input } from '../api/client.ts'
import { answerQuery, eventNamesQuery, type InsightName, type Kind, namesToPropose } from './answer-query.ts'
import { isFunnel } from './funnel-question.ts'
import { ROWS_SHOWN } from './list-query.ts'
import { isPaths } from './paths-question.ts'
import { isTrend, parseQuestion, trendRequest } from './question.ts'
import { isRetention } from './retention-question.ts'
import { FIRST_LISTS } from './web-lists.ts'
import { isWeb } from './web-question.ts'

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

export const FUNNEL: Kind<'insightFunnel'> = {
  name: 'insightFunnel',
  isQuestion: isFunnel,
  // The most frequent event begins, and the next ones follow, as most funnels do.
  propose: ([first = '', ...others]) => ({
    last: { value: 30, unit: 'day' },
    steps: [first, ...(others.length > 0 ? others.slice(0, 2) : [first])].map((event) => ({ event })),
    window: { value: 7, unit: 'day' },
    order: 'ordered',
    count_by: 'people',
  }),
  requestOf: (question) => question,
}

export const PATHS: Kind<'insightPaths'> = {
  name: 'insightPaths',
  isQuestion: isPaths,
  // Without page views there are no pages.
  propose: (events) => ({
    last: { value: 30, unit: 'day' },
    kind: events.includes('page_view') ? 'pages' : 'events',
    depth: 4,
  }),
  requestOf: (question) => question,
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

const GOALS_PROPOSED = 3

export const WEB: Kind<'insightWeb'> = {
  name: 'insightWeb',
  isQuestion: isWeb,
  propose: (events) => {
    const goals = events.filter((event) => event !== 'page_view').slice(0, GOALS_PROPOSED)
    return {
      last: { value: 30, unit: 'day' },
      compare: 'previous_period',
      ...(goals.length > 0 ? { goals: goals.map((event) => ({ event })) } : {}),
    }
  },
  // Whichever lists a report is about, the page shows these at first, and asks for another when its tab is opened.
  requestOf: (question) => ({ ...question, lists: FIRST_LISTS, limit: ROWS_SHOWN }),
  refreshMs: 60_000,
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
  const stats = queryClient.getQueryData(eventNamesQuery.queryKey)
  const events = stats ? namesToPropose(stats) : []
  if (events.length > 0) await ask(kind.propose(events))
}
