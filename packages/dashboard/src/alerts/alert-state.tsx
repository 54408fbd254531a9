import { Badge } from '@mantine/core'
import type { Alert } from '../api/types.ts'
import { text } from './text.ts'

const COLORS: Record<Alert['state'], string> = {
  new: 'gray',
  quiet: 'teal',
  fired: 'orange',
  failing: 'red',
  off: 'gray',
}

/** Whether an alert is quiet, fired, fails or is off. */
export function AlertState({ state }: Pick<Alert, 'state'>) {
  return <Badge color={COLORS[state]}>{text.states[state]}</Badge>
}
