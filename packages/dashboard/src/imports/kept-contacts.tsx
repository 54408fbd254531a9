import { Title } from '@mantine/core'
import { useQuery } from '@tanstack/react-query'
import { getRouteApi } from '@tanstack/react-router'
import { queryOf } from '../api/operation.ts'
import type { KeptContact } from '../api/types.ts'
import { type Column, DataTable } from '../ui/data-table.tsx'
import { AnchorLink } from '../ui/link.tsx'
import { Foreign } from '../ui/text.tsx'
import { text } from './text.ts'

/** Rows per page. */
const KEPT_LENGTH = 20
const route = getRouteApi('/shell/imports/$importId')

/** The contacts that undoing an import left as they are. */
export function KeptContacts({ importId }: { importId: string }) {
  const { page = 1 } = route.useSearch()
  const navigate = route.useNavigate()
  const { data, error, isPlaceholderData, refetch } = useQuery(
    queryOf('listKeptContacts', { import_id: importId, page, limit: KEPT_LENGTH }),
  )
  return (
    <section>
      <Title order={2} size="h4" mb="xs">
        {text.result.undo.kept}
      </Title>
      <DataTable
        label={text.result.undo.kept}
        columns={COLUMNS}
        rows={data?.contacts}
        rowKey={({ contact_id }) => contact_id}
        error={error}
        onRetry={refetch}
        isUpdating={isPlaceholderData}
        empty={text.result.undo.none}
        paging={{
          page,
          limit: KEPT_LENGTH,
          total: data?.pagination.total_items ?? 0,
          onPage: (next) => navigate({ search: (before) => ({ ...before, page: next === 1 ? undefined : next }) }),
        }}
      />
    </section>
  )
}

const COLUMNS: Column<KeptContact>[] = [
  {
    id: 'contact',
    header: text.result.undo.keptContact,
    cell: ({ contact_id: contactId }) => (
      <AnchorLink inherit to="/contacts/$contactId" params={{ contactId }}>
        {contactId}
      </AnchorLink>
    ),
  },
  {
    id: 'properties',
    header: text.result.undo.keptProperties,
    cell: ({ properties }) =>
      properties.length === 0 ? text.result.undo.wholeContact : <Foreign>{properties.join(', ')}</Foreign>,
  },
]
