import { Badge, Card, SimpleGrid, Stack, Text } from '@mantine/core'
import { useQuery } from '@tanstack/react-query'
import { Link } from '@tanstack/react-router'
import type { ReactNode } from 'react'
import { queryOf } from '../api/operation.ts'
import type { Contact } from '../api/types.ts'
import { allSegmentsQuery } from '../records/all-segments.ts'
import { formatNumber } from '../ui/format.ts'
import { propertyText } from '../ui/property-value.ts'
import { ErrorState } from '../ui/states.tsx'
import { Foreign, Moment } from '../ui/text.tsx'
import classes from './contact-page.module.css'
import { text } from './text.ts'

const PAGES_SHOWN = 3

/** What matters about a person at a glance: when they were here, how often, for what, how they came, and their segments. */
export function Overview({ contact }: { contact: Contact }) {
  const { contact_id } = contact
  const { data, error, refetch } = useQuery(queryOf('getContactEngagement', { contact_id }))
  const { overview: words } = text
  const unknown = error ? '–' : '…'
  const pages = data?.top_pages.slice(0, PAGES_SHOWN) ?? []
  return (
    <Card component="section" aria-label={words.label} mb="md">
      {error && !data ? <ErrorState error={error} onRetry={refetch} /> : null}
      <SimpleGrid cols={{ base: 2, sm: 3, lg: 5 }} spacing="md" verticalSpacing="sm">
        <Figure label={words.lastSeen}>{data ? <LastSeen at={data.engagement.last_seen_at} /> : unknown}</Figure>
        <Figure label={words.visits} hint={data ? words.pageViews(data.engagement.page_views) : null}>
          {data ? formatNumber(data.engagement.visits) : unknown}
        </Figure>
        <Figure label={words.cameFrom} hint={landingOf(contact)}>
          <Foreign max={60}>{originOf(contact)}</Foreign>
        </Figure>
        <Figure label={words.pages}>
          {pages.length === 0 ? (
            <Text span inherit c="dimmed">
              {data ? words.noPages : unknown}
            </Text>
          ) : (
            <Stack component="ol" gap={0} m={0} p={0} className={classes.pages}>
              {pages.map(({ url_path: path, title, views }) => (
                <Text key={path} component="li" size="sm" truncate title={path.slice(0, 300)}>
                  <Foreign max={60}>{title ?? path}</Foreign>
                  <Text span inherit c="dimmed">
                    {words.times(views)}
                  </Text>
                </Text>
              ))}
            </Stack>
          )}
        </Figure>
        <Figure label={words.segments}>
          <Segments segmentIds={contact.segment_ids} />
        </Figure>
      </SimpleGrid>
    </Card>
  )
}

function Figure({ label, hint = null, children }: { label: string; hint?: string | null; children: ReactNode }) {
  return (
    <div>
      <Text size="xs" c="dimmed">
        {label}
      </Text>
      <Text size="sm" fw={550} component="div">
        {children}
      </Text>
      {hint === null ? null : (
        <Text size="xs" c="dimmed" truncate title={hint}>
          <Foreign max={80}>{hint}</Foreign>
        </Text>
      )}
    </div>
  )
}

function LastSeen({ at }: { at: string | null }) {
  return at === null ? text.overview.never : <Moment at={at} />
}

function Segments({ segmentIds }: { segmentIds: string[] }) {
  const { data: segments } = useQuery({ ...allSegmentsQuery, enabled: segmentIds.length > 0 })
  if (segmentIds.length === 0) {
    return (
      <Text span inherit c="dimmed">
        {text.overview.noSegments}
      </Text>
    )
  }
  return (
    <ul aria-label={text.overview.segments} className={classes.segments}>
      {segmentIds.map((segmentId) => (
        <Badge key={segmentId} component="li" variant="default" maw="100%" style={{ cursor: 'pointer' }}>
          <Link to="/segments/$segmentId" params={{ segmentId }} className={classes.segment}>
            <Foreign max={80}>{segments?.get(segmentId)?.name ?? text.overview.segment}</Foreign>
          </Link>
        </Badge>
      ))}
    </ul>
  )
}

/** How the person first came: the campaign, else the site that linked here, else what created the contact. */
function originOf({ properties, creation_source: source }: Contact): string {
  const [campaign, medium, referrer, page] = [
    'first_utm_source',
    'first_utm_medium',
    'first_referrer',
    'first_landing_page',
  ].map((key) => propertyText(properties[key]))
  const { overview: words } = text
  if (campaign) return medium ? words.campaign(campaign, medium) : campaign
  if (referrer) return URL.parse(referrer)?.hostname.replace(/^www\./, '') ?? referrer
  return page ? words.direct : (words.sources[source] ?? source)
}

function landingOf({ properties }: Contact): string | null {
  const page = propertyText(properties.first_landing_page)
  return page === '' ? null : text.overview.landedOn(URL.parse(page)?.pathname ?? page)
}
