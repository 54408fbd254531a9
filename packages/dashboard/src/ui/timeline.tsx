import { Anchor, Button, Card, Group, NativeSelect, Stack, Text, Title } from '@mantine/core'
import { useIntersection } from '@mantine/hooks'
import { IconActivity } from '@tabler/icons-react'
import { useInfiniteQuery, useQuery } from '@tanstack/react-query'
import { Link } from '@tanstack/react-router'
import { useEffect } from 'react'
import { type CustomerEvent, eventTypesQuery, type TimelineSubject, timelineQuery } from '../api/events.ts'
import { eventDetails } from './event-details.ts'
import { eventIcon, eventWords } from './event-words.ts'
import { formatMoment, formatNumber } from './format.ts'
import { EmptyState, ErrorState, LoadingState } from './states.tsx'
import { ExternalLink, Foreign, placeOf } from './text.tsx'
import classes from './timeline.module.css'

interface TimelineProps {
  subject: TimelineSubject
  eventType: string | undefined
  onEventType: (type: string | undefined) => void
}

/** Events by day, newest first; more are loaded near the end. */
export function Timeline({ subject, eventType, onEventType }: TimelineProps) {
  const timeline = useInfiniteQuery(timelineQuery(subject, eventType))
  const types = useQuery(eventTypesQuery)
  const { ref, entry } = useIntersection({ rootMargin: '400px' })
  const { hasNextPage, isFetchingNextPage, fetchNextPage } = timeline
  const isNear = entry?.isIntersecting === true
  useEffect(() => {
    if (isNear && hasNextPage && !isFetchingNextPage) void fetchNextPage()
  }, [isNear, hasNextPage, isFetchingNextPage, fetchNextPage])

  const events = timeline.data?.pages.flatMap((page) => page.events) ?? []
  const total = timeline.data?.pages[0]?.pagination.total_items ?? 0
  return (
    <Stack gap="md">
      <Group justify="space-between">
        <Text size="sm" c="dimmed" role="status">
          {timeline.data ? `${formatNumber(total)} ${total === 1 ? 'event' : 'events'}` : ''}
        </Text>
        <NativeSelect
          size="xs"
          aria-label="Which events"
          value={eventType ?? ''}
          onChange={({ currentTarget: { value } }) => onEventType(value === '' ? undefined : value)}
          data={[
            { value: '', label: 'All events' },
            ...new Set([...(eventType === undefined ? [] : [eventType]), ...(types.data?.types ?? [])]),
          ]}
        />
      </Group>
      {timeline.isPending ? <LoadingState lines={8} /> : null}
      {timeline.error && !timeline.data ? <ErrorState error={timeline.error} onRetry={timeline.refetch} /> : null}
      {timeline.data && events.length === 0 ? (
        <EmptyState icon={IconActivity} title="No events">
          {eventType === undefined ? 'Nothing has been recorded yet.' : 'No event of this type has been recorded.'}
        </EmptyState>
      ) : null}
      {[...byDay(events)].map(([day, ofDay]) => (
        <Card key={day} component="section" aria-label={day} className={classes.day} padding={0}>
          <Title order={2} className={classes.heading}>
            {day}
          </Title>
          <ul className={classes.list}>
            {ofDay.map((event) => (
              <TimelineRow key={event.event_id} event={event} withName={'companyId' in subject} />
            ))}
          </ul>
        </Card>
      ))}
      {timeline.error && timeline.data ? <ErrorState error={timeline.error} onRetry={fetchNextPage} /> : null}
      {hasNextPage ? (
        <Button ref={ref} variant="default" loading={isFetchingNextPage} onClick={() => fetchNextPage()}>
          Earlier events
        </Button>
      ) : null}
    </Stack>
  )
}

function TimelineRow({ event, withName }: { event: CustomerEvent; withName: boolean }) {
  const { event: name, data, url, timestamp, browser, device_type: device } = event
  const Icon = eventIcon(name)
  const what = eventDetails(name, data)
  const where = [browser, device].filter(Boolean).join(', ')
  return (
    <li className={classes.row}>
      <span className={classes.icon} aria-hidden>
        <Icon size={16} stroke={1.7} />
      </span>
      <div className={classes.words}>
        <Text size="sm">
          {withName && event.contact ? <ContactLink contact={event.contact} /> : null}
          <Text span inherit fw={550}>
            <Foreign max={200}>{eventWords(name)}</Foreign>
          </Text>
          {what ? (
            <>
              {' · '}
              <Foreign max={160}>{what}</Foreign>
            </>
          ) : null}
        </Text>
        <Text size="xs" c="dimmed" className={classes.where}>
          {url ? <PlaceLink url={url} /> : null}
          {url && where ? ' · ' : ''}
          {where}
        </Text>
      </div>
      <Text component="time" dateTime={timestamp} title={formatMoment(timestamp)} size="xs" c="dimmed" flex="none">
        {TIME.format(new Date(timestamp))}
      </Text>
    </li>
  )
}

function PlaceLink({ url }: { url: string }) {
  return (
    <ExternalLink url={url}>
      <Foreign max={120}>{placeOf(url)}</Foreign>
    </ExternalLink>
  )
}

function ContactLink({ contact }: { contact: NonNullable<CustomerEvent['contact']> }) {
  const name = [contact.firstname, contact.lastname].filter(Boolean).join(' ') || contact.email || 'A contact'
  return (
    <>
      <Anchor
        inherit
        renderRoot={(props) => <Link to="/contacts/$contactId" params={{ contactId: contact._id }} {...props} />}
      >
        <Foreign max={80}>{name}</Foreign>
      </Anchor>
      {' · '}
    </>
  )
}

const TIME = new Intl.DateTimeFormat(undefined, { hour: '2-digit', minute: '2-digit' })
const DAY = new Intl.DateTimeFormat(undefined, { weekday: 'long', day: 'numeric', month: 'long', year: 'numeric' })

/** By days in the reader's time zone. */
function byDay(events: readonly CustomerEvent[]): Map<string, CustomerEvent[]> {
  const seen = new Set<string>()
  const days = new Map<string, CustomerEvent[]>()
  for (const event of events) {
    if (seen.has(event.event_id)) continue
    seen.add(event.event_id)
    const day = DAY.format(new Date(event.timestamp))
    const ofDay = days.get(day)
    if (ofDay) ofDay.push(event)
    else days.set(day, [event])
  }
  return days
}
