import { Badge, Button, Code, Group, Text } from '@mantine/core'
import { IconAlertTriangle, IconBan } from '@tabler/icons-react'
import { useQuery } from '@tanstack/react-query'
import { useState } from 'react'
import { eventQuery } from '../api/event-explorer.ts'
import type { LiveEvent } from '../api/live.ts'
import type { RequestProblem } from '../api/problems.ts'
import { CopyButton } from '../ui/copy-button.tsx'
import { eventIcon } from '../ui/event-words.ts'
import { AnchorLink } from '../ui/link.tsx'
import { ErrorState, LoadingState } from '../ui/states.tsx'
import { Foreign, Moment } from '../ui/text.tsx'
import classes from './connect.module.css'
import { text } from './text.ts'
import type { Arrival } from './use-arrivals.ts'

const words = text.debugger

/** An event or a problem; opening it shows the whole of it as JSON. */
export function ArrivalLine({ arrival }: { arrival: Arrival }) {
  const [isOpen, setOpen] = useState(false)
  return (
    <li className={classes.line}>
      <Group gap="sm" wrap="nowrap" align="flex-start">
        {arrival.kind === 'event' ? (
          <EventSummary event={arrival.event} />
        ) : (
          <ProblemSummary problem={arrival.problem} />
        )}
        <Moment at={arrival.at} size="xs" c="dimmed" flex="none" mt={3} />
        <Button
          variant="subtle"
          color="gray"
          size="compact-xs"
          flex="none"
          aria-expanded={isOpen}
          onClick={() => setOpen(!isOpen)}
        >
          {words.raw}
        </Button>
      </Group>
      {isOpen && arrival.kind === 'event' ? <WholeEvent eventId={arrival.id} /> : null}
      {isOpen && arrival.kind === 'problem' ? <Json value={withParsedBody(arrival.problem)} /> : null}
    </li>
  )
}

function EventSummary({ event }: { event: LiveEvent }) {
  const Icon = eventIcon(event.event)
  return (
    <>
      <Icon size={17} stroke={1.6} aria-hidden />
      <div className={classes.what}>
        <Group gap={8}>
          <AnchorLink size="sm" to="/events/$eventId" params={{ eventId: event.event_id }}>
            <Foreign max={100}>{event.event}</Foreign>
          </AnchorLink>
          {event.is_bot ? (
            <Badge size="xs" variant="default">
              {words.bot}
            </Badge>
          ) : null}
        </Group>
        <Text size="xs" c="dimmed">
          {event.url === null ? null : <Foreign max={200}>{event.url}</Foreign>}
          {event.visitor_id === null ? null : (
            <>
              {event.url === null ? null : ' · '}
              <Foreign max={60}>{event.visitor_id}</Foreign>
            </>
          )}
        </Text>
      </div>
    </>
  )
}

function ProblemSummary({ problem }: { problem: RequestProblem }) {
  const isRejected = problem.status >= 400
  return (
    <>
      {isRejected ? (
        <IconBan size={17} stroke={1.6} aria-hidden color="var(--mantine-color-red-6)" />
      ) : (
        <IconAlertTriangle size={17} stroke={1.6} aria-hidden color="var(--mantine-color-yellow-7)" />
      )}
      <div className={classes.what}>
        <Group gap={8}>
          <Text size="sm" fw={550}>
            {isRejected ? words.rejected(problem.status) : words.warnings}
          </Text>
          <Code>{problem.code}</Code>
          <Text size="xs" c="dimmed">
            <Foreign max={200}>{`${problem.method} ${problem.path}`}</Foreign>
            {problem.page_host === null ? null : <Foreign max={200}>{` ${words.from(problem.page_host)}`}</Foreign>}
          </Text>
        </Group>
        {problem.messages.map((message) => (
          <Text key={message} size="sm">
            <Foreign max={500}>{message}</Foreign>
          </Text>
        ))}
        {problem.skipped > 0 ? (
          <Text size="xs" c="dimmed">
            {words.skipped(problem.skipped)}
          </Text>
        ) : null}
      </div>
    </>
  )
}

function WholeEvent({ eventId }: { eventId: string }) {
  const { data, error, refetch } = useQuery(eventQuery(eventId))
  if (data) return <Json value={data} />
  return error ? <ErrorState error={error} onRetry={refetch} /> : <LoadingState lines={6} />
}

function Json({ value }: { value: unknown }) {
  const json = JSON.stringify(value, null, 2)
  return (
    <Group gap="xs" align="flex-start" mt={6}>
      <Code block flex="1 1 260px" miw={0} mah={420} tabIndex={0} role="region" aria-label={words.raw}>
        {json}
      </Code>
      <CopyButton value={json} label={words.raw} />
    </Group>
  )
}

/** The body as an object, if it was not cut off. */
function withParsedBody(problem: RequestProblem): unknown {
  try {
    return { ...problem, body: JSON.parse(problem.body ?? 'null') }
  } catch {
    return problem
  }
}
