import { Box, Card, Group, Title } from '@mantine/core'
import { useQuery, useQueryClient } from '@tanstack/react-query'
import { getRouteApi } from '@tanstack/react-router'
import { type ReactNode, useEffect } from 'react'
import { ApiError } from '../api/client.ts'
import { watchEvents } from '../api/live.ts'
import { keyOf, queryOf } from '../api/operation.ts'
import type { Visitor } from '../api/types.ts'
import { CopyButton } from '../ui/copy-button.tsx'
import { Facts } from '../ui/facts.tsx'
import { formatNumber } from '../ui/format.ts'
import { AnchorLink } from '../ui/link.tsx'
import { PageHeader } from '../ui/page-header.tsx'
import { NotFoundPage, PendingPage } from '../ui/page-states.tsx'
import { ExternalLink, Foreign, Moment, None, placeOf } from '../ui/text.tsx'
import { Timeline } from '../ui/timeline.tsx'
import { timelineQuery } from '../ui/timeline-query.ts'
import { placeWords } from '../ui/whereabouts.ts'
import { text } from './text.ts'
import classes from './visitor-page.module.css'

const route = getRouteApi('/shell/visitors/$visitorId')
/** Events of one visit are read together. */
const REFRESH_MS = 500

/** One browser or device: what it did, as it does it. */
export function VisitorPage() {
  const { visitorId } = route.useParams()
  const search = route.useSearch()
  const navigate = route.useNavigate()
  const { data, error, refetch } = useQuery(queryOf('getVisitor', { visitor_id: visitorId }))
  useRefreshWhenActive(visitorId)
  const breadcrumb = (
    <AnchorLink inherit to="/events">
      {text.events}
    </AnchorLink>
  )
  if (error instanceof ApiError && error.status === 404) return <NotFoundPage />
  if (!data) return <PendingPage title={text.title} breadcrumb={breadcrumb} error={error} onRetry={refetch} />
  const { visitor } = data
  const name = nameOf(visitor)
  return (
    <>
      <PageHeader
        title={<Foreign max={200}>{name}</Foreign>}
        documentTitle={name.slice(0, 200)}
        breadcrumb={breadcrumb}
      />
      <Box className={classes.columns}>
        <Card>
          <Title order={2} size="h5" mb="sm">
            {text.about.title}
          </Title>
          <Facts facts={factsOf(visitor)} />
        </Card>
        <Timeline
          subject={{ visitorId }}
          search={search}
          onSearch={(next) => navigate({ search: next, replace: true })}
        />
      </Box>
    </>
  )
}

/** Reads the visitor again when the live feed reports one of its events. */
function useRefreshWhenActive(visitorId: string): void {
  const queryClient = useQueryClient()
  useEffect(() => {
    let timer: ReturnType<typeof setTimeout> | undefined
    const refresh = () => {
      timer = undefined
      void queryClient.invalidateQueries({ queryKey: keyOf('getVisitor', { visitor_id: visitorId }) })
      void queryClient.invalidateQueries({ queryKey: timelineQuery({ visitorId }).queryKey })
    }
    const leave = watchEvents(
      (event) => {
        if (event.visitor_id === visitorId) timer ??= setTimeout(refresh, REFRESH_MS)
      },
      () => {},
    )
    return () => {
      clearTimeout(timer)
      leave()
    }
  }, [queryClient, visitorId])
}

function nameOf({ contact, is_bot: isBot }: Visitor): string {
  if (contact === null) return isBot ? text.bot : text.anonymous
  return [contact.firstname, contact.lastname].filter(Boolean).join(' ') || contact.email || text.unnamed
}

function factsOf(visitor: Visitor): [string, ReactNode][] {
  const { about } = text
  const { contact } = visitor
  return [
    [
      about.contact,
      contact === null ? (
        about.notIdentified
      ) : (
        <AnchorLink key="contact" inherit to="/contacts/$contactId" params={{ contactId: contact._id }}>
          <Foreign max={80}>{nameOf(visitor)}</Foreign>
        </AnchorLink>
      ),
    ],
    [about.first, <Moment key="first" at={visitor.first_seen_at} />],
    [about.last, <Moment key="last" at={visitor.last_seen_at} />],
    [about.visits, formatNumber(visitor.sessions)],
    [
      about.landing,
      visitor.first_url === null ? <None key="landing" /> : <Place key="landing" url={visitor.first_url} />,
    ],
    [
      about.referrer,
      visitor.first_referrer === null ? about.direct : <Place key="referrer" url={visitor.first_referrer} />,
    ],
    [about.place, words(placeWords(visitor))],
    [about.browser, words(visitor.browser, visitor.os)],
    [about.device, words(visitor.device_type)],
    [about.screen, words(visitor.screen)],
    [
      about.id,
      <Group key="id" gap={4} wrap="nowrap" justify="flex-end" style={{ overflowWrap: 'anywhere' }}>
        <Foreign max={200}>{visitor.visitor_id}</Foreign>
        <CopyButton value={visitor.visitor_id} label={about.copy} />
      </Group>,
    ],
  ]
}

function Place({ url }: { url: string }) {
  return (
    <ExternalLink url={url}>
      <Foreign max={60}>{placeOf(url)}</Foreign>
    </ExternalLink>
  )
}

function words(...parts: (string | null)[]): ReactNode {
  const known = parts.filter((part) => part !== null)
  return known.length === 0 ? <None /> : <Foreign max={80}>{known.join(', ')}</Foreign>
}
