import { NativeSelect, Radio, Stack, Text } from '@mantine/core'
import { useQuery } from '@tanstack/react-query'
import { allSegmentsQuery, segmentsOf } from '../filters/all-segments.ts'
import { FilterBuilder } from '../filters/filter-builder.tsx'
import type { FilterForm } from '../filters/use-filter-form.ts'
import { PreviewPanel } from '../records/preview-panel.tsx'
import { formatNumber } from '../ui/format.ts'
import { ErrorState } from '../ui/states.tsx'
import type { AgentDraft } from './agent-draft.ts'
import { text } from './text.ts'

interface AudienceFieldsProps {
  draft: Pick<AgentDraft, 'audience' | 'segmentId'>
  onChange: (changes: Partial<AgentDraft>) => void
  audience: FilterForm
}

/** The audience of scheduled runs. */
export function AudienceFields(props: AudienceFieldsProps) {
  const { draft, onChange, audience } = props
  const { data: segments, error, refetch } = useQuery(allSegmentsQuery)
  const isListed = draft.segmentId === '' || segments?.has(draft.segmentId)
  return (
    <Stack gap="sm">
      <Radio.Group
        label={text.audience.contacts}
        value={draft.audience}
        onChange={(audience) => onChange({ audience: audience as AgentDraft['audience'] })}
      >
        <Stack gap={6} mt={4}>
          <Radio value="nobody" label={text.audience.nobody} />
          <Radio value="segment" label={text.audience.segment} />
          <Radio value="filter" label={text.audience.filter} />
        </Stack>
      </Radio.Group>
      {draft.audience === 'segment' && error ? <ErrorState error={error} onRetry={refetch} /> : null}
      {draft.audience === 'segment' ? (
        <NativeSelect
          label={text.audience.segmentField}
          required
          value={draft.segmentId}
          onChange={(event) => onChange({ segmentId: event.currentTarget.value })}
          data={[
            { value: '', label: text.audience.chooseSegment },
            ...(isListed ? [] : [{ value: draft.segmentId, label: draft.segmentId }]),
            ...segmentsOf(segments, 'contacts').map(({ segment_id: value, name, contact_count: count }) => ({
              value,
              label: text.audience.segmentChoice(
                name.slice(0, 80),
                count === null ? text.audience.counting : formatNumber(count),
              ),
            })),
          ]}
        />
      ) : null}
      {draft.audience === 'filter' ? (
        <>
          <FilterBuilder form={audience} />
          <PreviewPanel filter={audience.filter} unfinished={audience.unfinished} />
        </>
      ) : null}
      {draft.audience === 'nobody' ? null : (
        <Text size="sm" c="dimmed">
          {text.audience.order}
        </Text>
      )}
    </Stack>
  )
}
