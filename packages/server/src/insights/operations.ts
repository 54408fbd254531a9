import Type from 'typebox'
import type { InsightMatch } from '../conditions/language.ts'
import { SegmentFilterSchema } from '../conditions/schema.ts'
import { operationsWith } from '../operations/declare.ts'
import { validationError } from '../platform/errors.ts'
import { bag } from '../platform/personal.ts'
import { FUNNEL_INPUT, FUNNEL_OUTPUT, funnel } from './funnel.ts'
import { InsightKindField, peopleBehind, problemsOfInsight, QuestionField } from './kinds.ts'
import { PATHS_INPUT, PATHS_OUTPUT, paths } from './paths.ts'
import { amongPeople, asking, type InsightServices, type QuestionContext } from './question.ts'
import { RETENTION_INPUT, RETENTION_OUTPUT, retention } from './retention.ts'
import { TREND_INPUT, TREND_OUTPUT, trend } from './trend.ts'
import { WEB_INPUT, WEB_OUTPUT, web } from './web.ts'

const tag = 'Insights'

const insightOperation = operationsWith<InsightServices>()

const PEOPLE_INPUT = {
  kind: InsightKindField,
  question: QuestionField,
  at: Type.Record(Type.String(), Type.Unknown(bag('any')), {
    description:
      'Which number. trend: `{"series": "A", "interval": "2026-10-25", "breakdown": ["DE"]}`, where all but the series may be left out. funnel: `{"step": 2}`, with `"dropped": true` those who went no further, and `breakdown`. retention: `{"cohort": "2026-W43", "interval": 1}`, or the cohort alone. paths: `{"step": 1, "from": "/", "to": "/pricing"}` or `{"step": 1, "name": "/"}`. web: `{}` for all people, `{"interval": "2026-10-25"}`, `{"list": "source", "value": "google.com"}` or `{"goal": 1}`.',
  }),
} as const

export const INSIGHT_OPERATIONS = [
  insightOperation({
    name: 'insightTrend',
    tag,
    http: 'POST /v1/insights/trend',
    command: 'insight trend',
    scope: 'events:read',
    summary: 'Get figures of events over time',
    description:
      'Counts, sums and different people by hour, day, week or month, divided by properties, or combined by a formula. People are counted once across their devices and their anonymous past.',
    input: TREND_INPUT,
    output: TREND_OUTPUT,
    example: { series: [{ event: 'page_view', metric: 'unique_people' }], last: { value: 7, unit: 'day' } },
    errors: ['400 unknown_segment'],
    reads: true,
    run: (context, question) => trend(asking(context), question),
  }),
  insightOperation({
    name: 'insightPeople',
    tag,
    http: 'POST /v1/insights/people',
    command: 'insight people',
    scope: 'events:read',
    also: [{ scopes: ['contacts:read'] }],
    summary: 'Count the people behind a number of a question, and get a filter that lists them',
    description:
      'The filter lists exactly the contacts that the number counts, wherever a filter of contacts is accepted. In a segment, it is brought up to date every ten minutes.',
    input: PEOPLE_INPUT,
    output: {
      filter: SegmentFilterSchema,
      contacts: Type.Integer({ description: 'How many contacts the number counts.' }),
      anonymous: Type.Integer({ description: 'How many visitors it counts whom nobody knows.' }),
    },
    example: {
      kind: 'trend',
      question: { series: [{ event: 'page_view', metric: 'unique_people' }], last: { value: 7, unit: 'day' } },
      at: { series: 'A' },
    },
    errors: ['400 unknown_segment'],
    reads: true,
    async run(context, { kind: insight, question, at }) {
      const match = { insight, question, at }
      const problems = problemsOfInsight(match)
      if (problems.length > 0) throw validationError(problems)
      const counts = await countPeople(asking(context), match)
      return { filter: { match: 'all' as const, conditions: [{ ...match, operator: 'did' as const }] }, ...counts }
    },
  }),
  insightOperation({
    name: 'insightFunnel',
    tag,
    http: 'POST /v1/insights/funnel',
    command: 'insight funnel',
    scope: 'events:read',
    summary: 'Count who went through steps',
    description:
      'How many people, or sessions, reached each of 2 to 10 steps, and how long it took them. A person counts once, with the attempt that reaches furthest.',
    input: FUNNEL_INPUT,
    output: FUNNEL_OUTPUT,
    example: {
      steps: [{ event: 'page_view' }, { event: 'form_submitted' }],
      window: { value: 7, unit: 'day' },
      last: { value: 30, unit: 'day' },
    },
    errors: ['400 unknown_segment'],
    reads: true,
    run: (context, question) => funnel(asking(context), question),
  }),
  insightOperation({
    name: 'insightRetention',
    tag,
    http: 'POST /v1/insights/retention',
    command: 'insight retention',
    scope: 'events:read',
    summary: 'Get how many people come back',
    description:
      'Puts people into cohorts by when they started, and counts those who came back in each interval after. People are counted once across their devices and their anonymous past.',
    input: RETENTION_INPUT,
    output: RETENTION_OUTPUT,
    example: { start: { event: 'page_view' }, interval: 'week', last: { value: 2, unit: 'week' }, intervals: 2 },
    errors: ['400 unknown_segment'],
    reads: true,
    run: (context, question) => retention(asking(context), question),
  }),
  insightOperation({
    name: 'insightPaths',
    tag,
    http: 'POST /v1/insights/paths',
    command: 'insight paths',
    scope: 'events:read',
    summary: 'Get the paths of sessions',
    description:
      'Counts the sessions that go from one page or event to the next, at each step from the beginning of their paths or back from the end.',
    input: PATHS_INPUT,
    output: PATHS_OUTPUT,
    example: { kind: 'pages', depth: 3, last: { value: 7, unit: 'day' } },
    errors: ['400 unknown_segment'],
    reads: true,
    run: (context, question) => paths(asking(context), question),
  }),
  insightOperation({
    name: 'insightWeb',
    tag,
    http: 'POST /v1/insights/web',
    command: 'insight web',
    scope: 'events:read',
    summary: 'Get the figures of websites',
    description:
      'Counts people, visits and page views, in total and by time, with the sources, campaigns, pages, places and devices of the most people, and who reached goals. People are counted once across their devices and their anonymous past. A visit that began before the range counts with its part in the range.',
    input: WEB_INPUT,
    output: WEB_OUTPUT,
    example: {
      last: { value: 7, unit: 'day' },
      lists: ['source', 'page'],
      goals: [{ event: 'form_submitted' }],
      limit: 3,
    },
    errors: ['400 unknown_segment'],
    reads: true,
    run: (context, question) => web(asking(context), question),
  }),
]

/** How many contacts, and how many anonymous visitors, a number counts. */
async function countPeople(
  context: QuestionContext,
  match: InsightMatch,
): Promise<{ contacts: number; anonymous: number }> {
  const count = amongPeople(await peopleBehind(context, match), {
    columns: 'uniqExactIf(person, is_contact) AS contacts, uniqExactIf(person, NOT is_contact) AS anonymous',
  })
  const [row] = await context.tenant.events.select<{ contacts: number; anonymous: number }>(count)
  return { contacts: Number(row?.contacts ?? 0), anonymous: Number(row?.anonymous ?? 0) }
}
