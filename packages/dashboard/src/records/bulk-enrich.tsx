import { Button } from '@mantine/core'
import { notifications } from '@mantine/notifications'
import { IconSparkles } from '@tabler/icons-react'
import { useOperation } from '../api/operation.ts'
import { messageOf } from '../ui/states.tsx'
import type { BulkActionProps } from './bulk-dialog.tsx'
import { text } from './text.ts'

/** Enriches the selected contacts in the background. It can be undone, so it does not ask first. */
export function BulkEnrich({
  target,
  count,
  onStarted,
}: Pick<BulkActionProps, 'target' | 'count'> & { onStarted: () => void }) {
  const starting = useOperation('startEnrichmentRun', {
    onDone: () => {
      notifications.show({ color: 'green', message: text.bulk.enrichStarted(count) })
      onStarted()
    },
    onError: (error) => notifications.show({ color: 'red', message: messageOf(error) }),
  })
  const start = () => {
    if ('ids' in target) return starting.mutate({ contact_ids: target.ids })
    const { search: _, ...matching } = target.matching
    starting.mutate(matching)
  }
  // A run takes no search.
  if ('matching' in target && target.matching.search !== undefined) return null
  return (
    <Button
      variant="default"
      size="xs"
      leftSection={<IconSparkles size={14} aria-hidden />}
      loading={starting.isPending}
      onClick={start}
    >
      {text.bulk.enrich}
    </Button>
  )
}
