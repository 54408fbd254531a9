import { Alert, List } from '@mantine/core'
import type { Import } from '../api/types.ts'
import { Foreign } from '../ui/text.tsx'
import { text } from './text.ts'

/** What is left out of rows that are imported. */
export function RowWarnings({ warnings }: Pick<Import, 'warnings'>) {
  if (warnings.length === 0) return null
  return (
    <Alert color="yellow" title={text.warnings.title}>
      <List size="sm">
        {warnings.map(({ message, rows, first_rows }) => (
          <List.Item key={message}>
            {text.warnings.rows(rows, first_rows)}: <Foreign max={500}>{sentenceOf(message)}</Foreign>
          </List.Item>
        ))}
      </List>
    </Alert>
  )
}

/** A warning without the code at its start, which is for programs. */
function sentenceOf(message: string): string {
  return message.replace(/^[a-z_]+: /, '')
}
