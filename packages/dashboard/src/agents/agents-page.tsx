import { Anchor, Button, Group, Text } from '@mantine/core'
import { IconAdjustments, IconPlus, IconRobot } from '@tabler/icons-react'
import { useQuery } from '@tanstack/react-query'
import { getRouteApi, Link } from '@tanstack/react-router'
import { agentsQuery, type ListedAgent, playbooksQuery } from '../api/agents.ts'
import { useIsAtLeast } from '../app/may.ts'
import { type Column, DataTable } from '../ui/data-table.tsx'
import { PageHeader } from '../ui/page-header.tsx'
import { EmptyState } from '../ui/states.tsx'
import { Foreign, Moment, None } from '../ui/text.tsx'
import { PAGE_LENGTH } from './page-lengths.ts'
import { AgentState, RunState } from './run-state.tsx'
import { ScheduleWords } from './schedule-words.tsx'

const route = getRouteApi('/shell/agents')

/** All agents, with their status and last run. */
export function AgentsPage() {
  const { page = 1 } = route.useSearch()
  const navigate = route.useNavigate()
  const isAdmin = useIsAtLeast('admin')
  const { data, error, isPlaceholderData, refetch } = useQuery(
    agentsQuery({ limit: PAGE_LENGTH, offset: (page - 1) * PAGE_LENGTH }),
  )
  const { data: playbooks } = useQuery(playbooksQuery)
  const titles = new Map(playbooks?.templates.map(({ name, title }) => [name, title]))
  const create = isAdmin ? (
    <Button
      leftSection={<IconPlus size={16} aria-hidden />}
      renderRoot={(props) => <Link to="/agents/new" {...props} />}
    >
      New agent
    </Button>
  ) : null
  return (
    <>
      <PageHeader
        title="Agents"
        description="Agents evaluate contacts and propose actions. Your rules and approvals decide what is sent."
        actions={
          <>
            <Button
              variant="default"
              leftSection={<IconAdjustments size={16} aria-hidden />}
              renderRoot={(props) => <Link to="/agents/settings" {...props} />}
            >
              Rules for all
            </Button>
            {create}
          </>
        }
      />
      <DataTable
        label="Agents"
        columns={columnsWith(titles)}
        rows={data?.agents}
        rowKey={({ agent_id }) => agent_id}
        error={error}
        onRetry={refetch}
        isUpdating={isPlaceholderData}
        empty={
          <EmptyState icon={IconRobot} title="No agents yet" action={create}>
            Start with a template: follow up with people who viewed your pricing, welcome new sign-ups, notice who is
            about to leave.
          </EmptyState>
        }
        paging={{
          page,
          limit: PAGE_LENGTH,
          total: data?.total ?? 0,
          onPage: (next) => navigate({ search: next === 1 ? {} : { page: next } }),
        }}
      />
    </>
  )
}

function columnsWith(titles: ReadonlyMap<string, string>): Column<ListedAgent>[] {
  return [
    {
      id: 'name',
      header: 'Name',
      cell: ({ agent_id: agentId, name, playbook_template: template }) => (
        <>
          <Anchor
            fw={550}
            inherit
            renderRoot={(props) => <Link to="/agents/$agentId" params={{ agentId }} {...props} />}
          >
            <Foreign max={120}>{name}</Foreign>
          </Anchor>
          <Text size="xs" c="dimmed">
            {template === null ? 'Custom playbook' : (titles.get(template) ?? template)}
          </Text>
        </>
      ),
    },
    { id: 'state', header: 'Status', cell: ({ enabled }) => <AgentState isEnabled={enabled} /> },
    {
      id: 'schedule',
      header: 'Runs',
      visibleFrom: 'md',
      cell: ({ monitoring: { schedule_cron: cron, time_zone: zone } }) =>
        cron === undefined ? <Text c="dimmed">manually</Text> : <ScheduleWords cron={cron} timeZone={zone} />,
    },
    {
      id: 'last',
      header: 'Last run',
      visibleFrom: 'sm',
      cell: ({ last_run: run }) =>
        !run ? (
          <Text c="dimmed">never</Text>
        ) : (
          <Group gap={8} wrap="nowrap">
            <RunState status={run.status} />
            <Anchor
              inherit
              renderRoot={(props) => <Link to="/agents/runs/$runId" params={{ runId: run.run_id }} {...props} />}
            >
              <Moment at={run.created_at} />
            </Anchor>
          </Group>
        ),
    },
    {
      id: 'waiting',
      header: 'Proposed',
      align: 'right',
      visibleFrom: 'lg',
      cell: ({ last_run: run }) => run?.summary.actions_proposed ?? <None />,
    },
    {
      id: 'next',
      header: 'Next run',
      visibleFrom: 'lg',
      cell: ({ next_run_at: at }) => (at === null ? <None /> : <Moment at={at} c="dimmed" />),
    },
  ]
}
