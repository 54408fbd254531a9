import { Card, Group, NativeSelect, Stack, Text, Title } from '@mantine/core'
import { IconChartBar } from '@tabler/icons-react'
import { useQuery } from '@tanstack/react-query'
import { getRouteApi } from '@tanstack/react-router'
import { type EventGroups, eventGroupsQuery } from '../api/event-explorer.ts'
import { BarList } from '../ui/bar-list.tsx'
import { DateRange } from '../ui/date-range.tsx'
import { FilterBar } from '../ui/filter-bar.tsx'
import { formatNumber } from '../ui/format.ts'
import { PageHeader } from '../ui/page-header.tsx'
import { daysOf, resolveRange } from '../ui/range.ts'
import { EmptyState, ErrorState, LoadingState } from '../ui/states.tsx'
import { Foreign, None } from '../ui/text.tsx'
import { TrendChart } from '../ui/trend-chart.tsx'
import {
  DIMENSIONS,
  type Dimension,
  EVENT_GROUP_FILTERS,
  type EventGroupSearch,
  eventGroupSearch,
  eventsOfGroup,
  toGroupRequest,
} from './event-search.ts'
import { EventTabs } from './event-tabs.tsx'
import { EventsLink } from './events-link.tsx'

const route = getRouteApi('/shell/events/groups')

/** Event counts by a dimension, as a chart and as numbers. */
export function EventGroupsPage() {
  const search = route.useSearch()
  const navigate = route.useNavigate()
  const request = toGroupRequest(search)
  const { data, error, isPlaceholderData, refetch } = useQuery(eventGroupsQuery(request))
  const change = (changes: Record<string, unknown>) =>
    navigate({ search: (before) => eventGroupSearch({ ...before, ...changes }) })
  const dimension = request.group_by
  return (
    <>
      <PageHeader
        title="Events by group"
        description="Event counts for the selected days, by any dimension."
        actions={<DateRange value={search} onChange={change} />}
      />
      <EventTabs current="groups" />
      <FilterBar fields={EVENT_GROUP_FILTERS} values={search as EventGroupSearch} onChange={change}>
        <NativeSelect
          aria-label="Group by"
          data={[...DIMENSIONS]}
          value={dimension}
          onChange={(event) => change({ group_by: event.currentTarget.value })}
        />
      </FilterBar>
      {error && !data ? <ErrorState error={error} onRetry={refetch} /> : null}
      {!error && !data ? <LoadingState lines={10} label="Counting events" /> : null}
      {data ? (
        <Card aria-busy={isPlaceholderData} opacity={isPlaceholderData ? 0.6 : 1}>
          <Group justify="space-between" mb="md" gap="xs">
            <Title order={2} size="h5">
              Events by {labelOf(dimension).toLowerCase()}
            </Title>
            <Text size="sm" c="dimmed" role="status">
              {formatNumber(data.total)} events, {formatNumber(data.distinct_groups)}{' '}
              {data.distinct_groups === 1 ? 'group' : 'groups'}
            </Text>
          </Group>
          {data.buckets.length === 0 ? (
            <EmptyState icon={IconChartBar} title="Nothing to count">
              No event in this period matches. Widen the date range or remove a filter.
            </EmptyState>
          ) : (
            <Groups dimension={dimension} groups={data} search={search} />
          )}
        </Card>
      ) : null}
    </>
  )
}

function Groups({
  dimension,
  groups,
  search,
}: {
  dimension: Dimension
  groups: EventGroups
  search: EventGroupSearch
}) {
  const { buckets, distinct_groups: distinct } = groups
  if (dimension === 'day') {
    const byDay = new Map(buckets.map(({ key, value }) => [key, value ?? 0]))
    // The service returns the most recent days that have events; the axis starts at the first of them.
    const first = String(buckets[0]?.key)
    const days = daysOf(resolveRange(search)).filter((day) => buckets.length < MOST || day >= first)
    return (
      <TrendChart
        label="Events by day"
        data={days.map((date) => ({ date, events: byDay.get(date) ?? 0 }))}
        series={[{ name: 'events', label: 'Events', color: 'ink.6' }]}
        height={320}
        dayLabel={(day) => <GroupLink search={search} bucket={day} name={day} />}
      />
    )
  }
  return (
    <Stack gap="sm">
      <BarList
        unit="events"
        empty="Nothing to count."
        rows={buckets.map(({ key, value }) => ({
          key: String(key),
          label: <GroupLink search={search} bucket={key} name={nameOf(dimension, key)} />,
          value: value ?? 0,
        }))}
      />
      {distinct > buckets.length ? (
        <Text size="sm" c="dimmed">
          The {buckets.length} {TIMES.has(dimension) ? 'most recent' : 'largest'} of {formatNumber(distinct)} groups.
        </Text>
      ) : null}
    </Stack>
  )
}

interface GroupLinkProps {
  search: EventGroupSearch
  bucket: string | boolean | null
  name: string | null
}

/** A group's name, linked to its events if a filter can select them. */
function GroupLink({ search, bucket, name }: GroupLinkProps) {
  const events = eventsOfGroup(search, bucket)
  const shown = name === null ? <None /> : <Foreign max={160}>{name}</Foreign>
  return events === undefined ? shown : <EventsLink search={events}>{shown}</EventsLink>
}

const MOST = 50
const TIMES = new Set<Dimension>(['day', 'week', 'month'])

function labelOf(dimension: Dimension): string {
  return DIMENSIONS.find(({ value }) => value === dimension)?.label ?? dimension
}

function nameOf(dimension: Dimension, key: string | boolean | null): string | null {
  if (typeof key === 'boolean') return key ? 'Bots' : 'People'
  return key === '' || (key === null && dimension !== 'is_bot') ? null : key
}
