import { operation } from '../operations/declare.ts'
import { TREND_INPUT, TREND_OUTPUT, trend } from './trend.ts'

const tag = 'Insights'

export const INSIGHT_OPERATIONS = [
  operation({
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
    errors: ['400 condition_too_broad', '400 hidden_property'],
    reads: true,
    run: (context, question) => trend(context, question),
  }),
]
