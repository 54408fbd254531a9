import { useState } from 'react'
import type { SegmentFilter } from '../api/types.ts'
import { type Draft, type FilterOfEvents, type GroupDraft, newGroup, replaceIn } from './draft.ts'
import { countUnfinished, draftOf, filterOf, filterOfEvents } from './draft-filter.ts'
import { type Filtered, useFields } from './fields.ts'

export type FilterForm = ReturnType<typeof useFilterForm>

/** The state of a form with a filter. @param initial conditions of a new filter */
export function useFilterForm(
  filtered: Filtered,
  stored: SegmentFilter | FilterOfEvents | undefined,
  initial: Draft[] = [],
) {
  const [draft, setDraft] = useState<GroupDraft>(() => (stored ? draftOf(stored) : newGroup('all', initial)))
  const { types } = useFields(filtered)
  return {
    filtered,
    draft,
    types,
    /** The filter that the form says; incomplete conditions are omitted. */
    filter: filterOf(draft, types),
    unfinished: countUnfinished(draft),
    replace: (id: string, changed: Draft | null) => setDraft((before) => replaceIn(before, id, changed)),
    /** The same for conditions on events. */
    eventFilter: () => filterOfEvents(draft, types),
    reset: (filter: SegmentFilter | FilterOfEvents | undefined) => setDraft(filter ? draftOf(filter) : newGroup('all')),
  }
}
