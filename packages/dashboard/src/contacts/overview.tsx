import { Badge, Text } from '@mantine/core'
import { useQuery } from '@tanstack/react-query'
import { Link } from '@tanstack/react-router'
import { queryOf } from '../api/operation.ts'
import type { Contact, GetContactEngagementResult } from '../api/types.ts'
import { allSegmentsQuery } from '../filters/all-segments.ts'
import { Engaged, Figure } from '../records/overview-figures.tsx'
import { propertyText, valueWords } from '../ui/property-value.ts'
import { Foreign } from '../ui/text.tsx'
import classes from './contact-page.module.css'
import { text } from './text.ts'

/** What matters about a person at a glance: when they were here, how often, for what, how they came, and their segments. */
export function Overview({ contact }: { contact: Contact }) {
  const reading = useQuery(queryOf('getContactEngagement', { contact_id: contact.contact_id }))
  const first = reading.data?.first_visit ?? null
  return (
    <Engaged reading={reading}>
      <Figure label={text.overview.cameFrom} hint={landingOf(contact, first)}>
        <Foreign max={60}>{originOf(contact, first)}</Foreign>
      </Figure>
      <Figure label={text.overview.segments}>
        <Segments segmentIds={contact.segment_ids} />
      </Figure>
    </Engaged>
  )
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

type FirstVisit = GetContactEngagementResult['first_visit']

/** How the person first came: the campaign, else the site that linked here, else what created the contact. */
function originOf({ properties, creation_source: source, created_at: created }: Contact, first: FirstVisit): string {
  const [campaign, medium, referrer, page] = [
    'first_utm_source',
    'first_utm_medium',
    'first_referrer',
    'first_landing_page',
  ].map((key) => propertyText(properties[key]))
  const { overview: words } = text
  if (campaign) return medium ? words.campaign(campaign, medium) : campaign
  if (referrer) return URL.parse(referrer)?.hostname.replace(/^www\./, '') ?? referrer
  if (page) return words.direct
  // Someone who was here before they were imported came by that visit.
  return first !== null && first.at <= created ? sourceOf(first) : valueWords('creation_source', source)
}

function sourceOf({ referring_domain: domain, url }: NonNullable<FirstVisit>): string {
  const parameters = URL.parse(url)?.searchParams
  const [campaign, medium] = [parameters?.get('utm_source'), parameters?.get('utm_medium')]
  if (campaign) return medium ? text.overview.campaign(campaign, medium) : campaign
  return domain ?? text.overview.direct
}

function landingOf({ properties }: Contact, first: FirstVisit): string | null {
  const page = propertyText(properties.first_landing_page) || (first?.url ?? '')
  return page === '' ? null : text.overview.landedOn(URL.parse(page)?.pathname ?? page)
}
