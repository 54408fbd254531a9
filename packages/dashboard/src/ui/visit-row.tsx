import { Button, Text, UnstyledButton } from '@mantine/core'
import { IconChevronRight, IconWorld } from '@tabler/icons-react'
import { useInfiniteQuery } from '@tanstack/react-query'
import { useId, useState } from 'react'
import { call } from '../api/client.ts'
import { keyOf } from '../api/operation.ts'
import type { ListEventsInput, Visit } from '../api/types.ts'
import { ContactOf, EventRow, Time } from './event-row.tsx'
import { formatDuration } from './format.ts'
import { withPageTimes } from './page-times.ts'
import { ErrorState, LoadingState } from './states.tsx'
import { text } from './text.ts'
import { Foreign, placeOf } from './text.tsx'
import classes from './timeline.module.css'
import { placeWords } from './whereabouts.ts'

const words = text.visit

interface VisitRowProps {
  visit: Visit
  withName?: boolean
  /** Whether its events are shown at first. */
  isOpenAtFirst?: boolean
}

/** One visit in a list; it opens to its events. */
export function VisitRow({ visit, withName = false, isOpenAtFirst = false }: VisitRowProps) {
  const [isOpen, setOpen] = useState(isOpenAtFirst)
  const id = useId()
  const { browser, os, device_type: device, entry_url: url, started_at: at } = visit
  const where = [placeWords(visit), [browser, os, device].filter(Boolean).join(', ')].filter(Boolean).join(' · ')
  return (
    <li>
      <div className={classes.row}>
        <span className={classes.icon} aria-hidden>
          <IconWorld size={16} stroke={1.7} />
        </span>
        <div className={classes.words}>
          <Text size="sm" className={classes.line}>
            {withName ? <ContactOf item={visit} /> : null}
            <UnstyledButton
              className={classes.opener}
              aria-expanded={isOpen}
              aria-controls={isOpen ? id : undefined}
              title={words.show}
              onClick={() => setOpen(!isOpen)}
            >
              <Text span inherit fw={550}>
                <Foreign max={200}>{visitSource(visit)}</Foreign>
              </Text>
              {` · ${visitSize(visit)} `}
              <IconChevronRight size={14} className={classes.chevron} data-open={isOpen} aria-hidden />
            </UnstyledButton>
          </Text>
          <Text size="xs" c="dimmed" className={classes.where}>
            {url ? <Foreign max={120}>{placeOf(url)}</Foreign> : null}
            {url && where ? ' · ' : ''}
            {where}
          </Text>
        </div>
        <Time at={at} />
      </div>
      {isOpen ? (
        <div id={id} className={classes.inside}>
          <VisitEvents visit={visit} />
        </div>
      ) : null}
    </li>
  )
}

/** The events of a visit in the order in which they happened. */
function VisitEvents({ visit }: { visit: Visit }) {
  const query = eventsOf(visit)
  const { data, error, isPending, refetch, hasNextPage, isFetchingNextPage, fetchNextPage } = useInfiniteQuery({
    queryKey: [...keyOf('listEvents', query), visit.internal_contact_id],
    queryFn: ({ pageParam: page, signal }) => call('listEvents', { ...query, page }, signal),
    initialPageParam: 1,
    getNextPageParam: ({ pagination: { page, total_pages } }) => (page < total_pages ? page + 1 : undefined),
  })
  if (isPending) return <LoadingState lines={3} label={words.loading} />
  if (!data) return <ErrorState error={error} onRetry={refetch} />
  const events = withPageTimes(data.pages.flatMap((page) => page.events))
  return (
    <>
      {events.length === 0 ? (
        <Text size="sm" c="dimmed" p="xs">
          {words.empty}
        </Text>
      ) : (
        <ul className={classes.list}>
          {events.map((event) => (
            <EventRow key={event.event_id} event={event} withDevice={false} />
          ))}
        </ul>
      )}
      {hasNextPage ? (
        <Button variant="subtle" size="compact-sm" loading={isFetchingNextPage} onClick={() => fetchNextPage()}>
          {words.more}
        </Button>
      ) : null}
    </>
  )
}

const PAGE_LENGTH = 100

function eventsOf({ visitor_id, session_id, started_at, ended_at }: Visit): ListEventsInput {
  return {
    session_id,
    ...(visitor_id === null ? {} : { visitor_id }),
    date_after: started_at,
    date_before: ended_at,
    sort_dir: 'asc',
    limit: PAGE_LENGTH,
  }
}

/** Where a visit came from: the campaign in its first URL, else the referrer's host. */
function visitSource({ utm_source, utm_medium, utm_campaign, referring_domain }: Visit): string {
  const source = [utm_source ?? referring_domain, utm_medium].filter(Boolean).join(' / ')
  const campaign = utm_campaign ? words.campaign(utm_campaign) : ''
  const from = [source, campaign].filter(Boolean).join(', ')
  return from === '' ? words.direct : words.from(from)
}

/** "4 pages · 3 min"; without pages, the number of events. */
function visitSize({ page_views: pages, event_count: events, duration_seconds: seconds }: Visit): string {
  return [pages > 0 ? words.pages(pages) : words.events(events), formatDuration(seconds)].filter(Boolean).join(' · ')
}
