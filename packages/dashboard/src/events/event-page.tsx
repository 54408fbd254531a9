import { Card, Code, Group, ScrollArea, SimpleGrid, Stack, Table, Title } from '@mantine/core'
import { useQuery } from '@tanstack/react-query'
import { getRouteApi } from '@tanstack/react-router'
import type { ReactNode } from 'react'
import { queryOf } from '../api/operation.ts'
import type { Event } from '../api/types.ts'
import { CopyButton } from '../ui/copy-button.tsx'
import { eventLine } from '../ui/event-words.ts'
import { formatMoment } from '../ui/format.ts'
import { AnchorLink } from '../ui/link.tsx'
import { PageHeader } from '../ui/page-header.tsx'
import { PendingPage } from '../ui/page-states.tsx'
import { ExternalLink, Foreign, None } from '../ui/text.tsx'
import { placeWords } from '../ui/whereabouts.ts'
import { Who } from './event-columns.tsx'
import { text as catalogue } from './text.ts'

const words = catalogue.event

const route = getRouteApi('/shell/events/$eventId')
const SHOWN_MAX = 20_000

/** All fields of one event. */
export function EventPage() {
  const { eventId } = route.useParams()
  const { data, error, refetch } = useQuery(queryOf('getEvent', { event_id: eventId }))
  const breadcrumb = (
    <AnchorLink inherit to="/events">
      {words.breadcrumb}
    </AnchorLink>
  )
  if (!data) return <PendingPage title={words.title} breadcrumb={breadcrumb} error={error} onRetry={refetch} />
  const { event } = data
  return (
    <>
      <PageHeader
        title={<Foreign max={300}>{eventLine(event)}</Foreign>}
        documentTitle={eventLine(event).slice(0, 200)}
        description={formatMoment(event.timestamp)}
        breadcrumb={breadcrumb}
      />
      <SimpleGrid cols={{ base: 1, lg: 2 }} spacing="md">
        <Stack gap="md">
          <FactTable title={words.page} facts={placeOf(event)} />
          <FactTable title={words.who} facts={personOf(event)} />
          <FactTable title={words.device} facts={deviceOf(event)} />
        </Stack>
        <Stack gap="md">
          <FactTable title={words.data} facts={dataOf(event)} />
          <Raw event={event} />
        </Stack>
      </SimpleGrid>
    </>
  )
}

interface Fact {
  name: string
  value: ReactNode
}

function FactTable({ title, facts }: { title: string; facts: Fact[] }) {
  return (
    <Card>
      <Title order={2} size="h5" mb="xs">
        {title}
      </Title>
      {facts.length === 0 ? (
        <None />
      ) : (
        <Table verticalSpacing={5} layout="fixed" aria-label={title}>
          <Table.Tbody>
            {facts.map(({ name, value }) => (
              <Table.Tr key={name}>
                <Table.Th
                  scope="row"
                  w={{ base: '42%', sm: '34%' }}
                  fw={400}
                  c="dimmed"
                  style={{ overflowWrap: 'break-word' }}
                >
                  <Foreign max={100}>{name}</Foreign>
                </Table.Th>
                <Table.Td style={{ overflowWrap: 'anywhere' }}>{value}</Table.Td>
              </Table.Tr>
            ))}
          </Table.Tbody>
        </Table>
      )}
    </Card>
  )
}

function Raw({ event }: { event: Event }) {
  const json = JSON.stringify(event, null, 2)
  return (
    <Card>
      <Group justify="space-between" mb="xs">
        <Title order={2} size="h5">
          {words.json}
        </Title>
        <CopyButton value={json} label={words.json} withText />
      </Group>
      <ScrollArea.Autosize mah={420} viewportProps={{ tabIndex: 0, role: 'region', 'aria-label': words.json }}>
        <Code block>{json.length > SHOWN_MAX ? `${json.slice(0, SHOWN_MAX)}\n…` : json}</Code>
      </ScrollArea.Autosize>
    </Card>
  )
}

