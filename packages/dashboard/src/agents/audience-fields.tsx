import { Radio, Stack, Text } from '@mantine/core'
import { FilterBuilder } from '../filters/filter-builder.tsx'
import type { FilterForm } from '../filters/use-filter-form.ts'
import { PreviewPanel } from '../records/preview-panel.tsx'
import type { AgentDraft } from './agent-draft.ts'
import { SegmentSelect } from './segment-select.tsx'
import { text } from './text.ts'

interface AudienceFieldsProps {
  draft: Pick<AgentDraft, 'audience' | 'segmentId'>
  onChange: (changes: Partial<AgentDraft>) => void
  audience: FilterForm
}

/** The audience of scheduled runs and of triggers. */
export function AudienceFields(props: AudienceFieldsProps) {
  const { draft, onChange, audience } = props
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
      {draft.audience === 'segment' ? (
        <SegmentSelect
          label={text.audience.segmentField}
          value={draft.segmentId}
          onChange={(segmentId) => onChange({ segmentId })}
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
