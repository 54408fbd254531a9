import { Card, Group, NativeSelect, Stack, Text, Title, Tooltip } from '@mantine/core'
import { IconChartBar } from '@tabler/icons-react'
import { keepPreviousData, useQuery } from '@tanstack/react-query'
import { getRouteApi } from '@tanstack/react-router'
import type { Result } from '../api/client.ts'
import { queryOf } from '../api/operation.ts'
import { DailyChart } from '../insights/daily-chart.tsx'
import { BarList } from '../ui/bar-list.tsx'
import { DateRange } from '../ui/date-range.tsx'
import { eventLabel } from '../ui/event-words.ts'
import { FilterBar } from '../ui/filter-bar.tsx'
import { AnchorLink } from '../ui/link.tsx'
import { PageHeader } from '../ui/page-header.tsx'
import { daysOf, resolveRange } from '../ui/range.ts'
import { EmptyState, ErrorState, LoadingState } from '../ui/states.tsx'
import { Foreign, None } from '../ui/text.tsx'
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
import { text } from './text.ts'

const words = text.groups

const route = getRouteApi('/shell/events/groups')

/** Event counts by a dimension, as a chart and as numbers. */
export function EventGroupsPage() {
  const search = route.useSearch()
  const navigate = route.useNavigate()
  const request = toGroupRequest(search)
  const { data, error, isPlaceholderData, refetch } = useQuery({
    ...queryOf('aggregate', request),
    placeholderData: keepPreviousData,
  })
  const change = (changes: Record<string, unknown>) =>
    navigate({ search: (before) => eventGroupSearch({ ...before, ...changes }) })
  const dimension = request.group_by
  return (
    <>
      <PageHeader
        title={words.title}
        description={words.description}
        actions={<DateRange value={search} onChange={change} />}
      />
      <EventTabs current="groups" />
      <FilterBar fields={EVENT_GROUP_FILTERS} values={search as EventGroupSearch} onChange={change}>
        <NativeSelect
          aria-label={words.groupBy}
          data={DIMENSIONS}
          value={dimension}
          onChange={(event) => change({ group_by: event.currentTarget.value })}
        />
      </FilterBar>
      {error && !data ? <ErrorState error={error} onRetry={refetch} /> : null}
      {!error && !data ? <LoadingState lines={10} label={words.loading} /> : null}
      {data ? (
        <Card aria-busy={isPlaceholderData} opacity={isPlaceholderData ? 0.6 : 1}>
          <Group justify="space-between" mb="md" gap="xs">
            <Title order={2} size="h5">
              {words.heading(text.dimensions[dimension])}
            </Title>
            <Text size="sm" c="dimmed" role="status">
              {words.total(data.total, data.distinct_groups)}
            </Text>
          </Group>
          {data.buckets.length === 0 ? (
            <EmptyState icon={IconChartBar} title={words.empty}>
              {words.emptyHint}
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
  groups: Result<'aggregate'>
  search: EventGroupSearch
}) {
  const { buckets, distinct_groups: distinct } = groups
  if (dimension === 'day') {
    const byDay = new Map(buckets.map(({ key, value }) => [key, value ?? 0]))
    // The service returns the most recent days that have events; the axis starts at the first of them.
    const first = String(buckets[0]?.key)
    const days = daysOf(resolveRange(search)).filter((day) => buckets.length < MOST || day >= first)
    return (
      <DailyChart
        label={words.chart}
        days={days}
        lines={[{ key: 'events', name: words.series, color: 0, points: days.map((day) => byDay.get(day) ?? 0) }]}
        height={320}
        headingOf={(day) => <GroupLink search={search} bucket={day} name={day} />}
      />
    )
  }
  return (
    <Stack gap="sm">
      <BarList
        unit={words.unit}
        empty={words.empty}
        rows={buckets.map((bucket) => ({
          key: String(bucket.key),
          label: <GroupLabel search={search} dimension={dimension} bucket={bucket} />,
          value: bucket.value ?? 0,
        }))}
      />
      {distinct > buckets.length ? (
        <Text size="sm" c="dimmed">
          {(TIMES.has(dimension) ? words.latest : words.largest)(buckets.length, distinct)}
        </Text>
      ) : null}
    </Stack>
  )
}

type Key = Result<'aggregate'>['buckets'][number]['key']

interface GroupLabelProps {
  search: EventGroupSearch
  dimension: Dimension
  bucket: Result<'aggregate'>['buckets'][number]
}

/** A group's name; contacts and companies are linked to their pages, all others to their events. */
function GroupLabel({ search, dimension, bucket }: GroupLabelProps) {
  const { key } = bucket
  if (dimension === 'contact_id') return <ContactGroup search={search} bucket={bucket} />
  if (dimension === 'company_id') return <CompanyGroup search={search} bucket={bucket} />
  const name = nameOf(dimension, key)
  return (
    <Tooltip label={String(key)} disabled={name === null || name === key || dimension === 'is_bot'}>
      <span>
        <GroupLink search={search} bucket={key} name={name} />
      </span>
    </Tooltip>
  )
}

type NamedGroupProps = Omit<GroupLabelProps, 'dimension'>

function ContactGroup({ search, bucket: { key, contact } }: NamedGroupProps) {
  if (!contact) return <GroupLink search={search} bucket={key} name={words.deletedContact} />
  const { _id: contactId, email } = contact
  const called = [contact.firstname, contact.lastname].filter(Boolean).join(' ')
  const name = called || email || words.unnamed
  return (
    <>
      <AnchorLink inherit to="/contacts/$contactId" params={{ contactId }}>
        <Foreign max={120}>{name}</Foreign>
      </AnchorLink>
      {called && email ? (
        <Text span size="xs" c="dimmed">
          {' '}
          <Foreign max={120}>{email}</Foreign>
        </Text>
      ) : null}
      <EventsOfGroup search={search} bucket={key} name={name} />
    </>
  )
}

function CompanyGroup({ search, bucket: { key, company } }: NamedGroupProps) {
  if (!company) return <GroupLink search={search} bucket={key} name={words.deletedCompany} />
  const name = company.name ?? company.domain ?? words.unnamed
  return (
    <>
      <AnchorLink inherit to="/companies/$companyId" params={{ companyId: company._id }}>
        <Foreign max={120}>{name}</Foreign>
      </AnchorLink>
      <EventsOfGroup search={search} bucket={key} name={name} />
    </>
  )
}

function EventsOfGroup({ search, bucket, name }: GroupLinkProps & { name: string }) {
  const events = eventsOfGroup(search, bucket)
  if (!events) return null
  return (
    <Text span size="xs" ml="xs" td="underline" data-beside>
      <EventsLink search={events} label={words.seeEventsOf(name)}>
        {words.seeEvents}
      </EventsLink>
    </Text>
  )
}

interface GroupLinkProps {
  search: EventGroupSearch
  bucket: Key
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

function nameOf(dimension: Dimension, key: Key): string | null {
  if (typeof key === 'boolean') return key ? words.bots : words.people
  if (key === '' || key === null) return null
  return dimension === 'event_type' ? eventLabel(String(key)) : String(key)
}
