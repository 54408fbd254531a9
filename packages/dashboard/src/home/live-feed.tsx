import { Button, Card, Group, Text, ThemeIcon, Title } from '@mantine/core'
import { IconPlayerPause, IconPlayerPlay } from '@tabler/icons-react'
import { useQuery } from '@tanstack/react-query'
import { useEffect, useState } from 'react'
import { type LiveEvent, toLiveEvent, watchEvents } from '../api/live.ts'
import { queryOf } from '../api/operation.ts'
import { eventIcon, eventLine, isKnown } from '../ui/event-words.ts'
import { AnchorLink } from '../ui/link.tsx'
import { PersonAvatar } from '../ui/person-avatar.tsx'
import { ErrorState, LoadingState } from '../ui/states.tsx'
import { Foreign, Moment, placeOf } from '../ui/text.tsx'
import classes from './live-feed.module.css'
import { FEED_EVENTS, FEED_LENGTH } from './overview.ts'
import { type Person, peopleOf } from './people.ts'
import { text as texts } from './text.ts'

const text = texts.live

/** The delay before contacts' names are fetched, so that many events share one request. */
const NAMES_MS = 3_000

/** Who is on the sites and what they do, as it happens, with a pause button. */
export function LiveFeed() {
  const latest = useQuery(queryOf('listEvents', { limit: FEED_EVENTS }))
  const [arrived, setArrived] = useState<LiveEvent[]>([])
  const [isConnected, setConnected] = useState(false)
  const [isPaused, setPaused] = useState(false)
  const { refetch } = latest
  useEffect(() => {
    if (isPaused) return
    let wasLost = false
    const connect = (isOpen: boolean) => {
      setConnected(isOpen)
      // Others were recorded meanwhile.
      if (isOpen && wasLost) void refetch()
      wasLost = !isOpen
    }
    const add = (event: LiveEvent) => setArrived((before) => [event, ...before].slice(0, FEED_EVENTS))
    const stop = watchEvents(add, connect)
    return () => {
      stop()
      // Otherwise the feed would say that it is live again before it is.
      setConnected(false)
    }
  }, [isPaused, refetch])
  const read = (latest.data?.events ?? []).map(toLiveEvent)
  const names = new Map(read.map(({ contact_id, contact_name }) => [contact_id, contact_name]))
  const seen = new Set(arrived.map(({ event_id }) => event_id))
  const events = [...arrived, ...read.filter(({ event_id }) => !seen.has(event_id))]
    .slice(0, FEED_EVENTS)
    .map((event) => ({ ...event, contact_name: event.contact_name ?? names.get(event.contact_id) }))
  // Live events have no contact names; fetched events do.
  const isNameless = events.some(({ contact_id, contact_name }) => contact_id !== null && contact_name === undefined)
  useEffect(() => {
    if (!isNameless) return
    const timer = setInterval(() => void refetch(), NAMES_MS)
    return () => clearInterval(timer)
  }, [isNameless, refetch])
  const people = peopleOf(events).slice(0, FEED_LENGTH)
  const isLive = isConnected && !isPaused
  return (
    <Card>
      <Group justify="space-between" mb="xs" wrap="nowrap">
        <Group gap={8}>
          <span className={classes.light} data-live={isLive} aria-hidden />
          <Title order={2} size="h5">
            {text.title}
          </Title>
          <Text size="xs" c="dimmed" role="status">
            {isPaused ? text.paused : isConnected ? '' : text.connecting}
          </Text>
        </Group>
        <Button
          variant="subtle"
          color="gray"
          size="compact-xs"
          leftSection={isPaused ? <IconPlayerPlay size={14} aria-hidden /> : <IconPlayerPause size={14} aria-hidden />}
          onClick={() => setPaused(!isPaused)}
        >
          {isPaused ? text.resume : text.pause}
        </Button>
      </Group>
      {latest.error && events.length === 0 ? <ErrorState error={latest.error} onRetry={latest.refetch} /> : null}
      {latest.isPending ? <LoadingState lines={6} /> : null}
      <ul className={classes.list} aria-label={text.label}>
        {people.map((person) => (
          <FeedRow
            // Someone who does something else comes in again.
            key={seen.has(person.latest.event_id) ? person.latest.event_id : person.key}
            person={person}
            isNew={seen.has(person.latest.event_id)}
          />
        ))}
      </ul>
      {latest.data && people.length === 0 ? (
        <Text size="sm" c="dimmed">
          {text.empty}
        </Text>
      ) : null}
    </Card>
  )
}

function FeedRow({ person: { latest: event, at, steps }, isNew }: { person: Person; isNew: boolean }) {
  const Icon = eventIcon(event.event)
  const { contact_id: contactId, contact_name: name, url } = event
  const what = eventLine({ ...event, data: { title: event.title, text: event.text } })
  const where = !isKnown(event.event) && url !== null ? placeOf(url) : null
  return (
    <li className={classes.row} data-new={isNew}>
      {contactId === null ? (
        <ThemeIcon size={28} radius="xl" variant="light" color="gray" aria-hidden>
          <Icon size={16} stroke={1.6} />
        </ThemeIcon>
      ) : (
        <PersonAvatar size={28} name={name ?? ''} />
      )}
      <div className={classes.words}>
        <Text size="sm" truncate fw={contactId === null ? 400 : 550}>
          <Who event={event} />
        </Text>
        <Text size="xs" c="dimmed" truncate>
          <Foreign max={160}>{text.did(what, where, steps)}</Foreign>
        </Text>
      </div>
      <Moment at={at} size="xs" c="dimmed" className={classes.time} />
    </li>
  )
}

function Who({ event: { contact_id: contactId, contact_name: name, visitor_id: visitorId } }: { event: LiveEvent }) {
  if (contactId !== null) {
    return (
      <AnchorLink inherit to="/contacts/$contactId" params={{ contactId }}>
        {name ? <Foreign max={60}>{name}</Foreign> : text.contact}
      </AnchorLink>
    )
  }
  if (visitorId === null) return text.anonymous
  return (
    <AnchorLink inherit to="/visitors/$visitorId" params={{ visitorId }}>
      {text.anonymous}
    </AnchorLink>
  )
}
