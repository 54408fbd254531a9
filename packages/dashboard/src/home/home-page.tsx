import { Card, SimpleGrid, Stack, Title } from '@mantine/core'
import { useQuery } from '@tanstack/react-query'
import { getRouteApi } from '@tanstack/react-router'
import { overviewQuery } from '../api/overview.ts'
import { DateRange } from '../ui/date-range.tsx'
import { PageHeader } from '../ui/page-header.tsx'
import { daysOf, resolveRange } from '../ui/range.ts'
import { ErrorState, LoadingState } from '../ui/states.tsx'
import { TrendChart } from '../ui/trend-chart.tsx'
import { StatCard } from './stat-card.tsx'

const route = getRouteApi('/shell/')

/** What happens on the sites of the tenant, at a glance. */
export function HomePage() {
  const search = route.useSearch()
  const navigate = route.useNavigate()
  const range = resolveRange(search)
  const { data, error, refetch } = useQuery(overviewQuery(range))
  const byDay = new Map(data?.by_day.map((day) => [day.date, day]))
  return (
    <>
      <PageHeader
        title="Home"
        actions={<DateRange value={search} onChange={(changes) => navigate({ search: changes, replace: true })} />}
      />
      {error && !data ? <ErrorState error={error} onRetry={refetch} /> : null}
      {!error && !data ? <LoadingState lines={8} /> : null}
      {data ? (
        <Stack gap="md">
          <SimpleGrid cols={{ base: 2, md: 4 }} spacing="md">
            <StatCard label="Visitors" value={data.visitors} before={data.previous.visitors} />
            <StatCard
              label="Identified contacts"
              value={data.identified_contacts}
              before={data.previous.identified_contacts}
            />
            <StatCard label="Events" value={data.events} before={data.previous.events} />
            <StatCard label="New contacts" value={data.contacts_created} before={data.previous.contacts_created} />
          </SimpleGrid>
          <Card>
            <Title order={2} size="h5" mb="sm">
              Events and visitors by day
            </Title>
            <TrendChart
              label="Events and visitors by day"
              data={daysOf(range).map((date) => ({
                date,
                events: byDay.get(date)?.events ?? 0,
                visitors: byDay.get(date)?.visitors ?? 0,
              }))}
              series={[
                { name: 'events', label: 'Events', color: 'ink.6' },
                { name: 'visitors', label: 'Visitors', color: 'teal.6' },
              ]}
            />
          </Card>
        </Stack>
      ) : null}
    </>
  )
}
