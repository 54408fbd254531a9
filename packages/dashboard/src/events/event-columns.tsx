import { Anchor, Badge } from '@mantine/core'
import { Link } from '@tanstack/react-router'
import type { Event } from '../api/event-explorer.ts'
import type { Column } from '../ui/data-table.tsx'
import { ExternalLink, Foreign, Moment, None } from '../ui/text.tsx'

type TextKey = {
  [Key in keyof Event]: Event[Key] extends string | null ? Key : never
}[keyof Event]

const field = (id: TextKey, header: string, more: Partial<Column<Event>> = {}): Column<Event> => ({
  id,
  header,
  cell: (event) => <Text value={event[id]} />,
  ...more,
})

/** The available columns of the list of events. */
export const EVENT_COLUMNS: Column<Event>[] = [
  {
    id: 'event',
    header: 'Event',
    sortBy: 'event',
    cell: ({ event, event_id }) => (
      <Anchor
        fw={550}
        inherit
        renderRoot={(props) => <Link to="/events/$eventId" params={{ eventId: event_id }} {...props} />}
      >
        <Foreign max={80}>{event}</Foreign>
      </Anchor>
    ),
  },
  {
    id: 'timestamp',
    header: 'When',
    sortBy: 'timestamp',
    cell: ({ timestamp }) => <Moment at={timestamp} c="dimmed" />,
  },
  {
    id: 'url',
    header: 'Address',
    visibleFrom: 'sm',
    cell: ({ url }) => (url === null ? <None /> : <ExternalLink url={url} />),
  },
  { id: 'contact', header: 'Contact', cell: (event) => <Who event={event} /> },
  {
    id: 'title',
    header: 'Title or text',
    visibleFrom: 'lg',
    cell: ({ data }) => <Text value={firstText(data.title, data.text)} />,
  },
  field('device_type', 'Device', { visibleFrom: 'lg' }),
  field('browser', 'Browser'),
  field('os', 'Operating system'),
  field('domain', 'Domain'),
  field('referring_domain', 'Referred by'),
  field('visitor_id', 'Visitor'),
  field('session_id', 'Session'),
  field('analytics_user_id', 'Analytics user id'),
  {
    id: 'is_bot',
    header: 'Bot',
    cell: ({ is_bot }) => (is_bot ? <Badge color="orange">bot</Badge> : <None />),
  },
  {
    id: 'origin_mismatch',
    header: 'Sent from',
    cell: ({ origin_mismatch }) => (origin_mismatch ? <Badge color="orange">different host</Badge> : <None />),
  },
  {
    id: 'createdAt',
    header: 'Received',
    sortBy: 'createdAt',
    cell: ({ createdAt }) => <Moment at={createdAt} c="dimmed" />,
  },
]

export const DEFAULT_EVENT_COLUMNS = ['event', 'timestamp', 'url', 'contact', 'title', 'device_type']

/** The contact of an event; otherwise the visitor is anonymous. */
export function Who({ event: { internal_contact_id: contactId, contact } }: { event: Event }) {
  if (contactId === null) return <Badge color="gray">anonymous</Badge>
  if (contact === null) return <Badge color="gray">deleted contact</Badge>
  const name = [contact.firstname, contact.lastname].filter(Boolean).join(' ') || contact.email || 'Unnamed'
  return (
    <Anchor inherit renderRoot={(props) => <Link to="/contacts/$contactId" params={{ contactId }} {...props} />}>
      <Foreign max={80}>{name}</Foreign>
    </Anchor>
  )
}

function Text({ value }: { value: string | null }) {
  return value === null || value === '' ? <None /> : <Foreign max={120}>{value}</Foreign>
}

function firstText(...values: unknown[]): string | null {
  return values.find((value): value is string => typeof value === 'string' && value !== '') ?? null
}