function placeOf(event: Event): Fact[] {
  return [
    { name: words.name, value: text(event.event) },
    { name: words.id, value: <Copyable value={event.event_id} label={words.idToCopy} /> },
    { name: words.url, value: event.url === null ? <None /> : <ExternalLink url={event.url} /> },
    { name: words.domain, value: text(event.domain) },
    { name: words.mismatch, value: event.origin_mismatch ? words.yes : words.no },
    {
      name: words.referrer,
      value: event.referrer === null || event.referrer === '' ? <None /> : <ExternalLink url={event.referrer} />,
    },
    ...campaignOf(event),
    { name: words.happened, value: formatMoment(event.timestamp) },
    { name: words.received, value: formatMoment(event.createdAt) },
  ]
}

/** The parts of the campaign that the URL has. */
function campaignOf(event: Event): Fact[] {
  const names = ['utm_source', 'utm_medium', 'utm_campaign', 'utm_term', 'utm_content'] as const
  return names.flatMap((name) =>
    event[name] === null ? [] : [{ name: catalogue.columns[name], value: text(event[name]) }],
  )
}

function personOf(event: Event): Fact[] {
  const { company, contact } = event
  return [
    { name: words.contact, value: <Who event={event} /> },
    { name: words.email, value: text(contact?.email ?? null) },
    {
      name: words.company,
      value:
        company === null ? (
          <None />
        ) : (
          <AnchorLink inherit to="/companies/$companyId" params={{ companyId: company._id }}>
            <Foreign max={120}>{company.name ?? company.domain ?? catalogue.columns.unnamed}</Foreign>
          </AnchorLink>
        ),
    },
    {
      name: words.visitor,
      value: event.visitor_id === null ? <None /> : <VisitorLink visitorId={event.visitor_id} />,
    },
    {
      name: words.session,
      value: event.session_id === null ? <None /> : <Groups name="session_id" value={event.session_id} />,
    },
    {
      name: words.analyticsUser,
      value:
        event.analytics_user_id === null ? (
          <None />
        ) : (
          <Groups name="analytics_user_id" value={event.analytics_user_id} />
        ),
    },
  ]
}

function VisitorLink({ visitorId }: { visitorId: string }) {
  return (
    <AnchorLink inherit to="/visitors/$visitorId" params={{ visitorId }}>
      <Foreign max={120}>{visitorId}</Foreign>
    </AnchorLink>
  )
}

/** Links to the other events of a session or a user of an analytics tool. */
function Groups({ name, value }: { name: GroupName; value: string }) {
  return (
    <AnchorLink inherit to="/events/groups" search={{ [name]: value }}>
      <Foreign max={120}>{value}</Foreign>
    </AnchorLink>
  )
}

type GroupName = 'session_id' | 'analytics_user_id'

function deviceOf(event: Event): Fact[] {
  return [
    { name: words.place, value: text(placeWords(event)) },
    { name: words.device, value: text(event.device_type) },
    { name: words.browser, value: text(event.browser) },
    { name: words.os, value: text(event.os) },
    { name: words.screen, value: text(event.screen) },
    { name: words.bot, value: event.is_bot ? words.yes : words.no },
    { name: words.userAgent, value: text(event.user_agent) },
  ]
}

function dataOf({ data }: Event): Fact[] {
  return Object.entries(data).map(([name, value]) => ({
    name,
    value: typeof value === 'string' ? text(value) : <Code>{JSON.stringify(value).slice(0, 2_000)}</Code>,
  }))
}

function Copyable({ value, label }: { value: string; label: string }) {
  return (
    <Group gap={4} wrap="nowrap">
      <span>{value}</span>
      <CopyButton value={value} label={label} />
    </Group>
  )
}

function text(value: string | null): ReactNode {
  return value === null || value === '' ? <None /> : <Foreign max={2_000}>{value}</Foreign>
}
