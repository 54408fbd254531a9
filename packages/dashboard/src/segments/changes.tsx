import { Badge, Text } from '@mantine/core'
import { IconArrowsExchange } from '@tabler/icons-react'
import { useQuery } from '@tanstack/react-query'
import { queryOf } from '../api/operation.ts'
import type { SegmentChange } from '../api/types.ts'
import type { Column } from '../ui/data-table-column.ts'
import { eventLine } from '../ui/event-words.ts'
import { AnchorLink } from '../ui/link.tsx'
import { List } from '../ui/list-page.tsx'
import { Foreign, Moment } from '../ui/text.tsx'
import { text } from './text.ts'

const words = text.changes
const CHANGES_LENGTH = 20

interface ChangesProps {
  segmentId: string
  page: number | undefined
  onPage: (page: number) => void
}

/** Who entered and left a segment, the latest first, and what happened just before. */
export function Changes({ segmentId, page = 1, onPage }: ChangesProps) {
  const query = { segment_id: segmentId, page, limit: CHANGES_LENGTH }
  return (
    <List
      label={words.title}
      query={useQuery({ ...queryOf('listSegmentChanges', query), refetchInterval: REFRESH_MS })}
      rowsOf={({ changes }) => changes}
      rowKey={({ change, timestamp, contact_id: id }) => `${timestamp} ${change} ${id}`}
      columns={COLUMNS}
      empty={{ icon: IconArrowsExchange, title: words.none, hint: words.noneHint }}
      paging={{ page, limit: CHANGES_LENGTH, onPage }}
    />
  )
}

/** It reads all changes of the segment. */
const REFRESH_MS = 20_000

const COLUMNS: Column<SegmentChange>[] = [
  {
    id: 'change',
    header: words.change,
    cell: ({ change }) => <Badge color={change === 'entered' ? 'green' : 'gray'}>{words.kinds[change]}</Badge>,
  },
  {
    id: 'contact',
    header: words.contact,
    cell: ({ contact, contact_id: contactId }) =>
      contactId === null || contact === null ? (
        <Text span inherit c="dimmed">
          {words.deleted}
        </Text>
      ) : (
        <AnchorLink fw={550} inherit to="/contacts/$contactId" params={{ contactId }}>
          <Foreign max={80}>
            {[contact.firstname, contact.lastname].filter(Boolean).join(' ') || (contact.email ?? words.unnamed)}
          </Foreign>
        </AnchorLink>
      ),
  },
  { id: 'why', header: words.why, visibleFrom: 'xs', cell: ({ after }) => <Foreign max={120}>{whyOf(after)}</Foreign> },
  { id: 'when', header: words.when, cell: ({ timestamp }) => <Moment at={timestamp} c="dimmed" /> },
]

function whyOf(after: SegmentChange['after']): string {
  if (after === null) return words.unknown
  const { event, url, title, properties: changed, values: properties } = after
  return eventLine({ event, url, data: { title, changed, properties } })
}
