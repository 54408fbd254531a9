import { Group, Text } from '@mantine/core'
import { IconAdjustments, IconPlus, IconRobot } from '@tabler/icons-react'
import { useQuery } from '@tanstack/react-query'
import { getRouteApi } from '@tanstack/react-router'
import { queryOf } from '../api/operation.ts'
import type { ListAgentsResult } from '../api/types.ts'
import { useIsAtLeast } from '../session/may.ts'
import type { Column } from '../ui/data-table.tsx'
import { AnchorLink, ButtonLink } from '../ui/link.tsx'
import { ListPage } from '../ui/list-page.tsx'
import { Foreign, Moment, None } from '../ui/text.tsx'
import { AgentState, isUnderWay, RunState } from './run-state.tsx'
import { ScheduleWords } from './schedule-words.tsx'
import { text } from './text.ts'

const route = getRouteApi('/shell/agents')
/** Rows per page. */
const AGENTS_LENGTH = 50
/** How often to read again while an agent runs. */
const RUNNING_MS = 2_500

/** All agents, with their status and last run. */
export function AgentsPage() {
  const { page = 1 } = route.useSearch()
  const navigate = route.useNavigate()
  const agents = useQuery({
    ...queryOf('listAgents', {
      limit: AGENTS_LENGTH,
      offset: (page - 1) * AGENTS_LENGTH,
      include: 'last_run',
    }),
    refetchInterval: ({ state }) =>
      state.data?.agents.some(({ last_run }) => isUnderWay(last_run)) ? RUNNING_MS : false,
  })
  const { data: known } = useQuery(queryOf('listPlaybooks'))
  const titles = new Map(known?.playbooks.templates.map(({ name, title }) => [name, title]))
  return (
    <ListPage
      title={text.title}
      description={text.list.description}
      actions={
        <ButtonLink variant="default" leftSection={<IconAdjustments size={16} aria-hidden />} to="/agents/settings">
          {text.list.rules}
        </ButtonLink>
      }
      create={
        useIsAtLeast('admin') ? (
          <ButtonLink leftSection={<IconPlus size={16} aria-hidden />} to="/agents/new">
            {text.list.create}
          </ButtonLink>
        ) : null
      }
      label={text.title}
      opensRows
      query={agents}
      rowsOf={(data) => data.agents}
      rowKey={({ agent_id }) => agent_id}
      columns={columnsWith(titles)}
      empty={{ icon: IconRobot, title: text.list.none, hint: text.list.noneHint }}
      paging={{
        page,
        limit: AGENTS_LENGTH,
        onPage: (next) => navigate({ search: next === 1 ? {} : { page: next } }),
      }}
    />
  )
}

function columnsWith(titles: ReadonlyMap<string, string>): Column<ListAgentsResult['agents'][number]>[] {
  return [
    {
      id: 'name',
      header: text.list.columns.name,
      cell: ({ agent_id: agentId, name, playbook_template: template }) => (
        <>
          <AnchorLink fw={550} inherit to="/agents/$agentId" params={{ agentId }}>
            <Foreign max={120}>{name}</Foreign>
          </AnchorLink>
          <Text size="xs" c="dimmed">
            {template === null ? text.list.custom : (titles.get(template) ?? template)}
          </Text>
        </>
      ),
    },
    { id: 'state', header: text.list.columns.status, cell: ({ enabled }) => <AgentState isEnabled={enabled} /> },
    {
      id: 'schedule',
      header: text.list.columns.runs,
      visibleFrom: 'md',
      cell: ({ monitoring: { schedule_cron: cron, time_zone: zone, triggers } }) =>
        cron === undefined ? (
          <Text c="dimmed">{triggers === undefined ? text.list.manually : text.list.onTriggers}</Text>
        ) : (
          <ScheduleWords cron={cron} timeZone={zone} />
        ),
    },
    {
      id: 'last',
      header: text.list.columns.last,
      visibleFrom: 'sm',
      cell: ({ last_run: run }) =>
        !run ? (
          <Text c="dimmed">{text.list.never}</Text>
        ) : (
          <Group gap={8} wrap="nowrap">
            <RunState status={run.status} />
            <AnchorLink inherit to="/agents/runs/$runId" params={{ runId: run.run_id }}>
              <Moment at={run.created_at} />
            </AnchorLink>
          </Group>
        ),
    },
    {
      id: 'waiting',
      header: text.list.columns.proposed,
      align: 'right',
      visibleFrom: 'lg',
      cell: ({ last_run: run }) => run?.summary.actions_proposed ?? <None />,
    },
    {
      id: 'next',
      header: text.list.columns.next,
      visibleFrom: 'lg',
      cell: ({ next_run_at: at }) => (at === null ? <None /> : <Moment at={at} c="dimmed" />),
    },
  ]
}
