import { Card, Group, SegmentedControl, Title } from '@mantine/core'
import { useState } from 'react'
import { ErrorState, LoadingState } from '../ui/states.tsx'
import { useLater } from '../ui/use-later.ts'
import type { Overview } from './overview.ts'
import { text as texts } from './text.ts'

const text = texts.trend

type Metric = 'events' | 'visitors'

/** Events or visitors by day, with those of as many days before behind them. */
export function Trend({ overview }: { overview: Overview }) {
  const [metric, setMetric] = useState<Metric>('events')
  const before = overview.previous.by_day.slice(-overview.by_day.length)
  // Without data, no line is clearer than a line at zero.
  const hasBefore = before.some((day) => day[metric] > 0)
  const offset = overview.by_day.length - before.length
  const line = { name: text.metrics[metric], color: 0 }
  const pointsOf = (days: typeof before, offset = 0) => [
    ...Array<null>(offset).fill(null),
    ...days.map((day) => day[metric]),
  ]
  // With its own script: the figures above are there before it.
  const [failure, setFailure] = useState<unknown>(null)
  const chart = useLater(failure === null, () => import('../insights/daily-chart.tsx'), setFailure)
  return (
    <Card>
      <Group justify="space-between" mb="xs" gap="xs">
        <Title order={2} size="h5">
          {text.byDay[metric]}
        </Title>
        <SegmentedControl
          size="xs"
          aria-label={text.metric}
          value={metric}
          onChange={(value) => setMetric(value === 'visitors' ? 'visitors' : 'events')}
          data={Object.entries(text.metrics).map(([value, label]) => ({ value, label }))}
        />
      </Group>
      {chart ? (
        <chart.DailyChart
          label={text.byDay[metric]}
          days={overview.by_day.map(({ date }) => date)}
          lines={[
            ...(hasBefore ? [{ ...line, key: 'before', points: pointsOf(before, offset), isBefore: true }] : []),
            { ...line, key: 'now', points: pointsOf(overview.by_day) },
          ]}
        />
      ) : failure ? (
        <ErrorState error={failure} onRetry={() => setFailure(null)} />
      ) : (
        <LoadingState lines={7} />
      )}
    </Card>
  )
}
