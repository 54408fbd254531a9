import { NativeSelect, Text } from '@mantine/core'
import { Foreign } from '../ui/text.tsx'
import type { InsightDraft } from './draft.ts'
import { text } from './text.ts'
import { insightPeople } from './words.ts'

const words = text.builder

/** "Is among – the people of a trend of “Order paid”". */
export function InsightFields({ draft, onChange }: { draft: InsightDraft; onChange: (draft: InsightDraft) => void }) {
  return (
    <>
      <NativeSelect
        aria-label={words.isAmong}
        value={draft.operator}
        onChange={(event) => onChange({ ...draft, operator: event.currentTarget.value === 'did' ? 'did' : 'did_not' })}
        data={words.amongOperators}
      />
      <Text size="sm">
        <Foreign max={200}>{insightPeople(draft.stored)}</Foreign>
      </Text>
    </>
  )
}
