import { Badge } from '@mantine/core'
import type { Run } from '../api/agents.ts'

const STATES: Record<Run['status'], { label: string; color: string }> = {
  queued: { label: 'Queued', color: 'gray' },
  running: { label: 'Running', color: 'ink' },
  completed: { label: 'Completed', color: 'teal' },
  failed: { label: 'Failed', color: 'red' },
  cancelled: { label: 'Cancelled', color: 'gray' },
}

/** The status of a run. */
export function RunState({ status }: Pick<Run, 'status'>) {
  const { label, color } = STATES[status]
  return <Badge color={color}>{label}</Badge>
}

export function AgentState({ isEnabled }: { isEnabled: boolean }) {
  return isEnabled ? <Badge color="teal">Enabled</Badge> : <Badge color="gray">Disabled</Badge>
}

const COST = new Intl.NumberFormat(undefined, { style: 'currency', currency: 'USD', maximumFractionDigits: 4 })

export function formatCost(usd: number): string {
  return COST.format(usd)
}
