import { Alert, Card, Group, Loader, SimpleGrid, Stack, Text, Title } from '@mantine/core'
import { IconPlayerStop, IconUsers } from '@tabler/icons-react'
import { useQuery } from '@tanstack/react-query'
import { getRouteApi } from '@tanstack/react-router'
import { queryOf, useOperation } from '../api/operation.ts'
import type { Run, RunContact } from '../api/types.ts'
import { useMay } from '../session/may.ts'
import { ConfirmButton } from '../ui/confirm-button.tsx'
import { formatMoment, formatNumber } from '../ui/format.ts'
import { AnchorLink } from '../ui/link.tsx'
import { PageHeader } from '../ui/page-header.tsx'
import { PendingPage } from '../ui/page-states.tsx'
import { Pager } from '../ui/pager.tsx'
import { RunProgress } from '../ui/run-progress.tsx'
import { EmptyState, ErrorState, LoadingState } from '../ui/states.tsx'
import { Foreign } from '../ui/text.tsx'
import { proposerName } from './action-words.ts'
import { RunContactCard } from './run-contact.tsx'
import { formatCost, isUnderWay, RunState } from './run-state.tsx'
import { text } from './text.ts'
import { TriggerWords } from './trigger-words.tsx'

const route = getRouteApi('/shell/agents/runs/$runId')
/** Contacts per page. */
const CONTACTS_LENGTH = 10
/** How often to read again during the run, and while actions are executed. */
const RUNNING_MS = 2_000
const EXECUTING_MS = 3_000

/** One run: its status and cost, and for each contact the reasoning and the proposed actions. */
export function RunPage() {
  const { runId } = route.useParams()
  const { data, error, refetch } = useQuery({
    ...queryOf('getAgentRun', { run_id: runId, mode: 'summary' }),
    refetchInterval: ({ state }) => (state.data && !isUnderWay(state.data.run) ? false : RUNNING_MS),
  })
  const agent = useQuery({
    ...queryOf('getAgent', { agent_id: data?.run.agent_id ?? '' }),
    enabled: data !== undefined,
  })
  if (!data) return <PendingPage title={text.run.title} error={error} onRetry={refetch} />
  const { run } = data
  return (
    <>
      <PageHeader
        title={run.trigger === 'proposal' ? text.run.proposal : text.run.title}
        documentTitle={agent.data ? text.run.ofAgent(agent.data.agent.name) : text.run.title}
        description={
          <Group gap={8} aria-live="polite" component="span">
            <RunState status={run.status} />
            {isUnderWay(run) ? <Loader size={14} aria-hidden /> : null}
            <Start run={run} />
          </Group>
        }
        breadcrumb={<AgentLink agentId={run.agent_id} />}
        actions={<Cancel run={run} />}
      />
      <Stack gap="md">
        {run.error === null ? null : (
          <Alert color="red" role="alert" title={text.run.failed}>
            <Foreign max={1_000}>{run.error}</Foreign>
          </Alert>
        )}
        {run.notices.length > 0 ? (
          <Alert color="ink" variant="light" role="note" title={text.run.notices}>
            {run.notices.map((notice) => (
              <Text key={notice} size="sm">
                <Foreign max={1_000}>{notice}</Foreign>
              </Text>
            ))}
          </Alert>
        ) : null}
        {run.trigger === 'proposal' ? null : <Summary run={run} />}
        <Contacts run={run} />
      </Stack>
    </>
  )
}

function Start({ run: { trigger, triggered_by: triggeredBy, created_at: at, requested_by: by } }: { run: Run }) {
  if (triggeredBy === null) {
    return <Foreign max={160}>{text.run.started[trigger](formatMoment(at), proposerName(by))}</Foreign>
  }
  return (
    <span>
      {text.run.started[trigger](formatMoment(at), '')}: <TriggerWords trigger={triggeredBy} />
    </span>
  )
}

function AgentLink({ agentId }: { agentId: string }) {
  const { data } = useQuery(queryOf('getAgent', { agent_id: agentId }))
  return (
    <AnchorLink inherit to="/agents/$agentId" params={{ agentId }}>
      <Foreign max={80}>{data?.agent.name ?? text.agent}</Foreign>
    </AnchorLink>
  )
}

function Cancel({ run }: { run: Run }) {
  const cancelling = useOperation('cancelRun')
  if (!useMay('agents:trigger') || !isUnderWay(run)) return null
  return (
    <ConfirmButton
      leftSection={<IconPlayerStop size={16} aria-hidden />}
      title={text.run.cancelTitle}
      explanation={text.run.cancelExplanation}
      confirmLabel={text.run.cancel}
      onConfirm={() => cancelling.mutateAsync({ run_id: run.run_id })}
    >
      {text.run.cancel}
    </ConfirmButton>
  )
}

