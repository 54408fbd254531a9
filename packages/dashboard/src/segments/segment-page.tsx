import { Card, SimpleGrid, Stack, Tabs, Text, Title } from '@mantine/core'
import { IconBuilding, IconUsers } from '@tabler/icons-react'
import { useQuery } from '@tanstack/react-query'
import { getRouteApi } from '@tanstack/react-router'
import { queryOf } from '../api/operation.ts'
import type { Segment } from '../api/types.ts'
import { useFilterNames } from '../filters/fields.ts'
import { filterWords } from '../filters/words.ts'
import { COMPANY_COLUMNS } from '../records/company-columns.tsx'
import { CREATED_COLUMN, FIRST_COLUMNS } from '../records/contact-columns.tsx'
import { useMay } from '../session/may.ts'
import { formatNumber } from '../ui/format.ts'
import { AnchorLink } from '../ui/link.tsx'
import { List } from '../ui/list-page.tsx'
import { PageHeader } from '../ui/page-header.tsx'
import { PendingPage } from '../ui/page-states.tsx'
import { Foreign } from '../ui/text.tsx'
import { Changes } from './changes.tsx'
import { Growth } from './growth.tsx'
import { SegmentActions } from './segment-actions.tsx'
import { segmentSearch } from './segment-search.ts'
import { text } from './text.ts'

const words = text.segment

const route = getRouteApi('/shell/segments/$segmentId')
/** Segments are updated within ten seconds of a change. */
const REFRESH_MS = 5_000
/** Rows per page. */
const MEMBERS_LENGTH = 20

/** One segment: its filter, its growth and its members. */
export function SegmentPage() {
  const { segmentId } = route.useParams()
  const { data, error, refetch } = useQuery({
    ...queryOf('getSegment', { segment_id: segmentId }),
    refetchInterval: REFRESH_MS,
  })
  const breadcrumb = (
    <AnchorLink inherit to="/segments">
      {words.breadcrumb}
    </AnchorLink>
  )
  if (!data) return <PendingPage title={words.title} breadcrumb={breadcrumb} error={error} onRetry={refetch} />
  const { segment } = data
  return (
    <>
      <PageHeader
        title={<Foreign max={200}>{segment.name}</Foreign>}
        documentTitle={segment.name}
        description={segment.description === null ? undefined : <Foreign max={500}>{segment.description}</Foreign>}
        breadcrumb={breadcrumb}
        actions={<SegmentActions segment={segment} />}
      />
      <Stack gap="md">
        <SimpleGrid cols={{ base: 1, md: 2 }} spacing="md">
          <Definition segment={segment} />
          {segment.entity === 'contacts' ? <Growth segmentId={segmentId} /> : null}
        </SimpleGrid>
        {segment.entity === 'contacts' ? <People segmentId={segmentId} /> : <Companies segmentId={segmentId} />}
      </Stack>
    </>
  )
}

function Definition({ segment }: { segment: Segment }) {
  const names = useFilterNames(segment.entity, [segment.filter])
  const count = segment.contact_count ?? segment.company_count
  return (
    <Card>
      <Title order={2} size="h5" mb="xs">
        {words.filter}
      </Title>
      <Text fz={36} fw={650} lh={1.1}>
        {count === null ? words.counting : formatNumber(count)}
      </Text>
      <Text size="sm" c="dimmed" mb="md">
        {words.now[segment.entity](count)}
      </Text>
      <Text size="sm" style={{ overflowWrap: 'anywhere' }}>
        <Foreign max={2_000}>{filterWords(segment.filter, names)}</Foreign>
      </Text>
      <Text size="xs" c="dimmed" mt="md">
        {words.created(segment.created_at)}
      </Text>
    </Card>
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
    ...queryOf('listSegmentContacts', { segment_id: segmentId, page: page ?? 1, limit: MEMBERS_LENGTH }),
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
        title: isCounting ? words.counting : words.noMembers.contacts,
        hint: isCounting ? words.countingHint.contacts : words.noMembersHint.contacts,
      }}
      paging={{ page, limit: MEMBERS_LENGTH, onPage }}
    />
  )
}

/** The companies in a segment of companies. */
function Companies({ segmentId }: { segmentId: string }) {
  const { page } = route.useSearch()
  const navigate = route.useNavigate()
  const companies = useQuery({
    ...queryOf('listSegmentCompanies', { segment_id: segmentId, page: page ?? 1, limit: MEMBERS_LENGTH }),
    refetchInterval: REFRESH_MS,
  })
  const isCounting = companies.data?.counting === true
  return (
    <List
      label={words.membersTable}
      query={companies}
      rowsOf={(data) => data.companies}
      rowKey={({ company_id }) => company_id}
      opensRows
      columns={SHOWN_OF_COMPANIES}
      empty={{
        icon: IconBuilding,
        title: isCounting ? words.counting : words.noMembers.companies,
        hint: isCounting ? words.countingHint.companies : words.noMembersHint.companies,
      }}
      paging={{
        page,
        limit: MEMBERS_LENGTH,
        onPage: (next) => navigate({ search: segmentSearch({ page: next === 1 ? undefined : next }), replace: true }),
      }}
    />
  )
}

const SHOWN_OF_COMPANIES = COMPANY_COLUMNS.filter(({ id }) => ['name', 'domain', 'industry', 'created_at'].includes(id))
const MEMBER_COLUMNS = [...FIRST_COLUMNS, { ...CREATED_COLUMN, visibleFrom: 'md' as const }]
