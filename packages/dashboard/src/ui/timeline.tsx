import { Button, Card, Group, NativeSelect, SegmentedControl, Stack, Text, Title } from '@mantine/core'
import { useIntersection } from '@mantine/hooks'
import { IconActivity } from '@tabler/icons-react'
import { type UseInfiniteQueryResult, useInfiniteQuery, useQuery } from '@tanstack/react-query'
import { type ReactNode, useEffect } from 'react'
import { queryOf } from '../api/operation.ts'
import type { Event, GetTimelineResult } from '../api/types.ts'
import { formatIn } from '../session/time-zone.ts'
import { EventRow } from './event-row.tsx'
import { eventLabel } from './event-words.ts'
import { withPageTimes } from './page-times.ts'
import { EmptyState, ErrorState, LoadingState } from './states.tsx'
import { text } from './text.ts'
import classes from './timeline.module.css'
import { type TimelineSubject, timelineEventsQuery, timelineQuery } from './timeline-query.ts'
import { VisitRow } from './visit-row.tsx'

const words = text.timeline
/** So few visits are shown with their events. */
const VISITS_SHOWN = 5

export interface TimelineSearch {
  /** Whether it shows each event; otherwise, each visit. */
  view?: 'events' | undefined
  /** Shows only events of this type. */
  event_type?: string | undefined
}

/** A line of the story that is no event. */
export interface StoryLine {
  key: string
  at: string
  row: ReactNode
}

interface TimelineProps {
  subject: TimelineSubject
  /** What else happened to the subject, such as a merge. */
  others?: readonly StoryLine[]
  search: TimelineSearch
  onSearch: (search: TimelineSearch) => void
}

/** What a contact, or the contacts of a company, did: by day, newest first; more is loaded near the end. */
export function Timeline({ subject, others = [], search: { view, event_type: eventType }, onSearch }: TimelineProps) {
  const types = useQuery(queryOf('listEventTypes'))
  const isByVisit = view !== 'events' && eventType === undefined
  const choices = [...new Set([...(eventType === undefined ? [] : [eventType]), ...(types.data?.types ?? [])])]
  const chooser = (
    <Group gap="xs">
      {isByVisit ? null : (
        <NativeSelect
          size="xs"
          aria-label={words.whichEvents}
          value={eventType ?? ''}
          onChange={({ currentTarget: { value } }) => onSearch({ view: 'events', event_type: value || undefined })}
          data={[
            { value: '', label: words.allEvents },
            ...choices.map((name) => ({ value: name, label: eventLabel(name) })),
          ]}
        />
      )}
      <SegmentedControl
        size="xs"
        aria-label={words.view}
        data={words.views}
        value={isByVisit ? 'visits' : 'events'}
        onChange={(next) => onSearch({ view: next === 'events' ? 'events' : undefined, event_type: undefined })}
      />
    </Group>
  )
  const withName = 'companyId' in subject
  if (isByVisit) return <VisitLines subject={subject} others={others} chooser={chooser} withName={withName} />
  return <EventLines subject={subject} eventType={eventType} chooser={chooser} withName={withName} />
}

interface LinesProps {
  subject: TimelineSubject
  chooser: ReactNode
  withName: boolean
}

/** Visits, and the events outside visits. */
function VisitLines({ subject, others, chooser, withName }: LinesProps & { others: readonly StoryLine[] }) {
  const query = useInfiniteQuery(timelineQuery(subject))
  const items = query.data?.pages.flatMap((page) => page.items) ?? []
  const total = query.data?.pages[0]?.pagination.total_items ?? 0
  // The whole story of someone who was here a few times fits on the page.
  const visits = items.filter(({ kind }) => kind === 'visit').length
  const isShort = visits <= VISITS_SHOWN && !query.hasNextPage && !withName
  const lines = unique(items, keyOf).map(
    (item): StoryLine => ({
      key: keyOf(item),
      at: item.kind === 'visit' ? item.visit.started_at : item.event.timestamp,
      row:
        item.kind === 'visit' ? (
          <VisitRow visit={item.visit} withName={withName} isOpenAtFirst={isShort} />
        ) : (
          <EventRow event={item.event} withName={withName} />
        ),
    }),
  )
  return (
    <Days
      query={query}
      chooser={chooser}
      total={words.entries(total)}
      empty={words.nothingYet}
      rows={withOthers(lines, others, query.hasNextPage)}
    />
  )
}

