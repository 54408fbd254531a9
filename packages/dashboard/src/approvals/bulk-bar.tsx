import { Button, Card, Checkbox, Group } from '@mantine/core'
import { IconCheck, IconX } from '@tabler/icons-react'
import classes from './approvals.module.css'
import { text } from './text.ts'

interface BulkBarProps {
  /** The number of actions that wait. */
  open: number
  /** The number of those that are selected. */
  chosen: number
  isBusy: boolean
  onToggleAll: () => void
  onApprove: () => void
  onReject: () => void
  onLoadMore: () => void
}

/** Selects the whole page, and decides what is selected. */
export function BulkBar({ open, chosen, isBusy, onToggleAll, onApprove, onReject, onLoadMore }: BulkBarProps) {
  return (
    <Card component="section" aria-label={text.bulk.label} padding={6} px="sm" className={classes.bulk}>
      <Group gap="xs" justify="space-between" mih={30}>
        <Checkbox
          size="xs"
          label={wordsOf(chosen, open)}
          checked={open > 0 && chosen === open}
          indeterminate={chosen > 0 && chosen < open}
          disabled={open === 0}
          onChange={onToggleAll}
        />
        {open === 0 && !isBusy ? (
          <Button size="xs" onClick={onLoadMore}>
            {text.bulk.loadMore}
          </Button>
        ) : null}
        {chosen > 0 ? (
          <Group gap="xs">
            <Button size="xs" leftSection={<IconCheck size={14} aria-hidden />} disabled={isBusy} onClick={onApprove}>
              {text.bulk.approve}
            </Button>
            <Button
              size="xs"
              variant="default"
              leftSection={<IconX size={14} aria-hidden />}
              disabled={isBusy}
              onClick={onReject}
            >
              {text.bulk.reject}
            </Button>
          </Group>
        ) : null}
      </Group>
    </Card>
  )
}

function wordsOf(chosen: number, open: number): string {
  if (open === 0) return text.bulk.nothingLeft
  return chosen === 0 ? text.bulk.selectAll(open) : text.bulk.selected(chosen)
}
