import { Badge } from '@mantine/core'
import type { Run } from '../api/types.ts'
import { text } from './text.ts'

const STATES: Record<Run['status'], { label: string; color: string }> = {
  queued: { label: text.runStates.queued, color: 'gray' },
  running: { label: text.runStates.running, color: 'ink' },
  completed: { label: text.runStates.completed, color: 'teal' },
  failed: { label: text.runStates.failed, color: 'red' },
  cancelled: { label: text.runStates.cancelled, color: 'gray' },
}

/** The status of a run. */
export function RunState({ status }: Pick<Run, 'status'>) {
  const { label, color } = STATES[status]
  return <Badge color={color}>{label}</Badge>
}

/** Whether a run is queued or running. */
export function isUnderWay(run: Pick<Run, 'status'> | null | undefined): boolean {
  return run?.status === 'queued' || run?.status === 'running'
}

export function AgentState({ isEnabled }: { isEnabled: boolean }) {
  return isEnabled ? <Badge color="teal">{text.enabled}</Badge> : <Badge color="gray">{text.disabled}</Badge>
}

const COST = new Intl.NumberFormat(undefined, { style: 'currency', currency: 'USD', maximumFractionDigits: 4 })

export function formatCost(usd: number): string {
  return COST.format(usd)
}
