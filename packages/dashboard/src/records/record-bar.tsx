import { Button, Group } from '@mantine/core'
import { useQuery } from '@tanstack/react-query'
import { type ReactNode, useRef, useState } from 'react'
import { queryOf } from '../api/operation.ts'
import type { Entity } from '../api/types.ts'
import { allSegmentsQuery } from '../filters/all-segments.ts'
import { useFilterNames } from '../filters/fields.ts'
import { partsOf } from '../filters/filter-text.ts'
import { filterWords } from '../filters/words.ts'
import { useMay } from '../session/may.ts'
import { FilterPill } from '../ui/filter-pill.tsx'
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
  const maySave = useMay('segments:write')
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
            <FilterPill words={text.filter.inSegment(segmentName)} onRemove={() => change({ filter, importId })} />
          )}
          {importId === undefined ? null : (
            <FilterPill
              words={text.filter.ofImport(ofImport?.import.file_name ?? text.filter.unknownImport)}
              onRemove={() => change({ filter, segmentId })}
            />
          )}
          {parts.map(({ key, part, rest }) => (
            <FilterPill
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
          entity={entity}
          filter={filter}
          omitted={[segmentId, importId, search.value].some(Boolean) ? text.segment.onlyFilter : undefined}
          onClose={() => setSaving(false)}
        />
      ) : null}
    </search>
  )
}