function Summary({ run: { summary, usage, model, provider, started_at: started, completed_at: ended } }: { run: Run }) {
  const seconds = started && ended ? Math.max(0, Math.round((Date.parse(ended) - Date.parse(started)) / 1_000)) : null
  return (
    <SimpleGrid cols={{ base: 2, sm: 3, lg: 6 }} spacing="sm" component="section" aria-label={text.run.summary}>
      <Figure
        label={text.run.contacts}
        value={formatNumber(summary.contacts_evaluated)}
        note={errorsOf(summary.errors)}
      />
      <Figure
        label={text.run.proposed}
        value={formatNumber(summary.actions_proposed)}
        note={skippedOf(summary.actions_skipped)}
      />
      <Figure label={text.run.autoApproved} value={formatNumber(summary.actions_auto_approved)} />
      <Figure label={text.run.waiting} value={formatNumber(summary.actions_pending_approval)} />
      <Figure
        label={text.run.cost}
        value={formatCost(usage.cost_usd)}
        note={text.run.tokens(usage.input_tokens, usage.output_tokens)}
      />
      <Figure
        label={text.run.model}
        value={provider === 'template' ? text.run.template : (model ?? provider ?? '–')}
        note={seconds === null ? undefined : text.run.seconds(seconds)}
      />
    </SimpleGrid>
  )
}

function skippedOf(count: number): string | undefined {
  return count === 0 ? undefined : text.run.waitAlready(count)
}

function errorsOf(count: number): string | undefined {
  return count === 0 ? undefined : text.run.errors(count)
}

function Figure({ label, value, note }: { label: string; value: string; note?: string | undefined }) {
  return (
    <Card padding="sm">
      <Text size="xs" c="dimmed">
        {label}
      </Text>
      <Text fw={650} fz={20} lh={1.3} lineClamp={2}>
        <Foreign max={60}>{value}</Foreign>
      </Text>
      {note === undefined ? null : (
        <Text size="xs" c="dimmed">
          {note}
        </Text>
      )}
    </Card>
  )
}

function Contacts({ run }: { run: Run }) {
  const { page = 1 } = route.useSearch()
  const navigate = route.useNavigate()
  const query = queryOf('listRunContacts', { run_id: run.run_id, page, limit: CONTACTS_LENGTH })
  const { data, error, refetch } = useQuery({
    ...query,
    // Read again when the run has ended: the last response may be older than its end, as may a prefetched one.
    queryKey: isUnderWay(run) ? [...query.queryKey, 'under way'] : query.queryKey,
    staleTime: 0,
    // Approved actions are executed after the run, too.
    refetchInterval: ({ state }) => {
      if (isUnderWay(run)) return RUNNING_MS
      return state.data?.contacts.some(hasExecution) ? EXECUTING_MS : false
    },
  })
  const total = data?.pagination.total_items ?? 0
  return (
    <section>
      <Title order={2} size="h4" mb="xs">
        {text.run.contacts}
      </Title>
      {data && isUnderWay(run) && total > 0 ? (
        <RunProgress share={data.done / total} label={text.run.progress}>
          {text.run.done(data.done, total)}
        </RunProgress>
      ) : null}
      {error && !data ? <ErrorState error={error} onRetry={refetch} /> : null}
      {!error && !data ? <LoadingState lines={6} /> : null}
      {data && data.contacts.length === 0 ? (
        <Card>
          <EmptyState icon={IconUsers} title={isUnderWay(run) ? text.run.choosing : text.run.none}>
            {isUnderWay(run) ? text.run.choosingHint : text.run.noneHint}
          </EmptyState>
        </Card>
      ) : null}
      <Stack gap="sm">
        {data?.contacts.map((contact) => (
          <RunContactCard key={contact.contact_id} result={contact} />
        ))}
      </Stack>
      {total > CONTACTS_LENGTH ? (
        <Card mt="sm" p={0}>
          <Pager
            label={text.run.pager}
            page={page}
            limit={CONTACTS_LENGTH}
            total={total}
            onPage={(next) => navigate({ search: next === 1 ? {} : { page: next } })}
          />
        </Card>
      ) : null}
    </section>
  )
}

/** Whether an approved action is about to be executed. */
function hasExecution({ proposed_actions: actions }: RunContact): boolean {
  return actions.some(
    ({ status, due_at: due }) => status === 'approved' && (due === null || Date.parse(due) < Date.now() + 60_000),
  )
}
