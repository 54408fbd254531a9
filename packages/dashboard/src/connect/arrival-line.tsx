import { Badge, Button, Code, Group, Text } from '@mantine/core'
import { IconAlertTriangle, IconBan } from '@tabler/icons-react'
import { useQuery } from '@tanstack/react-query'
import { useState } from 'react'
import type { LiveEvent } from '../api/live.ts'
import { queryOf } from '../api/operation.ts'
import type { RequestProblem } from '../api/types.ts'
import { CopyButton } from '../ui/copy-button.tsx'
import { eventIcon, eventLine } from '../ui/event-words.ts'
import { AnchorLink } from '../ui/link.tsx'
import { ErrorState, LoadingState } from '../ui/states.tsx'
import { Foreign, Moment, placeOf } from '../ui/text.tsx'
import classes from './connect.module.css'
import { text } from './text.ts'
import type { Arrival } from './use-arrivals.ts'

const words = text.debugger
/** The code of a request that was refused because of its page's domain. */
const REFUSED = 'domain_not_allowed'

/** An event or a problem; opening it shows the whole of it as JSON. */
export function ArrivalLine({ arrival, withRawNames }: { arrival: Arrival; withRawNames: boolean }) {
  const [isOpen, setOpen] = useState(false)
  return (
    <li className={classes.line}>
      <Group gap="sm" wrap="nowrap" align="flex-start">
        {arrival.kind === 'event' ? (
          <EventSummary event={arrival.event} withRawNames={withRawNames} />
        ) : (
          <ProblemSummary problem={arrival.problem} withRawNames={withRawNames} />
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

/** An event in the words of the other pages. */
export function eventTitle({ title, text: element, ...event }: LiveEvent): string {
  return eventLine({ ...event, data: { title, text: element } })
}

function EventSummary({ event, withRawNames }: { event: LiveEvent; withRawNames: boolean }) {
  const Icon = eventIcon(event.event)
  const { url, visitor_id: visitorId } = event
  return (
    <>
      <Icon size={17} stroke={1.6} aria-hidden />
      <div className={classes.what}>
        <Group gap={8}>
          <AnchorLink size="sm" to="/events/$eventId" params={{ eventId: event.event_id }}>
            <Foreign max={160}>{eventTitle(event)}</Foreign>
          </AnchorLink>
          {withRawNames ? (
            <Code>
              <Foreign max={100}>{event.event}</Foreign>
            </Code>
          ) : null}
          {event.is_bot ? (
            <Badge size="xs" variant="default">
              {words.bot}
            </Badge>
          ) : null}
        </Group>
        <Text size="xs" c="dimmed">
          {url === null ? null : <Foreign max={200}>{withRawNames ? url : placeOf(url)}</Foreign>}
          {url === null || visitorId === null ? null : ' · '}
          {visitorId === null ? null : <Sender event={event} visitorId={visitorId} />}
          {withRawNames && visitorId !== null ? <Foreign max={60}>{` ${visitorId}`}</Foreign> : null}
        </Text>
      </div>
    </>
  )
}

/** Who sent an event. */
function Sender({ event: { contact_id: contactId, contact_name: name }, visitorId }: SenderProps) {
  return contactId === null ? (
    <AnchorLink inherit c="dimmed" to="/visitors/$visitorId" params={{ visitorId }}>
      {words.anonymous}
    </AnchorLink>
  ) : (
    <AnchorLink inherit c="dimmed" to="/contacts/$contactId" params={{ contactId }}>
      {name ? <Foreign max={60}>{name}</Foreign> : words.contact}
    </AnchorLink>
  )
}

interface SenderProps {
  event: LiveEvent
  visitorId: string
}

/** What happened to a request, in a sentence. */
export function problemTitle({ code, status, page_host: host }: RequestProblem): string {
  if (code === REFUSED && host !== null) return words.refused(host)
  const what = words.request(host)
  return status >= 400 ? words.rejected(what) : words.warned(what)
}

function ProblemSummary({ problem, withRawNames }: { problem: RequestProblem; withRawNames: boolean }) {
  const isRejected = problem.status >= 400 || problem.code === REFUSED
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
            <Foreign max={300}>{problemTitle(problem)}</Foreign>
          </Text>
          {withRawNames ? (
            <>
              <Code>{problem.code}</Code>
              <Text size="xs" c="dimmed">
                <Foreign max={200}>{`${problem.method} ${problem.path} ${problem.status}`}</Foreign>
              </Text>
            </>
          ) : null}
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
  const { data, error, refetch } = useQuery(queryOf('getEvent', { event_id: eventId }))
  if (data) return <Json value={data.event} />
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
