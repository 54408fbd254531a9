import { Text } from '@mantine/core'
import { useRouter } from '@tanstack/react-router'
import { useState } from 'react'
import { useOperation } from '../api/operation.ts'
import type { Entity, SegmentFilter } from '../api/types.ts'
import { FormDialog, NameField } from '../ui/form-dialog.tsx'
import { text } from './text.ts'

interface SaveAsSegmentProps {
  entity?: Entity
  filter: SegmentFilter
  /** Who belongs to the segment. */
  description?: string
  /** What narrows the table, and is no part of the filter. */
  omitted?: string | undefined
  /** What to do with the segment; without it, its page opens. */
  onSaved?: (segmentId: string) => void
  onClose: () => void
}

/** Creates a segment with a filter, and opens it. */
export function SaveAsSegment({
  entity = 'contacts',
  filter,
  description = text.segment.description[entity],
  omitted,
  onSaved,
  onClose,
}: SaveAsSegmentProps) {
  const router = useRouter()
  const [name, setName] = useState('')
  const saving = useOperation('createSegment', {
    onDone: ({ segment: { segment_id: segmentId } }) =>
      onSaved ? onSaved(segmentId) : router.navigate({ to: '/segments/$segmentId', params: { segmentId } }),
  })
  return (
    <FormDialog
      title={text.segment.title}
      submit={text.segment.create}
      sending={saving}
      isDisabled={name.trim() === ''}
      onSubmit={() => saving.mutate({ name: name.trim(), description: null, entity, filter })}
      onClose={onClose}
    >
      <Text size="sm">
        {description} {omitted}
      </Text>
      <NameField value={name} onChange={setName} />
    </FormDialog>
  )
}
