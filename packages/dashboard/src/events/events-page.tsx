import { IconActivity, IconSettingsAutomation } from '@tabler/icons-react'
import { useQuery } from '@tanstack/react-query'
import { getRouteApi } from '@tanstack/react-router'
import { urlOf } from '../api/client.ts'
import { queryOf } from '../api/operation.ts'
import type { SavedView } from '../api/types.ts'
import { ColumnChoice } from '../ui/column-choice.tsx'
import { ExportButton } from '../ui/export-button.tsx'
import { ListPage } from '../ui/list-page.tsx'
import { SavedViews } from '../ui/saved-views.tsx'
import { ToolbarButton } from '../ui/toolbar-button.tsx'
import { Warnings } from '../ui/warnings.tsx'
import { DEFAULT_EVENT_COLUMNS, EVENT_COLUMNS } from './event-columns.tsx'
import { EventFilterBar } from './event-filter-bar.tsx'
import { type EventListSearch, eventListSearch, toEventQuery } from './event-search.ts'
import { EventTabs } from './event-tabs.tsx'
import { text } from './text.ts'

const words = text.list

const route = getRouteApi('/shell/events')

/** All recorded events: searched, filtered, sorted and paged by the service. */
export function EventsPage() {
  const search = route.useSearch()
  const navigate = route.useNavigate()
  const query = toEventQuery(search)
  const events = useQuery(queryOf('listEvents', query))
  const change = (changes: Record<string, unknown>, replace = false) =>
    navigate({ search: (before) => eventListSearch({ ...before, page: undefined, ...changes }), replace })
  const openView = (view: SavedView) => navigate({ search: eventListSearch({ ...view.query, columns: view.columns }) })
  const chosen = search.columns ?? DEFAULT_EVENT_COLUMNS
  const isFiltered = Object.keys(query).some((name) => !NOT_FILTERS.has(name))
  const inFile = chosen.map(csvColumn).join(',')
  return (
    <ListPage
      title={words.title}
      description={words.description}
      bar={
        <>
          <EventTabs current="events" />
          <EventFilterBar search={search} onChange={change}>
            <ToolbarButton
              icon={<IconSettingsAutomation size={16} aria-hidden />}
              aria-pressed={search.include === 'system'}
              variant={search.include === 'system' ? 'light' : 'default'}
              onClick={() => change({ include: search.include === 'system' ? undefined : 'system' })}
            >
              {words.systemEvents}
            </ToolbarButton>
            <SavedViews page="events" query={viewOf(search)} columns={chosen} onOpen={openView} />
            <ExportButton
              href={urlOf('exportEvents', { ...query, page: undefined, limit: undefined, columns: inFile })}
              label={words.export}
            />
            <ColumnChoice columns={EVENT_COLUMNS} chosen={chosen} onChange={(columns) => change({ columns }, true)} />
          </EventFilterBar>
          <Warnings of={events.data?.warnings} />
        </>
      }
      label={words.table}
      query={events}
      rowsOf={({ events }) => events}
      rowKey={({ event_id }) => event_id}
      columns={EVENT_COLUMNS.filter(({ id }) => chosen.includes(id))}
      empty={{
        icon: IconActivity,
        title: isFiltered ? words.noMatch : words.empty,
        hint: isFiltered ? words.noMatchHint : words.emptyHint,
      }}
      sorting={{
        by: search.sort_by ?? 'timestamp',
        direction: search.sort_dir ?? 'desc',
        onSort: (sort_by, sort_dir) => change({ sort_by, sort_dir }),
      }}
      paging={{
        page: search.page,
        limit: Number(search.limit ?? '20'),
        onPage: (page) => change({ page }),
        onLimit: (limit) => change({ limit: String(limit) }),
      }}
    />
  )
}

/** What a view stores: everything but the page. */
function viewOf({ page: _page, columns: _columns, ...query }: EventListSearch) {
  return query
}

/** The name of a column in the export, if it differs. */
function csvColumn(id: string): string {
  if (id === 'contact') return 'internal_contact_id'
  return id === 'title' || id === 'text' ? `data.${id}` : id
}

const NOT_FILTERS = new Set(['page', 'limit', 'sort_by', 'sort_dir', 'include'])
