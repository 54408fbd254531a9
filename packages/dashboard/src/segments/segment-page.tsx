import { Button, Card, Group, Menu, SimpleGrid, Stack, Tabs, Text, Title } from '@mantine/core'
import {
  IconCopy,
  IconDots,
  IconDownload,
  IconEdit,
  IconRobot,
  IconTrash,
  IconUsers,
  IconWebhook,
} from '@tabler/icons-react'
import { useQuery } from '@tanstack/react-query'
import { getRouteApi, useNavigate } from '@tanstack/react-router'
import { useState } from 'react'
import { contactsCsv } from '../api/contacts.ts'
import { queryOf, useOperation } from '../api/operation.ts'
import { propertiesQuery } from '../api/properties.ts'
import {
  type GetSegmentGrowthResult,
  SEGMENT_MEMBERS_LENGTH,
  type Segment,
  segmentGrowthQuery,
  segmentQuery,
} from '../api/segments.ts'
import { filterWords } from '../filters/words.ts'
import { CREATED_COLUMN, FIRST_COLUMNS } from '../records/contact-columns.tsx'
import { useIsAtLeast, useMay } from '../session/may.ts'
import { ConfirmDialog } from '../ui/confirm-button.tsx'
import { DateRange } from '../ui/date-range.tsx'
import { formatNumber } from '../ui/format.ts'
import { AnchorLink, ButtonLink } from '../ui/link.tsx'
import { List } from '../ui/list-page.tsx'
import { PageHeader } from '../ui/page-header.tsx'
import { resolveRange } from '../ui/range.ts'
import { ErrorState, LoadingState } from '../ui/states.tsx'
import { Foreign } from '../ui/text.tsx'
import { TrendChart } from '../ui/trend-chart.tsx'
import { useMenuButton } from '../ui/use-menu-button.ts'
import { Changes } from './changes.tsx'
import { segmentSearch } from './segment-search.ts'
import { text } from './text.ts'

const words = text.segment

const route = getRouteApi('/shell/segments/$segmentId')
/** Segments are updated within ten seconds of a change. */
const REFRESH_MS = 5_000

/** One segment: its filter, its growth and its members. */
export function SegmentPage() {
  const { segmentId } = route.useParams()
  const { data: segment, error, refetch } = useQuery({ ...segmentQuery(segmentId), refetchInterval: REFRESH_MS })
  const breadcrumb = (
    <AnchorLink inherit to="/segments">
      {words.breadcrumb}
    </AnchorLink>
  )
  if (!segment) {
    return (
      <>
        <PageHeader title={words.title} breadcrumb={breadcrumb} />
        {error ? <ErrorState error={error} onRetry={refetch} /> : <LoadingState lines={8} />}
      </>
    )
  }
  return (
    <>
      <PageHeader
        title={<Foreign max={200}>{segment.name}</Foreign>}
        documentTitle={segment.name}
        description={segment.description === null ? undefined : <Foreign max={500}>{segment.description}</Foreign>}
        breadcrumb={breadcrumb}
        actions={<Actions segment={segment} />}
      />
      <Stack gap="md">
        <SimpleGrid cols={{ base: 1, md: 2 }} spacing="md">
          <Definition segment={segment} />
          <Growth segmentId={segmentId} />
        </SimpleGrid>
        <People segmentId={segmentId} />
      </Stack>
    </>
  )
}

