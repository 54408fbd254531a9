import { Badge, Text } from '@mantine/core'
import type { Event } from '../api/types.ts'
import type { Column } from '../ui/data-table.tsx'
import { eventLabel, eventLine } from '../ui/event-words.ts'
import { AnchorLink } from '../ui/link.tsx'
import { ExternalLink, Foreign, Moment, None } from '../ui/text.tsx'
import { text } from './text.ts'

const words = text.columns

type TextKey = {
  [Key in keyof Event]: Event[Key] extends string | null ? Key : never
}[keyof Event]

const field = (id: TextKey, header: string, more: Partial<Column<Event>> = {}): Column<Event> => ({
  id,
  header,
  cell: (event) => <Value value={event[id]} />,
  ...more,
})

/** The available columns of the list of events. */
export const EVENT_COLUMNS: Column<Event>[] = [
  {
    id: 'event',
    header: words.event,
    sortBy: 'event',
    cell: (row) => (
      <Text size="sm" component="div" miw={180}>
        <AnchorLink fw={550} inherit to="/events/$eventId" params={{ eventId: row.event_id }}>
          <Foreign max={120}>{eventLine(row)}</Foreign>
        </AnchorLink>
        {eventLabel(row.event) !== row.event ? (
          <Text size="xs" c="dimmed">
            {row.event}
          </Text>
        ) : null}
      </Text>
    ),
  },
  {
    id: 'timestamp',
    header: words.timestamp,
    sortBy: 'timestamp',
    cell: ({ timestamp }) => <Moment at={timestamp} c="dimmed" />,
  },
  {
    id: 'url',
    header: words.url,
    visibleFrom: 'sm',
    cell: ({ url }) =>
      url === null ? (
        <None />
      ) : (
        <Text size="sm" truncate maw={{ base: 240, xl: 340 }}>
          <ExternalLink url={url} />
        </Text>
      ),
  },
  { id: 'contact', header: words.contact, cell: (event) => <Who event={event} /> },
  {
    id: 'title',
    header: words.title,
    visibleFrom: 'lg',
    cell: ({ data }) => <Value value={textIn(data.title)} />,
  },
  { id: 'text', header: words.text, cell: ({ data }) => <Value value={textIn(data.text)} /> },
  field('device_type', words.device, { visibleFrom: 'lg' }),
  field('browser', words.browser),
  field('os', words.os),
  field('domain', words.domain),
  field('referring_domain', words.referring),
  field('utm_source', words.utm_source),
  field('utm_medium', words.utm_medium),
  field('utm_campaign', words.utm_campaign),
  field('utm_term', words.utm_term),
  field('utm_content', words.utm_content),
  field('country', words.country),
  field('region', words.region),
  field('city', words.city),
  field('visitor_id', words.visitor),
  field('session_id', words.session),
  field('analytics_user_id', words.analyticsUser),
  {
    id: 'is_bot',
    header: words.bot,
    cell: ({ is_bot }) => (is_bot ? <Badge color="orange">{words.isBot}</Badge> : <None />),
  },
  {
    id: 'origin_mismatch',
    header: words.mismatch,
    cell: ({ origin_mismatch }) => (origin_mismatch ? <Badge color="orange">{words.differentHost}</Badge> : <None />),
  },
  {
    id: 'createdAt',
    header: words.received,
    sortBy: 'createdAt',
    cell: ({ createdAt }) => <Moment at={createdAt} c="dimmed" />,
  },
]

export const DEFAULT_EVENT_COLUMNS = ['event', 'timestamp', 'url', 'contact', 'device_type']

/** The contact of an event; otherwise the visitor is anonymous. */
export function Who({ event: { internal_contact_id: contactId, contact } }: { event: Event }) {
  if (contactId === null) return <Badge color="gray">{words.anonymous}</Badge>
  if (contact === null) return <Badge color="gray">{words.deleted}</Badge>
  const name = [contact.firstname, contact.lastname].filter(Boolean).join(' ') || contact.email || words.unnamed
  return (
    <AnchorLink inherit to="/contacts/$contactId" params={{ contactId }}>
      <Foreign max={80}>{name}</Foreign>
    </AnchorLink>
  )
}

function Value({ value }: { value: string | null }) {
  return value === null || value === '' ? <None /> : <Foreign max={120}>{value}</Foreign>
}

function textIn(value: unknown): string | null {
  return typeof value === 'string' ? value : null
}
