import { Badge, Card, Group, Stack, Text } from '@mantine/core'
import { IconRobot } from '@tabler/icons-react'
import { useQuery } from '@tanstack/react-query'
import { call } from '../api/client.ts'
import { keyOf } from '../api/operation.ts'
import type { Event } from '../api/types.ts'
import { AnchorLink } from '../ui/link.tsx'
import { EmptyState, ErrorState, LoadingState } from '../ui/states.tsx'
import { Foreign, Moment } from '../ui/text.tsx'
import { text } from './text.ts'

const STATES: Record<string, { words: string; color: string }> = {
  agent_action_proposed: { words: text.actions.states.proposed, color: 'ink' },
  agent_action_executed: { words: text.actions.states.executed, color: 'teal' },
  agent_action_failed: { words: text.actions.states.failed, color: 'red' },
}

/** The latest events of each type. */
const EVENTS_MAX = 50

/** What agents proposed and did for a contact. */
export function AgentActions({ contactId }: { contactId: string }) {
  const { data, error, refetch } = useQuery({
    queryKey: [...keyOf('listEvents', { contact_id: contactId }), 'agent actions'],
    queryFn: async ({ signal }) => {
      const read = (event_type: string) =>
        call('listEvents', { contact_id: contactId, event_type, limit: EVENTS_MAX }, signal)
      const responses = await Promise.all(Object.keys(STATES).map(read))
      return responses.flatMap(({ events }) => events).sort((a, b) => b.timestamp.localeCompare(a.timestamp))
    },
  })
  if (error && !data) return <ErrorState error={error} onRetry={refetch} />
  if (!data) return <LoadingState lines={4} />
  if (data.length === 0) {
    return (
      <EmptyState icon={IconRobot} title={text.actions.none}>
        {text.actions.noneHint}
      </EmptyState>
    )
  }
  return (
    <Stack gap="sm" component="ul" p={0} m={0} style={{ listStyle: 'none' }}>
      {data.map((event) => (
        <li key={event.event_id}>
          <ActionCard event={event} />
        </li>
      ))}
    </Stack>
  )
}

function ActionCard({ event: { event, timestamp, data } }: { event: Event }) {
  const state = STATES[event]
  const type = typeof data.type === 'string' ? data.type : text.actions.action
  const reason = typeof data.error === 'string' ? data.error : ''
  return (
    <Card padding="sm">
      <Group justify="space-between" gap="xs">
        <Group gap="xs">
          <Badge color={state?.color ?? 'gray'}>{state?.words ?? event}</Badge>
          <Text size="sm" fw={550}>
            <Foreign max={60}>{type.replaceAll('_', ' ')}</Foreign>
          </Text>
        </Group>
        <Group gap="sm">
          {typeof data.run_id === 'string' ? (
            <AnchorLink size="sm" to="/agents/runs/$runId" params={{ runId: data.run_id }}>
              {text.actions.viewRun}
            </AnchorLink>
          ) : null}
          <Moment at={timestamp} size="xs" c="dimmed" />
        </Group>
      </Group>
      {reason ? (
        <Text size="sm" c="dimmed" mt={4}>
          <Foreign>{reason}</Foreign>
        </Text>
      ) : null}
    </Card>
  )
}