/** What people do with a segment: see, export, write to and copy its members. */
function Actions({ segment }: { segment: Segment }) {
  const navigate = useNavigate()
  const { button, afterFocus } = useMenuButton()
  const [isDeleting, setDeleting] = useState(false)
  const { segment_id: segmentId } = segment
  const mayWrite = useIsAtLeast('member')
  const mayRun = useIsAtLeast('admin')
  const mayHook = useMay('webhooks:write')
  const removing = useOperation('deleteSegment', { onDone: () => navigate({ to: '/segments' }) })
  return (
    <>
      <ButtonLink
        variant="default"
        leftSection={<IconUsers size={16} aria-hidden />}
        to="/contacts"
        search={{ segment_id: segmentId }}
      >
        {words.openContacts}
      </ButtonLink>
      <Button
        component="a"
        variant="default"
        leftSection={<IconDownload size={16} aria-hidden />}
        href={contactsCsv({ segment_id: segmentId }, EXPORTED)}
        download
      >
        {words.export}
      </Button>
      {mayWrite ? (
        <>
          <ButtonLink
            leftSection={<IconEdit size={16} aria-hidden />}
            to="/segments/$segmentId/edit"
            params={{ segmentId }}
          >
            {words.edit}
          </ButtonLink>
          <Menu position="bottom-end">
            <Menu.Target>
              <Button ref={button} variant="default" px="xs" aria-label={words.more}>
                <IconDots size={16} aria-hidden />
              </Button>
            </Menu.Target>
            <Menu.Dropdown>
              {mayRun ? (
                <Menu.Item
                  leftSection={<IconRobot size={16} aria-hidden />}
                  onClick={() => navigate({ to: '/agents/new', search: { segment: segmentId } })}
                >
                  {words.startAgent}
                </Menu.Item>
              ) : null}
              {mayHook ? (
                <Menu.Item
                  leftSection={<IconWebhook size={16} aria-hidden />}
                  onClick={() => navigate({ to: '/webhooks/new', search: { event: 'segment_entered' } })}
                >
                  {words.webhook}
                </Menu.Item>
              ) : null}
              <Menu.Item
                leftSection={<IconCopy size={16} aria-hidden />}
                onClick={() => navigate({ to: '/segments/new', search: { copy: segmentId } })}
              >
                {words.duplicate}
              </Menu.Item>
              <Menu.Divider />
              <Menu.Item
                color="red"
                leftSection={<IconTrash size={16} aria-hidden />}
                onClick={afterFocus(() => setDeleting(true))}
              >
                {words.remove}
              </Menu.Item>
            </Menu.Dropdown>
          </Menu>
        </>
      ) : null}
      <ConfirmDialog
        opened={isDeleting}
        onClose={() => setDeleting(false)}
        title={words.removeTitle}
        explanation={words.removeHint}
        confirmLabel={words.removeConfirm}
        onConfirm={() => removing.mutateAsync({ segment_id: segmentId })}
      />
    </>
  )
}

/** The columns of the exported file. */
const EXPORTED = ['contact_id', 'email', 'firstname', 'lastname', 'company', 'jobtitle', 'lifecyclestage', 'created_at']

function Definition({ segment }: { segment: Segment }) {
  const { data } = useQuery(propertiesQuery('contacts'))
  const labels = new Map(data?.properties.map(({ name, label }) => [name, label]))
  return (
    <Card>
      <Title order={2} size="h5" mb="xs">
        {words.filter}
      </Title>
      <Text fz={36} fw={650} lh={1.1}>
        {segment.contact_count === null ? words.counting : formatNumber(segment.contact_count)}
      </Text>
      <Text size="sm" c="dimmed" mb="md">
        {words.now(segment.contact_count)}
      </Text>
      <Text size="sm" style={{ overflowWrap: 'anywhere' }}>
        <Foreign max={2_000}>{filterWords(segment.filter, labels)}</Foreign>
      </Text>
      <Text size="xs" c="dimmed" mt="md">
        {words.created(segment.created_at)}
      </Text>
    </Card>
  )
}

