import { Card, Group, SegmentedControl, Title } from '@mantine/core'
import { useState } from 'react'
import { TrendChart } from '../ui/trend-chart.tsx'
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
      <TrendChart
        label={text.byDay[metric]}
        data={overview.by_day.map((day, index) => ({
          date: day.date,
          now: day[metric],
          before: before[index - offset]?.[metric] ?? 0,
        }))}
        series={[
          { name: 'now', label: text.metrics[metric], color: 'ink.6' },
          ...(hasBefore
            ? [{ name: 'before', label: text.before(overview.by_day.length), color: 'gray.6', isDashed: true }]
            : []),
        ]}
      />
    </Card>
  )
}
