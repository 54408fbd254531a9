import { Button } from '@mantine/core'
import { IconFilter } from '@tabler/icons-react'
import { useNavigate } from '@tanstack/react-router'
import { useOperation } from '../api/operation.ts'
import { FormError } from '../ui/form.tsx'
import { text } from './text.ts'

/** Makes a segment of the contacts with a tag in one click, and opens it. */
export function TagSegment({ tag }: { tag: string }) {
  const navigate = useNavigate()
  const creating = useOperation('createSegment', {
    onDone: ({ segment }) => navigate({ to: '/segments/$segmentId', params: { segmentId: segment.segment_id } }),
  })
  const filter = { match: 'all' as const, conditions: [{ property: 'tags', operator: 'equals' as const, value: tag }] }
  return (
    <>
      <Button
        variant="default"
        leftSection={<IconFilter size={16} aria-hidden />}
        loading={creating.isPending}
        onClick={() => creating.mutate({ name: tag, filter })}
      >
        {text.result.createSegment}
      </Button>
      <FormError error={creating.error} />
    </>
  )
}