function EventLines({ subject, eventType, chooser, withName }: LinesProps & { eventType: string | undefined }) {
  const query = useInfiniteQuery(timelineEventsQuery(subject, eventType))
  const events = query.data?.pages.flatMap((page) => page.events) ?? []
  const total = query.data?.pages[0]?.pagination.total_items ?? 0
  const shown = unique(events, ({ event_id }: Event) => event_id)
  return (
    <Days
      query={query}
      chooser={chooser}
      total={words.events(total)}
      empty={eventType === undefined ? words.nothingYet : words.noneOfType}
      rows={withPageTimes(shown).map((event) => ({
        key: event.event_id,
        at: event.timestamp,
        row: <EventRow event={event} withName={withName} />,
      }))}
    />
  )
}

interface DaysProps {
  query: Pick<
    UseInfiniteQueryResult<unknown>,
    'data' | 'error' | 'isPending' | 'refetch' | 'hasNextPage' | 'isFetchingNextPage' | 'fetchNextPage'
  >
  chooser: ReactNode
  total: string
  empty: string
  rows: readonly StoryLine[]
}

function Days({ query, chooser, total, empty, rows }: DaysProps) {
  const { data, error, isPending, refetch, hasNextPage, isFetchingNextPage, fetchNextPage } = query
  const { ref, entry } = useIntersection({ rootMargin: '400px' })
  const isNear = entry?.isIntersecting === true
  useEffect(() => {
    if (isNear && hasNextPage && !isFetchingNextPage) void fetchNextPage()
  }, [isNear, hasNextPage, isFetchingNextPage, fetchNextPage])
  return (
    <Stack gap="md">
      <Group justify="space-between">
        <Text size="sm" c="dimmed" role="status">
          {data ? total : ''}
        </Text>
        {chooser}
      </Group>
      {isPending ? <LoadingState lines={8} /> : null}
      {error && !data ? <ErrorState error={error} onRetry={refetch} /> : null}
      {data && rows.length === 0 ? (
        <EmptyState icon={IconActivity} title={words.none}>
          {empty}
        </EmptyState>
      ) : null}
      <DayCards rows={rows} />
      {error && data ? <ErrorState error={error} onRetry={fetchNextPage} /> : null}
      {hasNextPage ? (
        <Button ref={ref} variant="default" loading={isFetchingNextPage} onClick={() => fetchNextPage()}>
          {words.earlier}
        </Button>
      ) : null}
    </Stack>
  )
}

/** Rows under the day on which they happened. */
export function DayCards({ rows }: Pick<DaysProps, 'rows'>) {
  return [...byDay(rows, ({ at }) => at)].map(([day, ofDay]) => (
    <Card key={day} component="section" aria-label={day} className={classes.day} padding={0}>
      <Title order={2} className={classes.heading}>
        {day}
      </Title>
      <ul className={classes.list}>
        {ofDay.map(({ key, row }) => (
          <Keyed key={key}>{row}</Keyed>
        ))}
      </ul>
    </Card>
  ))
}

const DAY = formatIn({ weekday: 'long', day: 'numeric', month: 'long', year: 'numeric' })

/** Items by days in the reader's time zone, in their order. */
function byDay<Item>(items: readonly Item[], timeOf: (item: Item) => string): Map<string, Item[]> {
  return Map.groupBy(items, (item) => DAY(new Date(timeOf(item))))
}

/** Lines with others among them, newest first; those before the oldest line come with the page that reaches them. */
function withOthers(lines: StoryLine[], others: readonly StoryLine[], hasMore: boolean): StoryLine[] {
  if (others.length === 0) return lines
  const oldest = lines.at(-1)?.at ?? ''
  const reached = others.filter(({ at }) => !hasMore || Date.parse(at) >= Date.parse(oldest))
  return [...lines, ...reached].toSorted((a, b) => Date.parse(b.at) - Date.parse(a.at))
}

function Keyed({ children }: { children: ReactNode }) {
  return children
}

function keyOf(item: GetTimelineResult['items'][number]): string {
  return item.kind === 'event' ? item.event.event_id : JSON.stringify([item.visit.visitor_id, item.visit.session_id])
}

/** A page may repeat what the previous one had, if something was recorded in between. */
function unique<Item>(items: readonly Item[], keyOf: (item: Item) => string): Item[] {
  return [...new Map(items.map((item) => [keyOf(item), item])).values()]
}
