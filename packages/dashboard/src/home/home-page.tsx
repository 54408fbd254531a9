import { Box, Stack } from '@mantine/core'
import { useQuery } from '@tanstack/react-query'
import { getRouteApi } from '@tanstack/react-router'
import { useEffect } from 'react'
import { watchEvents } from '../api/live.ts'
import { queryOf } from '../api/operation.ts'
import type { GetTrackerResult } from '../api/types.ts'
import { DateRange } from '../ui/date-range.tsx'
import { PageHeader } from '../ui/page-header.tsx'
import { resolveRange } from '../ui/range.ts'
import { ErrorState, LoadingState } from '../ui/states.tsx'
import { Ask } from './ask.tsx'
import { Figures } from './figures.tsx'
import { FirstEvent } from './first-event.tsx'
import { FirstSteps } from './first-steps.tsx'
import classes from './home-page.module.css'
import { LiveFeed } from './live-feed.tsx'
import { overviewQuery, overviewRange } from './overview.ts'
import { TopPages, TopSources, WaitingForApproval } from './rankings.tsx'
import { text } from './text.ts'
import { Trend } from './trend.tsx'

const route = getRouteApi('/shell/')

/** The activity on the workspace's sites at a glance; until there is any, the first steps. */
export function HomePage() {
  const tracker = useQuery({
    ...queryOf('getTracker'),
    // A new workspace is waiting for its first event. The live feed reports it sooner, if it is connected.
    refetchInterval: ({ state }) => (state.data && state.data.first_event === null ? 3_000 : false),
  })
  const isNew = tracker.data?.first_event === null
  const { refetch } = tracker
  useEffect(() => {
    if (isNew)
      return watchEvents(
        () => void refetch(),
        () => {},
      )
  }, [isNew, refetch])
  if (tracker.isPending) {
    return (
      <>
        <PageHeader title={text.title} />
        <LoadingState lines={8} />
      </>
    )
  }
  if (!isNew) return <Activity first={tracker.data?.first_event ?? null} />
  return (
    <>
      <PageHeader title={text.title} />
      {tracker.data ? <FirstSteps snippet={tracker.data.snippet} /> : null}
    </>
  )
}

function Activity({ first }: { first: GetTrackerResult['first_event'] }) {
  const search = route.useSearch()
  const navigate = route.useNavigate()
  const { data, error, refetch, isPlaceholderData } = useQuery(overviewQuery(overviewRange(search)))
  const days = resolveRange(search)
  const isRunning = days.to === resolveRange({}).to
  return (
    <>
      <PageHeader
        title={text.title}
        description={data && text.description(data.by_day.length, isRunning ? timeOf(data.to) : null)}
        actions={<DateRange value={search} onChange={(range) => navigate({ search: range })} />}
      />
      {error && !data ? <ErrorState error={error} onRetry={refetch} /> : null}
      {!error && !data ? <LoadingState lines={8} /> : null}
      {data ? (
        <Stack gap="md" aria-busy={isPlaceholderData}>
          {first === null ? null : <FirstEvent event={first} />}
          <Ask />
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

/** The time of day of a moment: `14:05`. */
function timeOf(moment: string): string {
  return moment.slice(11, 16)
}
