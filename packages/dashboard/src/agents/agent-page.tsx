import { Alert, Card, Grid, Stack, Switch, Text, Title } from '@mantine/core'
import { IconChartBar, IconEdit, IconPlayerPlay, IconTrash } from '@tabler/icons-react'
import { useQuery } from '@tanstack/react-query'
import { getRouteApi, useNavigate } from '@tanstack/react-router'
import { queryOf, useOperation } from '../api/operation.ts'
import type { Agent, Run } from '../api/types.ts'
import { useIsAtLeast, useMay } from '../session/may.ts'
import { ConfirmButton } from '../ui/confirm-button.tsx'
import type { Column } from '../ui/data-table.tsx'
import { formatMoment, formatNumber } from '../ui/format.ts'
import { AnchorLink, ButtonLink } from '../ui/link.tsx'
import { List } from '../ui/list-page.tsx'
import { PageHeader } from '../ui/page-header.tsx'
import { PendingPage } from '../ui/page-states.tsx'
import { messageOf } from '../ui/states.tsx'
import { Foreign, Moment } from '../ui/text.tsx'
import { proposerName } from './action-words.ts'
import { AgentFacts } from './agent-facts.tsx'
import { RunNow } from './run-now.tsx'
import { formatCost, isUnderWay, RunState } from './run-state.tsx'
import { text } from './text.ts'
import { TriggerWords } from './trigger-words.tsx'

const route = getRouteApi('/shell/agents/$agentId')

/** Rows per page. */
const RUNS_LENGTH = 20
/** How often to read again while the agent runs. */
const RUNNING_MS = 2_500

/** One agent: its settings and its runs. */
export function AgentPage() {
  const { agentId } = route.useParams()
  const { data, error, refetch } = useQuery(queryOf('getAgent', { agent_id: agentId }))
  const breadcrumb = (
    <AnchorLink inherit to="/agents">
      {text.title}
    </AnchorLink>
  )
  if (!data) return <PendingPage title={text.agent} breadcrumb={breadcrumb} error={error} onRetry={refetch} />
  const { agent } = data
  return (
    <>
      <PageHeader
        title={<Foreign max={200}>{agent.name}</Foreign>}
        documentTitle={agent.name}
        description={agent.description === null ? undefined : <Foreign max={500}>{agent.description}</Foreign>}
        breadcrumb={breadcrumb}
        actions={<Actions agent={agent} />}
      />
      <Grid gap="md">
        <Grid.Col span={{ base: 12, lg: 4 }} order={{ base: 2, lg: 1 }}>
          <Stack gap="md">
            <Enabled agent={agent} />
            <AgentFacts agent={agent} />
          </Stack>
        </Grid.Col>
        <Grid.Col span={{ base: 12, lg: 8 }} order={{ base: 1, lg: 2 }}>
          <Runs agent={agent} />
        </Grid.Col>
      </Grid>
    </>
  )
}

function Actions({ agent }: { agent: Agent }) {
  const navigate = useNavigate()
  const { agent_id: agentId } = agent
  const mayRun = useMay('agents:trigger')
  const mayWrite = useMay('agents:write')
  const remove = useOperation('deleteAgent', { onDone: () => navigate({ to: '/agents' }) })
  return (
    <>
      {mayRun ? <RunNow agent={agent} /> : null}
      <ButtonLink
        variant="default"
        leftSection={<IconChartBar size={16} aria-hidden />}
        to="/agents/$agentId/outcomes"
        params={{ agentId }}
      >
        {text.outcomes.open}
      </ButtonLink>
      {mayWrite ? (
        <>
          <ButtonLink
            variant="default"
            leftSection={<IconEdit size={16} aria-hidden />}
            to="/agents/$agentId/edit"
            params={{ agentId }}
          >
            {text.page.edit}
          </ButtonLink>
          <ConfirmButton
            leftSection={<IconTrash size={16} aria-hidden />}
            title={text.page.deleteTitle}
            explanation={text.page.deleteExplanation}
            confirmLabel={text.page.deleteConfirm}
            onConfirm={() => remove.mutateAsync({ agent_id: agentId })}
          >
            {text.page.delete}
          </ConfirmButton>
        </>
      ) : null}
    </>
  )
}

