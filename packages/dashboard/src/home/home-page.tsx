import { Box, Stack } from '@mantine/core'
import { useQuery } from '@tanstack/react-query'
import { getRouteApi } from '@tanstack/react-router'
import { overviewQuery } from '../api/overview.ts'
import { trackerQuery } from '../api/tracker.ts'
import { DateRange } from '../ui/date-range.tsx'
import { PageHeader } from '../ui/page-header.tsx'
import { resolveRange } from '../ui/range.ts'
import { ErrorState, LoadingState } from '../ui/states.tsx'
import { Figures } from './figures.tsx'
import { FirstSteps } from './first-steps.tsx'
import classes from './home-page.module.css'
import { LiveFeed } from './live-feed.tsx'
import { overviewRange } from './overview-range.ts'
import { TopPages, TopSources, WaitingForApproval } from './rankings.tsx'
import { Trend } from './trend.tsx'

const route = getRouteApi('/shell/')

/** The activity on the tenant's sites at a glance. */
export function HomePage() {
  const search = route.useSearch()
  const navigate = route.useNavigate()
  const { data, error, refetch, isPlaceholderData } = useQuery(overviewQuery(overviewRange(search)))
  const tracker = useQuery({
    ...trackerQuery,
    // A new tenant is waiting for its first event.
    refetchInterval: ({ state }) => (state.data && state.data.first_event === null ? 3_000 : false),
  })
  const days = resolveRange(search)
  const isNew = tracker.data?.first_event === null
  return (
    <>
      <PageHeader
        title="Home"
        description={isNew ? undefined : 'Days are in UTC. Bots are excluded.'}
        actions={isNew ? null : <DateRange value={search} onChange={(range) => navigate({ search: range })} />}
      />
      {isNew && tracker.data ? <FirstSteps snippet={tracker.data.snippet} /> : null}
      {error && !data ? <ErrorState error={error} onRetry={refetch} /> : null}
      {!error && !data ? <LoadingState lines={8} /> : null}
      {data && !isNew ? (
        <Stack gap="md" aria-busy={isPlaceholderData}>
          <Figures overview={data} />
          <Box className={classes.columns}>
            <Stack gap="md" miw={0}>
              <Trend overview={data} />
              <Box className={classes.halves}>
                <TopPages overview={data} days={days} />
                <TopSources overview={data} days={days} />
              </Box>
            </Stack>
            <Stack gap="md" miw={0}>
              <WaitingForApproval count={data.waiting_for_approval} />
              <LiveFeed />
            </Stack>
          </Box>
        </Stack>
      ) : null}
    </>
  )
}
