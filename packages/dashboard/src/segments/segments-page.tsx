import { Text } from '@mantine/core'
import { IconFilter, IconPlus } from '@tabler/icons-react'
import { useQuery } from '@tanstack/react-query'
import { getRouteApi } from '@tanstack/react-router'
import { queryOf } from '../api/operation.ts'
import type { Entity, Segment } from '../api/types.ts'
import { useFilterNames } from '../filters/fields.ts'
import { type FilterNames, filterWords } from '../filters/words.ts'
import { useIsAtLeast } from '../session/may.ts'
import type { Column } from '../ui/data-table.tsx'
import { AnchorLink, ButtonLink } from '../ui/link.tsx'
import { ListPage } from '../ui/list-page.tsx'
import { Foreign, Moment } from '../ui/text.tsx'
import { text } from './text.ts'

const words = text.list
/** Rows per page. */
const SEGMENTS_LENGTH = 50
/** How often to read again while the service counts. */
const COUNTING_MS = 1_000

const route = getRouteApi('/shell/segments')

/** All segments with their numbers of contacts. */
export function SegmentsPage() {
  const { page = 1 } = route.useSearch()
  const navigate = route.useNavigate()
  const segments = useQuery({
    ...queryOf('listSegments', { page, limit: SEGMENTS_LENGTH }),
    refetchInterval: ({ state }) => (state.data?.segments.some(({ counting }) => counting) ? COUNTING_MS : false),
  })
  const filtersOf = (entity: Entity) =>
    segments.data?.segments.flatMap((segment) => (segment.entity === entity ? segment.filter : [])) ?? []
  const names = {
    contacts: useFilterNames('contacts', filtersOf('contacts')),
    companies: useFilterNames('companies', filtersOf('companies')),
  }
  return (
    <ListPage
      title={words.title}
      description={words.description}
      create={
        useIsAtLeast('member') ? (
          <ButtonLink leftSection={<IconPlus size={16} aria-hidden />} to="/segments/new">
            {words.create}
          </ButtonLink>
        ) : null
      }
      label={words.table}
      opensRows
      query={segments}
      rowsOf={(data) => data.segments}
      rowKey={({ segment_id }) => segment_id}
      columns={columnsWith(names)}
      empty={{ icon: IconFilter, title: words.empty, hint: words.emptyHint }}
      paging={{
        page,
        limit: SEGMENTS_LENGTH,
        onPage: (next) => navigate({ search: next === 1 ? {} : { page: next } }),
      }}
    />
  )
}

function columnsWith(names: Record<Entity, FilterNames>): Column<Segment>[] {
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
      header: words.members,
      align: 'right',
      cell: ({ entity, contact_count, company_count }) => {
        const count = contact_count ?? company_count
        return count === null ? words.counting : words.count[entity](count)
      },
    },
    {
      id: 'filter',
      header: words.filter,
      visibleFrom: 'sm',
      cell: ({ entity, filter }) => (
        <Text size="sm" c="dimmed" truncate maw={520}>
          <Foreign>{filterWords(filter, names[entity])}</Foreign>
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
