import { Button, Group, Modal, Text, TextInput } from '@mantine/core'
import { useMutation, useQueryClient } from '@tanstack/react-query'
import { useRouter } from '@tanstack/react-router'
import { useState } from 'react'
import { createSegment, refreshSegments, type SegmentFilter } from '../api/segments.ts'
import { Form, FormError } from '../ui/form.tsx'
import { upTo } from '../ui/up-to.ts'
import { text } from './text.ts'

interface SaveAsSegmentProps {
  filter: SegmentFilter
  /** Whether the table is narrowed by more than the filter. */
  isMoreChosen: boolean
  onClose: () => void
}

/** Creates a segment with the filter of a table, and opens it. */
export function SaveAsSegment({ filter, isMoreChosen, onClose }: SaveAsSegmentProps) {
  const queryClient = useQueryClient()
  const router = useRouter()
  const [name, setName] = useState('')
  const saving = useMutation({
    mutationFn: () => createSegment({ name: name.trim(), description: null, filter }),
    onSuccess: async ({ segment }) => {
      await refreshSegments(queryClient)
      await router.navigate({ to: '/segments/$segmentId', params: { segmentId: segment.segment_id } })
    },
  })
  return (
    <Modal opened onClose={onClose} title={text.segment.title}>
      <Form onSubmit={() => saving.mutate()}>
        <Text size="sm">
          {text.segment.description} {isMoreChosen ? text.segment.onlyFilter : null}
        </Text>
        <TextInput
          label={text.segment.name}
          required
          withAsterisk={false}
          {...upTo(200)}
          data-autofocus
          value={name}
          onChange={(event) => setName(event.currentTarget.value)}
        />
        <FormError error={saving.error} />
        <Group justify="flex-end">
          <Button type="submit" loading={saving.isPending} disabled={name.trim() === ''}>
            {text.segment.create}
          </Button>
        </Group>
      </Form>
    </Modal>
  )
}
