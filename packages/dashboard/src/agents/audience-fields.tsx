import { NativeSelect, Radio, Stack, Text } from '@mantine/core'
import { useQuery } from '@tanstack/react-query'
import { queryOf } from '../api/operation.ts'
import type { SegmentFilter } from '../api/types.ts'
import type { Draft, GroupDraft } from '../filters/draft.ts'
import { FilterBuilder } from '../filters/filter-builder.tsx'
import { allSegmentsQuery } from '../records/all-segments.ts'
import { PreviewPanel } from '../records/preview-panel.tsx'
import { formatNumber } from '../ui/format.ts'
import { ErrorState } from '../ui/states.tsx'
import type { AgentDraft } from './agent-draft.ts'
import { text } from './text.ts'

interface AudienceFieldsProps {
  draft: Pick<AgentDraft, 'audience' | 'segmentId'>
  onChange: (changes: Partial<AgentDraft>) => void
  filterDraft: GroupDraft
  filter: SegmentFilter
  unfinished: number
  onReplace: (id: string, changed: Draft | null) => void
}

/** The audience of scheduled runs. */
export function AudienceFields(props: AudienceFieldsProps) {
  const { draft, onChange, filterDraft, filter, unfinished, onReplace } = props
  const { data: segments, error, refetch } = useQuery(allSegmentsQuery)
  const { data: known } = useQuery(queryOf('listProperties', { entity: 'contacts' }))
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
            ...[...(segments?.values() ?? [])].map(({ segment_id: value, name, contact_count: count }) => ({
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
          <FilterBuilder draft={filterDraft} properties={known?.properties ?? []} onReplace={onReplace} />
          <PreviewPanel filter={filter} unfinished={unfinished} />
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
