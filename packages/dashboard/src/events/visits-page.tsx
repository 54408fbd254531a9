import { Card, Stack } from '@mantine/core'
import { IconWorld } from '@tabler/icons-react'
import { useQuery } from '@tanstack/react-query'
import { getRouteApi } from '@tanstack/react-router'
import { queryOf } from '../api/operation.ts'
import { DateRange } from '../ui/date-range.tsx'
import { FilterBar } from '../ui/filter-bar.tsx'
import { PageHeader } from '../ui/page-header.tsx'
import { Pager } from '../ui/pager.tsx'
import { EmptyState, ErrorState, LoadingState } from '../ui/states.tsx'
import { DayCards } from '../ui/timeline.tsx'
import { VisitRow } from '../ui/visit-row.tsx'
import { toVisitQuery, VISIT_FILTERS, VISITS_LENGTH, visitSearch } from './event-search.ts'
import { EventTabs } from './event-tabs.tsx'
import { text } from './text.ts'

const words = text.visits
const route = getRouteApi('/shell/events/visits')

/** One line for each visit, by day. */
export function VisitsPage() {
  const { page = 1, range, from, to, ...filters } = route.useSearch()
  const search = route.useSearch()
  const navigate = route.useNavigate()
  const { data, error, isPlaceholderData, refetch } = useQuery(queryOf('listVisits', toVisitQuery(search)))
  const change = (changes: Record<string, unknown>) =>
    navigate({ search: (before) => visitSearch({ ...before, page: undefined, ...changes }) })
  const isFiltered = Object.values(filters).some((value) => value !== undefined)
  return (
    <>
      <PageHeader
        title={words.title}
        description={words.description}
        actions={<DateRange value={{ range, from, to }} onChange={change} />}
      />
      <EventTabs current="visits" />
      <FilterBar fields={VISIT_FILTERS} values={filters} onChange={change} />
      {error && !data ? <ErrorState error={error} onRetry={refetch} /> : null}
      {!error && !data ? <LoadingState lines={10} label={words.loading} /> : null}
      {data ? (
        <Stack gap="md" aria-busy={isPlaceholderData} opacity={isPlaceholderData ? 0.6 : 1}>
          {data.visits.length === 0 && page === 1 ? (
            <Card>
              <EmptyState icon={IconWorld} title={isFiltered ? words.noMatch : words.empty}>
                {isFiltered ? words.noMatchHint : words.emptyHint}
              </EmptyState>
            </Card>
          ) : (
            <>
              <DayCards
                rows={data.visits.map((visit) => ({
                  key: JSON.stringify([visit.visitor_id, visit.session_id]),
                  at: visit.started_at,
                  row: <VisitRow visit={visit} withName />,
                }))}
              />
              <Card padding={0}>
                <Pager
                  label={words.table}
                  page={page}
                  limit={VISITS_LENGTH}
                  total={data.pagination.total_items}
                  onPage={(next) => change({ page: next === 1 ? undefined : next })}
                />
              </Card>
            </>
          )}
        </Stack>
      ) : null}
    </>
  )
}
