import { Text } from '@mantine/core'
import { IconFilter, IconPlus } from '@tabler/icons-react'
import { useQuery } from '@tanstack/react-query'
import { getRouteApi } from '@tanstack/react-router'
import { propertiesQuery } from '../api/properties.ts'
import { SEGMENTS_LENGTH, type Segment, segmentsQuery } from '../api/segments.ts'
import { filterWords } from '../filters/words.ts'
import { useIsAtLeast } from '../session/may.ts'
import { type Column, DataTable } from '../ui/data-table.tsx'
import { formatNumber } from '../ui/format.ts'
import { AnchorLink, ButtonLink } from '../ui/link.tsx'
import { PageHeader } from '../ui/page-header.tsx'
import { EmptyState } from '../ui/states.tsx'
import { Foreign, Moment } from '../ui/text.tsx'
import { text } from './text.ts'

const words = text.list

const route = getRouteApi('/shell/segments')

/** All segments with their numbers of contacts. */
export function SegmentsPage() {
  const { page = 1 } = route.useSearch()
  const navigate = route.useNavigate()
  const mayWrite = useIsAtLeast('member')
  const { data, error, isPlaceholderData, refetch } = useQuery(segmentsQuery(page, SEGMENTS_LENGTH))
  const { data: known } = useQuery(propertiesQuery('contacts'))
  const labels = new Map(known?.properties.map(({ name, label }) => [name, label]))
  const create = mayWrite ? (
    <ButtonLink leftSection={<IconPlus size={16} aria-hidden />} to="/segments/new">
      {words.create}
    </ButtonLink>
  ) : null
  return (
    <>
      <PageHeader title={words.title} description={words.description} actions={create} />
      <DataTable
        label={words.table}
        opensRows
        columns={columnsWith(labels)}
        rows={data?.segments}
        rowKey={({ segment_id }) => segment_id}
        error={error}
        onRetry={refetch}
        isUpdating={isPlaceholderData}
        empty={
          <EmptyState icon={IconFilter} title={words.empty} action={create}>
            {words.emptyHint}
          </EmptyState>
        }
        paging={{
          page,
          limit: SEGMENTS_LENGTH,
          total: data?.pagination.total_items ?? 0,
          onPage: (next) => navigate({ search: next === 1 ? {} : { page: next } }),
        }}
      />
    </>
  )
}

function columnsWith(labels: ReadonlyMap<string, string>): Column<Segment>[] {
  return [
    {
      id: 'name',
      header: words.name,
      cell: ({ segment_id: segmentId, name }) => (
        <AnchorLink fw={550} inherit to="/segments/$segmentId" params={{ segmentId }}>
          <Foreign max={120}>{name}</Foreign>
        </AnchorLink>
      ),
    },
    {
      id: 'count',
      header: words.contacts,
      align: 'right',
      cell: ({ contact_count: count }) => (count === null ? words.counting : formatNumber(count)),
    },
    {
      id: 'filter',
      header: words.filter,
      visibleFrom: 'sm',
      cell: ({ filter }) => (
        <Text size="sm" c="dimmed" truncate maw={520}>
          <Foreign>{filterWords(filter, labels)}</Foreign>
        </Text>
      ),
    },
    {
      id: 'created_at',
      header: words.created,
      visibleFrom: 'md',
      cell: ({ created_at: at }) => <Moment at={at} c="dimmed" />,
    },
  ]
}
