import { Card, Group, SimpleGrid, Stack, Text, Title } from '@mantine/core'
import { IconEdit, IconTrash, IconUsers } from '@tabler/icons-react'
import { useQuery, useQueryClient } from '@tanstack/react-query'
import { getRouteApi, useNavigate } from '@tanstack/react-router'
import { propertiesQuery } from '../api/properties.ts'
import {
  deleteSegment,
  type GetSegmentGrowthResult,
  refreshSegments,
  SEGMENT_MEMBERS_LENGTH,
  type Segment,
  segmentGrowthQuery,
  segmentMembersQuery,
  segmentQuery,
} from '../api/segments.ts'
import { filterWords } from '../filters/words.ts'
import { CREATED_COLUMN, FIRST_COLUMNS } from '../records/contact-columns.tsx'
import { useIsAtLeast } from '../session/may.ts'
import { ConfirmButton } from '../ui/confirm-button.tsx'
import { DataTable } from '../ui/data-table.tsx'
import { DateRange } from '../ui/date-range.tsx'
import { formatNumber } from '../ui/format.ts'
import { AnchorLink, ButtonLink } from '../ui/link.tsx'
import { PageHeader } from '../ui/page-header.tsx'
import { resolveRange } from '../ui/range.ts'
import { EmptyState, ErrorState, LoadingState } from '../ui/states.tsx'
import { Foreign } from '../ui/text.tsx'
import { TrendChart } from '../ui/trend-chart.tsx'
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
        <Members segmentId={segmentId} />
      </Stack>
    </>
  )
}

function Actions({ segment }: { segment: Segment }) {
  const navigate = useNavigate()
  const queryClient = useQueryClient()
  const { segment_id: segmentId } = segment
  if (!useIsAtLeast('member')) return null
  const remove = async () => {
    await deleteSegment(segmentId)
    await navigate({ to: '/segments' })
    await refreshSegments(queryClient)
  }
  return (
    <>
      <ButtonLink
        variant="default"
        leftSection={<IconEdit size={16} aria-hidden />}
        to="/segments/$segmentId/edit"
        params={{ segmentId }}
      >
        {words.edit}
      </ButtonLink>
      <ConfirmButton
        leftSection={<IconTrash size={16} aria-hidden />}
        title={words.removeTitle}
        explanation={words.removeHint}
        confirmLabel={words.removeConfirm}
        onConfirm={remove}
      >
        {words.remove}
      </ConfirmButton>
    </>
  )
}

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

function Members({ segmentId }: { segmentId: string }) {
  const { page = 1 } = route.useSearch()
  const navigate = route.useNavigate()
  const { data, error, isPlaceholderData, refetch } = useQuery({
    ...segmentMembersQuery(segmentId, page, SEGMENT_MEMBERS_LENGTH),
    refetchInterval: REFRESH_MS,
  })
  return (
    <section>
      <Title order={2} size="h4" mb="sm">
        {words.members}
      </Title>
      <DataTable
        label={words.membersTable}
        columns={MEMBER_COLUMNS}
        rows={data?.contacts}
        rowKey={({ contact_id }) => contact_id}
        error={error}
        onRetry={refetch}
        isUpdating={isPlaceholderData}
        empty={
          data?.counting ? (
            <EmptyState icon={IconUsers} title={words.counting}>
              {words.countingHint}
            </EmptyState>
          ) : (
            <EmptyState icon={IconUsers} title={words.noMembers}>
              {words.noMembersHint}
            </EmptyState>
          )
        }
        paging={{
          page,
          limit: SEGMENT_MEMBERS_LENGTH,
          total: data?.pagination.total_items ?? 0,
          onPage: (next) =>
            navigate({
              search: (before) => segmentSearch({ ...before, page: next === 1 ? undefined : next }),
              replace: true,
            }),
        }}
      />
    </section>
  )
}

const MEMBER_COLUMNS = [...FIRST_COLUMNS, { ...CREATED_COLUMN, visibleFrom: 'md' as const }]