function Enabled({ agent }: { agent: Agent }) {
  const isAdmin = useIsAtLeast('admin')
  const switching = useOperation('updateAgent')
  const isOn = switching.isPending ? switching.variables.enabled : agent.enabled
  const { next_run_at: next } = agent
  const when = next === null ? whyNoRun(agent) : text.page.nextRun(formatMoment(next))
  return (
    <Card>
      {isAdmin ? (
        <Switch
          label={text.enabled}
          description={when}
          checked={isOn}
          disabled={switching.isPending}
          onChange={(event) => switching.mutate({ agent_id: agent.agent_id, enabled: event.currentTarget.checked })}
        />
      ) : (
        <>
          <Text fw={600}>{isOn ? text.enabled : text.disabled}</Text>
          <Text size="sm" c="dimmed">
            {when}
          </Text>
        </>
      )}
      {switching.isError ? (
        <Alert color="red" role="alert" mt="sm">
          {messageOf(switching.error)}
        </Alert>
      ) : null}
    </Card>
  )
}

function whyNoRun({ enabled, monitoring }: Agent): string {
  if (monitoring.schedule_cron === undefined) {
    if (monitoring.triggers === undefined) return text.page.noSchedule
    return enabled ? text.page.onTriggers : text.page.pausedTriggers
  }
  return enabled ? text.page.nothingDue : text.page.paused
}

function Runs({ agent }: { agent: Agent }) {
  const { page = 1 } = route.useSearch()
  const navigate = route.useNavigate()
  const { agent_id } = agent
  const runs = useQuery({
    ...queryOf('listAgentRuns', { agent_id, limit: RUNS_LENGTH, offset: (page - 1) * RUNS_LENGTH }),
    refetchInterval: ({ state }) => (state.data?.runs.some(isUnderWay) ? RUNNING_MS : false),
  })
  return (
    <section>
      <Title order={2} size="h4" mb="xs">
        {text.page.runs}
      </Title>
      <List
        label={text.page.runs}
        query={runs}
        rowsOf={(data) => data.runs}
        rowKey={({ run_id }) => run_id}
        columns={RUN_COLUMNS}
        empty={{ icon: IconPlayerPlay, title: text.page.noRuns, hint: text.page.noRunsHint }}
        paging={{
          page,
          limit: RUNS_LENGTH,
          onPage: (next) => navigate({ search: next === 1 ? {} : { page: next } }),
        }}
      />
    </section>
  )
}

const RUN_COLUMNS: Column<Run>[] = [
  {
    id: 'created_at',
    header: text.page.columns.started,
    cell: ({ run_id: runId, created_at: at }) => (
      <AnchorLink fw={550} inherit to="/agents/runs/$runId" params={{ runId }}>
        <Moment at={at} />
      </AnchorLink>
    ),
  },
  { id: 'status', header: text.page.columns.status, cell: (run) => <RunState status={run.status} /> },
  {
    id: 'trigger',
    header: text.page.columns.by,
    visibleFrom: 'xl',
    cell: ({ trigger, triggered_by: triggeredBy, requested_by: by }) => {
      if (triggeredBy !== null) return <TriggerWords trigger={triggeredBy} />
      if (trigger === 'proposal') return <Foreign max={80}>{text.page.proposedBy(proposerName(by))}</Foreign>
      return trigger === 'schedule' ? text.page.bySchedule : text.page.byHand
    },
  },
  {
    id: 'contacts',
    header: text.page.columns.contacts,
    align: 'right',
    visibleFrom: 'sm',
    cell: ({ summary }) => formatNumber(summary.contacts_evaluated),
  },
  {
    id: 'proposed',
    header: text.page.columns.proposed,
    align: 'right',
    cell: ({ summary }) => formatNumber(summary.actions_proposed),
  },
  {
    id: 'waiting',
    header: text.page.columns.waiting,
    align: 'right',
    visibleFrom: 'sm',
    cell: ({ summary }) => formatNumber(summary.actions_pending_approval),
  },
  {
    id: 'cost',
    header: text.page.columns.cost,
    align: 'right',
    visibleFrom: 'md',
    cell: ({ usage }) => formatCost(usage.cost_usd),
  },
]
