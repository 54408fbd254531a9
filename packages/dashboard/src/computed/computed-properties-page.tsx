import { Badge, Text } from '@mantine/core'
import { IconMathFunction, IconPlus } from '@tabler/icons-react'
import { useQuery } from '@tanstack/react-query'
import { getRouteApi } from '@tanstack/react-router'
import { queryOf } from '../api/operation.ts'
import type { ComputedProperty } from '../api/types.ts'
import { useMay } from '../session/may.ts'
import type { Column } from '../ui/data-table.tsx'
import { AnchorLink, ButtonLink } from '../ui/link.tsx'
import { ListPage } from '../ui/list-page.tsx'
import { Foreign } from '../ui/text.tsx'
import { DefinitionWords } from './definition-words.tsx'
import { text } from './text.ts'

const words = text.list
/** Rows per page. */
const COMPUTED_LENGTH = 50
/** How often to read again while values are filled in. */
const FILLING_MS = 2_000

const route = getRouteApi('/shell/settings/computed-properties')

/** The properties that the service computes. */
export function ComputedPropertiesPage() {
  const { page = 1 } = route.useSearch()
  const navigate = route.useNavigate()
  const computed = useQuery({
    ...queryOf('listComputedProperties', { page, limit: COMPUTED_LENGTH }),
    refetchInterval: ({ state }) =>
      state.data?.computed_properties.some(({ filling }) => filling) ? FILLING_MS : false,
  })
  return (
    <ListPage
      title={words.title}
      description={words.description}
      create={
        useMay('contacts:write') ? (
          <ButtonLink leftSection={<IconPlus size={16} aria-hidden />} to="/settings/computed-properties/new">
            {words.create}
          </ButtonLink>
        ) : null
      }
      label={words.table}
      query={computed}
      rowsOf={(data) => data.computed_properties}
      rowKey={({ computed_property_id: id }) => id}
      columns={COLUMNS}
      empty={{ icon: IconMathFunction, title: words.empty, hint: words.emptyHint }}
      paging={{
        page,
        limit: COMPUTED_LENGTH,
        onPage: (next) => navigate({ search: next === 1 ? {} : { page: next } }),
      }}
    />
  )
}

const COLUMNS: Column<ComputedProperty>[] = [
  {
    id: 'name',
    header: words.columns.name,
    cell: ({ computed_property_id: id, name }) => (
      <AnchorLink fw={550} inherit to="/settings/computed-properties/$id" params={{ id }}>
        <Foreign max={120}>{name}</Foreign>
      </AnchorLink>
    ),
  },
  { id: 'entity', header: words.columns.entity, visibleFrom: 'sm', cell: ({ entity }) => words.entities[entity] },
  {
    id: 'computes',
    header: words.columns.computes,
    visibleFrom: 'sm',
    cell: (computed) => (
      <Text size="sm" c="dimmed" truncate maw={520}>
        <DefinitionWords computed={computed} />
      </Text>
    ),
  },
  {
    id: 'state',
    header: words.columns.state,
    cell: ({ filling }) => (filling ? <Badge color="orange">{words.filling}</Badge> : words.upToDate),
  },
]
