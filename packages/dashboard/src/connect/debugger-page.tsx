import { Button, Card, Group, SegmentedControl, Switch, Text, TextInput } from '@mantine/core'
import { IconPlayerPause, IconPlayerPlay, IconSearch } from '@tabler/icons-react'
import { getRouteApi } from '@tanstack/react-router'
import { useState } from 'react'
import { PageHeader } from '../ui/page-header.tsx'
import { ErrorState, LoadingState } from '../ui/states.tsx'
import { ArrivalLine, eventTitle, problemTitle } from './arrival-line.tsx'
import classes from './connect.module.css'
import { RefusedPages } from './refused-pages.tsx'
import { text } from './text.ts'
import { type Arrival, useArrivals } from './use-arrivals.ts'

const route = getRouteApi('/shell/connect/debugger')
const words = text.debugger

/** What sites send, as it arrives, with the reason where it was rejected. */
export function DebuggerPage() {
  const { filter = '', show = 'all', raw = false } = route.useSearch()
  const navigate = route.useNavigate()
  const change = (changes: {
    filter?: string | undefined
    show?: 'events' | 'problems' | undefined
    raw?: true | undefined
  }) => navigate({ search: (before) => ({ ...before, ...changes }), replace: true })
  const { arrivals, isConnected, isPending, error, refetch, clear } = useArrivals()
  // While it is paused, the list stays as it was.
  const [paused, setPaused] = useState<readonly Arrival[] | null>(null)
  const shown = (paused ?? arrivals).filter((arrival) => matches(arrival, filter, show))
  const known = new Set((paused ?? []).map(({ id }) => id))
  const waiting = paused === null ? 0 : arrivals.filter(({ id }) => !known.has(id)).length
  const isLive = isConnected && paused === null
  return (
    <>
      <PageHeader title={words.title} description={words.description} />
      <Group gap="xs" mb="md">
        <TextInput
          flex="1 1 240px"
          leftSection={<IconSearch size={16} aria-hidden />}
          aria-label={words.filter}
          placeholder={words.filter}
          value={filter}
          onChange={(event) => change({ filter: event.currentTarget.value || undefined })}
        />
        <SegmentedControl
          aria-label={words.show}
          value={show}
          onChange={(value) => change({ show: value === 'events' || value === 'problems' ? value : undefined })}
          data={[
            { value: 'all', label: words.all },
            { value: 'events', label: words.events },
            { value: 'problems', label: words.problems },
          ]}
        />
        <Switch
          label={words.rawNames}
          checked={raw}
          onChange={(event) => change({ raw: event.currentTarget.checked || undefined })}
        />
        <Button
          variant="default"
          leftSection={
            paused === null ? <IconPlayerPause size={16} aria-hidden /> : <IconPlayerPlay size={16} aria-hidden />
          }
          onClick={() => setPaused(paused === null ? arrivals : null)}
        >
          {paused === null ? words.pause : words.resume}
        </Button>
        <Button variant="default" onClick={clear}>
          {words.clear}
        </Button>
      </Group>
      <RefusedPages />
      <Card>
        <Group gap={8} mb="xs" role="status">
          <span className={classes.light} data-on={isLive} aria-hidden />
          <Text size="xs" c="dimmed">
            {paused !== null ? words.paused(waiting) : isConnected ? words.live : words.connecting}
          </Text>
        </Group>
        {error && shown.length === 0 ? <ErrorState error={error} onRetry={refetch} /> : null}
        {isPending ? <LoadingState lines={8} /> : null}
        <ul className={classes.list} aria-label={words.list}>
          {shown.map((arrival) => (
            <ArrivalLine key={arrival.id} arrival={arrival} withRawNames={raw} />
          ))}
        </ul>
        {!isPending && !error && shown.length === 0 ? (
          <Text size="sm" c="dimmed">
            {arrivals.length === 0 ? words.nothing : words.noMatch}
          </Text>
        ) : null}
      </Card>
      <Text size="xs" c="dimmed" mt="xs">
        {words.kept}
      </Text>
    </>
  )
}

function matches(arrival: Arrival, filter: string, show: 'all' | 'events' | 'problems'): boolean {
  if (show === 'events' && arrival.kind !== 'event') return false
  if (show === 'problems' && arrival.kind !== 'problem') return false
  const sought = filter.trim().toLowerCase()
  if (sought === '') return true
  const fields =
    arrival.kind === 'event'
      ? [
          eventTitle(arrival.event),
          arrival.event.event,
          arrival.event.url,
          arrival.event.title,
          arrival.event.visitor_id,
        ]
      : [
          problemTitle(arrival.problem),
          arrival.problem.code,
          arrival.problem.path,
          arrival.problem.page_host,
          arrival.problem.visitor_id,
        ].concat(arrival.problem.messages)
  return fields.some((field) => field?.toLowerCase().includes(sought))
}
