import { Alert, Group, SegmentedControl, Stack, Text } from '@mantine/core'
import { keepPreviousData, useQuery } from '@tanstack/react-query'
import { getRouteApi } from '@tanstack/react-router'
import { queryOf } from '../api/operation.ts'
import { useIsAtLeast } from '../session/may.ts'
import { AnchorLink } from '../ui/link.tsx'
import { PageHeader } from '../ui/page-header.tsx'
import { Pager } from '../ui/pager.tsx'
import { ErrorState, LoadingState } from '../ui/states.tsx'
import { Foreign } from '../ui/text.tsx'
import { outcomesInput, type Period } from './outcomes-query.ts'
import { text as texts } from './text.ts'
import { VersionCard } from './version-card.tsx'

const text = texts.outcomes
const route = getRouteApi('/shell/agents/$agentId/outcomes')

/** What the versions of an agent's playbook led to. */
export function OutcomesPage() {
  const { agentId } = route.useParams()
  const { page = 1, days } = route.useSearch()
  const navigate = route.useNavigate()
  const isAdmin = useIsAtLeast('admin')
  const agent = useQuery(queryOf('getAgent', { agent_id: agentId }))
  const outcomes = useQuery({
    ...queryOf('getAgentOutcomes', outcomesInput(agentId, days, page)),
    placeholderData: keepPreviousData,
  })
  const { data, error, refetch } = outcomes
  return (
    <>
      <PageHeader
        title={text.title}
        description={text.description}
        breadcrumb={
          <AnchorLink inherit to="/agents/$agentId" params={{ agentId }}>
            {agent.data ? <Foreign max={80}>{agent.data.agent.name}</Foreign> : texts.agent}
          </AnchorLink>
        }
      />
      <Stack gap="md" maw={860}>
        <Group>
          <SegmentedControl
            size="xs"
            aria-label={text.period}
            value={days ?? 'all'}
            onChange={(value) => navigate({ search: value === 'all' ? {} : { days: value as Period } })}
            data={(['all', '90', '30'] as const).map((value) => ({ value, label: text.periods[value] }))}
          />
        </Group>
        {data && data.goal === null ? (
          <Alert color="ink" variant="light" role="note">
            {text.noGoal}{' '}
            {isAdmin ? (
              <AnchorLink inherit underline="always" to="/agents/$agentId/edit" params={{ agentId }}>
                {text.setGoal}
              </AnchorLink>
            ) : null}
          </Alert>
        ) : null}
        {error && !data ? <ErrorState error={error} onRetry={refetch} /> : null}
        {!error && !data ? <LoadingState lines={8} /> : null}
        {data?.outcomes.map((outcome) => (
          <VersionCard
            key={outcome.playbook_version}
            agentId={agentId}
            outcome={outcome}
            goal={data.goal}
            windowDays={data.window_days}
          />
        ))}
        {data && data.pagination.total_pages > 1 ? (
          <Pager
            label={text.title}
            page={page}
            limit={data.pagination.limit}
            total={data.pagination.total_items}
            onPage={(next) =>
              navigate({ search: { ...(next === 1 ? {} : { page: next }), ...(days === undefined ? {} : { days }) } })
            }
          />
        ) : null}
        {data ? (
          <Text size="sm" c="dimmed">
            {text.within(data.window_days)}
          </Text>
        ) : null}
      </Stack>
    </>
  )
}
