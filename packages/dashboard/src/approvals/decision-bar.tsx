import { Button, Group, Paper, Progress as ProgressBar, Text } from '@mantine/core'
import { IconArrowBackUp } from '@tabler/icons-react'
import classes from './approvals.module.css'
import { text } from './text.ts'
import type { Progress, Undoable } from './use-decisions.ts'

interface DecisionBarProps {
  undoable: Undoable | undefined
  /** The person of the only action. */
  name: string
  progress: Progress | null
  notice: string | null
  onUndo: () => void
}

/** What was decided last, while it can be undone; how far many decisions are; and what became of an undo. */
export function DecisionBar({ undoable, name, progress, notice, onUndo }: DecisionBarProps) {
  const said = [
    progress ? text.bulk.progress(progress.verb, progress.done, progress.total) : '',
    !progress && undoable ? wordsOf(undoable, name) : '',
    notice ?? '',
  ].filter(Boolean)
  return (
    <section aria-label={text.undo.label} className={classes.bar} data-empty={said.length === 0 || undefined}>
      <Paper shadow="md" className={classes.said}>
        <Group gap="md" wrap="nowrap" justify="space-between">
          {/* It exists before it says something, else screen readers would miss that. */}
          <div role="status">
            {said.map((words) => (
              <Text key={words} size="sm">
                {words}
              </Text>
            ))}
          </div>
          {undoable && !progress ? (
            <Button
              size="xs"
              variant="default"
              flex="none"
              leftSection={<IconArrowBackUp size={14} aria-hidden />}
              onClick={onUndo}
            >
              {text.undo.button}
            </Button>
          ) : null}
        </Group>
        {progress ? <ProgressBar mt={6} size="sm" value={(100 * progress.done) / progress.total} aria-hidden /> : null}
      </Paper>
    </section>
  )
}

function wordsOf({ verb, places: { length } }: Undoable, name: string): string {
  return verb === 'approve' ? text.undo.approved(length, name) : text.undo.rejected(length, name)
}
