import { Card, Group, Stack, Text, Title } from '@mantine/core'
import { keepPreviousData, useQuery } from '@tanstack/react-query'
import { getRouteApi } from '@tanstack/react-router'
import { queryOf } from '../api/operation.ts'
import type { GetSegmentGrowthResult } from '../api/types.ts'
import { DailyChart } from '../insights/daily-chart.tsx'
import { DateRange } from '../ui/date-range.tsx'
import { resolveRange } from '../ui/range.ts'
import { ErrorState, LoadingState } from '../ui/states.tsx'
import { segmentSearch } from './segment-search.ts'
import { text } from './text.ts'

const words = text.segment

/** How often to read again while the service evaluates the filter. */
const COUNTING_MS = 1_000

const route = getRouteApi('/shell/segments/$segmentId')

/** The size of a segment over time. */
export function Growth({ segmentId }: { segmentId: string }) {
  const search = route.useSearch()
  const navigate = route.useNavigate()
  const { data, error, refetch } = useQuery({
    ...queryOf('getSegmentGrowth', { segment_id: segmentId, ...resolveRange(search) }),
    refetchInterval: ({ state }) => (state.data?.counting ? COUNTING_MS : false),
    placeholderData: keepPreviousData,
  })
  return (
    <Card>
      <Stack gap="sm">
        <Group justify="space-between">
          <Title order={2} size="h5">
            {words.size}
          </Title>
          <DateRange
            value={search}
            onChange={(changes) => navigate({ search: (before) => segmentSearch({ ...before, ...changes }) })}
          />
        </Group>
        {error && !data ? <ErrorState error={error} onRetry={refetch} /> : null}
        {!error && !data ? <LoadingState lines={5} /> : null}
        {data?.counting ? (
          <Text size="sm" c="dimmed">
            {words.counting}
          </Text>
        ) : null}
        {data && !data.counting ? <GrowthChart growth={data} from={resolveRange(search).from} /> : null}
      </Stack>
    </Card>
  )
}

function GrowthChart({ growth, from }: { growth: GetSegmentGrowthResult; from: string }) {
  const { by_day: days, since, past } = growth
  const isSince = since.slice(0, 10) >= from
  const sinceWords = past.length > 0 ? words.past(since) : isSince ? words.since(since) : ''
  const redefined = days.reduce((sum, day) => sum + day.redefined, 0)
  const all = [...past.map((day) => ({ ...day, entered: 0 })), ...days]
  if (days.length === 0 && past.length === 0) {
    return (
      <Text size="sm" c="dimmed">
        {words.notYet(since)}
      </Text>
    )
  }
  return (
    <>
      <DailyChart
        label={words.chart}
        height={200}
        days={all.map(({ date }) => date)}
        lines={[
          { key: 'count', name: words.contacts, color: 0, points: all.map(({ count }) => count), isLevel: true },
          { key: 'entered', name: words.entered, color: 2, points: all.map(({ entered }) => entered) },
        ]}
      />
      <Text size="xs" c="dimmed">
        {[sinceWords, redefined === 0 ? '' : words.redefined(redefined)].filter(Boolean).join(' ')}
      </Text>
    </>
  )
}