function Growth({ segmentId }: { segmentId: string }) {
  const search = route.useSearch()
  const navigate = route.useNavigate()
  const { data, error, refetch } = useQuery(segmentGrowthQuery(segmentId, resolveRange(search)))
  return (
    <Card>
      <Stack gap="sm">
        <Group justify="space-between">
          <Title order={2} size="h5">
            {words.size}
          </Title>
          <DateRange
            value={search}
            onChange={(changes) => navigate({ search: (before) => segmentSearch({ ...before, ...changes }) })}
          />
        </Group>
        {error && !data ? <ErrorState error={error} onRetry={refetch} /> : null}
        {!error && !data ? <LoadingState lines={5} /> : null}
        {data?.counting ? (
          <Text size="sm" c="dimmed">
            {words.counting}
          </Text>
        ) : null}
        {data && !data.counting ? <GrowthChart growth={data} from={resolveRange(search).from} /> : null}
      </Stack>
    </Card>
  )
}

function GrowthChart({ growth: { by_day: days, since }, from }: { growth: GetSegmentGrowthResult; from: string }) {
  const redefined = days.reduce((sum, day) => sum + day.redefined, 0)
  if (days.length === 0) {
    return (
      <Text size="sm" c="dimmed">
        {words.notYet(since)}
      </Text>
    )
  }
  return (
    <>
      <TrendChart
        label={words.chart}
        height={200}
        data={days.map(({ date, count, entered }) => ({ date, count, entered }))}
        series={[
          { name: 'count', label: words.contacts, color: 'ink.6', isLevel: true },
          { name: 'entered', label: words.entered, color: 'teal.6', isDashed: true },
        ]}
      />
      <Text size="xs" c="dimmed">
        {[since.slice(0, 10) >= from ? words.since(since) : '', redefined === 0 ? '' : words.redefined(redefined)]
          .filter(Boolean)
          .join(' ')}
      </Text>
    </>
  )
}

/** Who is in the segment, and who entered and left it. */
function People({ segmentId }: { segmentId: string }) {
  const { page, tab } = route.useSearch()
  const navigate = route.useNavigate()
  const mayReadEvents = useMay('events:read')
  const onPage = (next: number) =>
    navigate({
      search: (before) => segmentSearch({ ...before, page: next === 1 ? undefined : next }),
      replace: true,
    })
  const show = (next: string | null) =>
    navigate({
      search: (before) =>
        segmentSearch({ ...before, page: undefined, tab: next === 'changes' ? 'changes' : undefined }),
      replace: true,
    })
  return (
    <Tabs value={tab ?? 'members'} onChange={show} keepMounted={false}>
      <Tabs.List mb="sm" aria-label={words.people}>
        <Tabs.Tab value="members">{words.members}</Tabs.Tab>
        {mayReadEvents ? <Tabs.Tab value="changes">{text.changes.title}</Tabs.Tab> : null}
      </Tabs.List>
      <Tabs.Panel value="members">
        <Members segmentId={segmentId} page={page} onPage={onPage} />
      </Tabs.Panel>
      <Tabs.Panel value="changes">
        <Changes segmentId={segmentId} page={page} onPage={onPage} />
      </Tabs.Panel>
    </Tabs>
  )
}

interface TableProps {
  segmentId: string
  page: number | undefined
  onPage: (page: number) => void
}

function Members({ segmentId, page, onPage }: TableProps) {
  const members = useQuery({
    ...queryOf('listSegmentContacts', { segment_id: segmentId, page: page ?? 1, limit: SEGMENT_MEMBERS_LENGTH }),
    refetchInterval: REFRESH_MS,
  })
  const isCounting = members.data?.counting === true
  return (
    <List
      label={words.membersTable}
      query={members}
      rowsOf={({ contacts }) => contacts}
      rowKey={({ contact_id }) => contact_id}
      opensRows
      columns={MEMBER_COLUMNS}
      empty={{
        icon: IconUsers,
        title: isCounting ? words.counting : words.noMembers,
        hint: isCounting ? words.countingHint : words.noMembersHint,
      }}
      paging={{ page, limit: SEGMENT_MEMBERS_LENGTH, onPage }}
    />
  )
}

const MEMBER_COLUMNS = [...FIRST_COLUMNS, { ...CREATED_COLUMN, visibleFrom: 'md' as const }]
