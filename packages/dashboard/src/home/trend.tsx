import { Card, Group, SegmentedControl, Title } from '@mantine/core'
import { useState } from 'react'
import type { Overview } from '../api/overview.ts'
import { TrendChart } from '../ui/trend-chart.tsx'

type Metric = 'events' | 'visitors'

const WORDS: Record<Metric, string> = { events: 'Events', visitors: 'Visitors' }

/** Events or visitors by day, with the previous period behind them. */
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
          {WORDS[metric]} by day
        </Title>
        <SegmentedControl
          size="xs"
          aria-label="Metric"
          value={metric}
          onChange={(value) => setMetric(value === 'visitors' ? 'visitors' : 'events')}
          data={Object.entries(WORDS).map(([value, label]) => ({ value, label }))}
        />
      </Group>
      <TrendChart
        label={`${WORDS[metric]} by day`}
        data={overview.by_day.map((day, index) => ({
          date: day.date,
          now: day[metric],
          before: before[index - offset]?.[metric] ?? 0,
        }))}
        series={[
          { name: 'now', label: WORDS[metric], color: 'ink.6' },
          ...(hasBefore ? [{ name: 'before', label: 'Period before', color: 'gray.6', isDashed: true }] : []),
        ]}
      />
    </Card>
  )
}
