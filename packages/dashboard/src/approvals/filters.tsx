import { Group, NativeSelect } from '@mantine/core'
import { useQuery } from '@tanstack/react-query'
import { ACTION_WORDS } from '../agents/action-words.ts'
import { queryOf } from '../api/operation.ts'
import { ErrorState } from '../ui/states.tsx'
import classes from './approvals.module.css'
import { text } from './text.ts'
import type { WaitingFilters } from './waiting.ts'

/** The most agents to choose from; a link can name any. */
const AGENTS_MAX = 100

interface FiltersProps {
  filters: WaitingFilters
  onChange: (filters: Pick<WaitingFilters, 'agent_id' | 'type'>) => void
}

/** Narrows the list to an agent and a kind of action. */
export function Filters({ filters: { agent_id, type }, onChange }: FiltersProps) {
  const { data, error, refetch } = useQuery(queryOf('listAgents', { limit: AGENTS_MAX }))
  const agents = data?.agents.map((agent) => ({ value: agent.agent_id, label: agent.name.slice(0, 60) })) ?? []
  const isUnknown = agent_id !== undefined && !agents.some(({ value }) => value === agent_id)
  const kinds = Object.entries(ACTION_WORDS).map(([value, { label }]) => ({ value, label }))
  return (
    <search aria-label={text.filters.label} className={classes.filters}>
      {error && !data ? <ErrorState error={error} onRetry={refetch} /> : null}
      <Group gap="xs" mb="md">
        <NativeSelect
          size="xs"
          aria-label={text.filters.agent}
          value={agent_id ?? ''}
          data={[
            { value: '', label: text.filters.anyAgent },
            ...(isUnknown ? [{ value: agent_id, label: agent_id }] : []),
            ...agents,
          ]}
          onChange={({ currentTarget: { value } }) => onChange({ agent_id: value === '' ? undefined : value, type })}
        />
        <NativeSelect
          size="xs"
          aria-label={text.filters.kind}
          value={type ?? ''}
          data={[{ value: '', label: text.filters.anyKind }, ...kinds]}
          onChange={({ currentTarget: { value } }) =>
            onChange({ agent_id, type: value === '' ? undefined : (value as NonNullable<typeof type>) })
          }
        />
      </Group>
    </search>
  )
}
