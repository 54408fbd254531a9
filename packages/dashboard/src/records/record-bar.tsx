import { Button, Group, Pill } from '@mantine/core'
import { useQuery } from '@tanstack/react-query'
import { type ReactNode, useRef, useState } from 'react'
import { queryOf } from '../api/operation.ts'
import type { Entity, SegmentFilter } from '../api/types.ts'
import { allSegmentsQuery } from '../filters/all-segments.ts'
import { useFilterNames } from '../filters/fields.ts'
import { filterWords } from '../filters/words.ts'
import { useMay } from '../session/may.ts'
import { SearchField, type SearchFieldProps } from '../ui/search-field.tsx'
import { FilterPopover, type RecordFilter } from './filter-popover.tsx'
import { SaveAsSegment } from './save-as-segment.tsx'
import { text } from './text.ts'

interface RecordBarProps extends RecordFilter {
  entity: Entity
  search: SearchFieldProps
  onFilter: (changed: RecordFilter) => void
  /** Saved views, columns, export … at the right. */
  children: ReactNode
}

/** Above a table of contacts or companies: the search, the filter with a badge for each condition, and its tools. */
export function RecordBar({ entity, search, filter, segmentId, importId, onFilter, children }: RecordBarProps) {
  const names = useFilterNames(entity, [filter])
  const { data: segments } = useQuery({ ...allSegmentsQuery, enabled: segmentId !== undefined })
  const mayImport = useMay('contacts:write')
  const { data: ofImport } = useQuery({
    ...queryOf('getImport', { import_id: importId ?? '' }),
    enabled: importId !== undefined && mayImport,
  })
  const button = useRef<HTMLButtonElement>(null)
  const [isSaving, setSaving] = useState(false)
  const maySave = useMay('segments:write') && entity === 'contacts'
  // The badge that removed a filter disappears with it; the focus stays nearby.
  const change = (changed: RecordFilter) => {
    button.current?.focus()
    onFilter(changed)
  }
  const parts = filter ? partsOf(filter) : []
  const active = parts.length + (segmentId === undefined ? 0 : 1) + (importId === undefined ? 0 : 1)
  const segmentName = segments ? (segments.get(segmentId ?? '')?.name ?? text.filter.unknownSegment) : '…'
  return (
    <search aria-label={text.filter.region}>
      <Group gap="xs" mb={active > 0 ? 'xs' : 'md'}>
        <SearchField {...search} />
        <FilterPopover
          entity={entity}
          active={active}
          filter={filter}
          segmentId={segmentId}
          onFilter={(changed) => onFilter({ ...changed, importId })}
          button={button}
        />
        <Group gap={6} ml="auto">
          {children}
        </Group>
      </Group>
      {active > 0 ? (
        <Group gap={6} mb="md">
          {segmentId === undefined ? null : (
            <ConditionPill words={text.filter.inSegment(segmentName)} onRemove={() => change({ filter, importId })} />
          )}
          {importId === undefined ? null : (
            <ConditionPill
              words={text.filter.ofImport(ofImport?.import.file_name ?? text.filter.unknownImport)}
              onRemove={() => change({ filter, segmentId })}
            />
          )}
          {parts.map(({ key, part, rest }) => (
            <ConditionPill
              key={key}
              words={filterWords(part, names)}
              onRemove={() => change({ filter: rest, segmentId, importId })}
            />
          ))}
          <Button variant="subtle" size="compact-sm" onClick={() => change({ filter: undefined })}>
            {text.filter.clear}
          </Button>
          {maySave && filter ? (
            <Button variant="subtle" size="compact-sm" onClick={() => setSaving(true)}>
              {text.filter.saveAsSegment}
            </Button>
          ) : null}
        </Group>
      ) : null}
      {isSaving && filter ? (
        <SaveAsSegment
          filter={filter}
          isMoreChosen={segmentId !== undefined || importId !== undefined || search.value !== undefined}
          onClose={() => setSaving(false)}
        />
      ) : null}
    </search>
  )
}

/** What is shown, and removed, separately: each condition, unless only one of them has to match. */
function partsOf(filter: SegmentFilter): { key: string; part: SegmentFilter; rest: SegmentFilter | undefined }[] {
  const { match, conditions } = filter
  if (match === 'any' && conditions.length > 1) return [{ key: 'any', part: filter, rest: undefined }]
  return conditions.map((condition, index) => {
    const others = conditions.filter((_, place) => place !== index)
    return {
      key: `${index} ${JSON.stringify(condition)}`,
      part: { match, conditions: [condition] },
      rest: others.length > 0 ? { match, conditions: others } : undefined,
    }
  })
}

const WORDS_MAX = 120

function ConditionPill({ words, onRemove }: { words: string; onRemove: () => void }) {
  const shown = words.slice(0, WORDS_MAX)
  return (
    <Pill
      size="md"
      bg="var(--mantine-color-body)"
      bd="1px solid var(--cds-line)"
      maw="100%"
      withRemoveButton
      onRemove={onRemove}
      removeButtonProps={{ 'aria-label': text.filter.remove(shown), 'aria-hidden': false, tabIndex: 0 }}
    >
      <bdi>{shown}</bdi>
    </Pill>
  )
}
