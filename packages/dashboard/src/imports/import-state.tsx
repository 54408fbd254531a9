import { Badge } from '@mantine/core'
import type { Import } from '../api/types.ts'
import { text } from './text.ts'

const COLORS: Record<Import['state'], string> = {
  uploaded: 'gray',
  mapped: 'gray',
  previewing: 'yellow',
  previewed: 'blue',
  running: 'yellow',
  completed: 'green',
  failed: 'red',
  cancelled: 'gray',
  undoing: 'yellow',
  undone: 'gray',
}

export function ImportState({ state }: Pick<Import, 'state'>) {
  return <Badge color={COLORS[state]}>{text.states[state]}</Badge>
}
