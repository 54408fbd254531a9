import { Button, Fieldset, Text } from '@mantine/core'
import { type ReactNode, useState } from 'react'
import type { SegmentFilter } from '../api/types.ts'
import { useFilterNames } from '../filters/fields.ts'
import { FilterBuilder } from '../filters/filter-builder.tsx'
import { filterText, parseEventFilter, partsOf } from '../filters/filter-text.ts'
import { useFilterForm } from '../filters/use-filter-form.ts'
import { eventFilterWords } from '../filters/words.ts'
import { SaveAsSegment } from '../records/save-as-segment.tsx'
import { useMay } from '../session/may.ts'
import { FilterBar } from '../ui/filter-bar.tsx'
import { EVENT_LIST_FILTERS, type EventListSearch } from './event-search.ts'
import { asSegment } from './event-segment.ts'
import { text } from './text.ts'

const words = text.list

interface EventFilterBarProps {
  search: EventListSearch
  onChange: (changes: Record<string, unknown>, replace?: boolean) => void
  children: ReactNode
}

/** Above the table of events: the search, the filter of any property, and its tools. */
export function EventFilterBar({ search, onChange, children }: EventFilterBarProps) {
  const filter = parseEventFilter(search.filter)
  const names = useFilterNames('events', [filter])
  const form = useFilterForm('events', filter)
  const maySave = useMay('segments:write')
  const [saved, setSaved] = useState<SegmentFilter | null>(null)
  const parts = filter ? partsOf(filter) : []
  const { segment, isWhole } = asSegment(search, filter)
  return (
    <>
      <FilterBar
        fields={EVENT_LIST_FILTERS}
        values={search as Omit<EventListSearch, 'columns'>}
        onChange={onChange}
        search={{
          value: search.search,
          placeholder: words.search,
          onSearch: (typed) => onChange({ search: typed }, search.search !== undefined),
        }}
        more={{
          active: parts.map(({ part, rest }) => ({
            words: eventFilterWords(part, names),
            without: { filter: rest && filterText(rest) },
          })),
          none: { filter: undefined },
          inputs: (
            <Fieldset legend={words.conditions}>
              <FilterBuilder form={form} />
              <Text size="sm" c="dimmed" role="status">
                {form.unfinished > 0 ? words.unfinished(form.unfinished) : ''}
              </Text>
            </Fieldset>
          ),
          onOpen: () => form.reset(filter),
          onClear: () => form.reset(undefined),
          changes: () => ({ filter: filterText(form.eventFilter()) }),
          action:
            maySave && segment ? (
              <Button variant="subtle" size="compact-sm" onClick={() => setSaved(segment)}>
                {words.saveAsSegment}
              </Button>
            ) : null,
        }}
      >
        {children}
      </FilterBar>
      {saved ? (
        <SaveAsSegment
          filter={saved}
          description={words.segmentDescription}
          omitted={isWhole ? undefined : words.segmentOmitted}
          onClose={() => setSaved(null)}
        />
      ) : null}
    </>
  )
}
