import { Button, Group } from '@mantine/core'
import type { SegmentFilter } from '../api/types.ts'
import type { ConditionOnEvent } from '../filters/draft.ts'
import { useFilterNames } from '../filters/fields.ts'
import { eventFilterWords, filterWords } from '../filters/words.ts'
import { FilterPill } from '../ui/filter-pill.tsx'
import { rowName } from './web-lists.ts'
import {
  conditionsOf,
  siteOf,
  toggleRow,
  type WebChanges,
  type WebQuestion,
  withConditions,
  withSite,
} from './web-question.ts'
import { text } from './web-text.ts'

const words = text.filters

interface ActiveFiltersProps {
  question: WebQuestion
  onChange: (changes: WebChanges) => void
}

/** The filters of the page, each of which can be removed. The site has a field of its own. */
export function ActiveFilters({ question, onChange }: ActiveFiltersProps) {
  const { visit = [], people, include_bots: withBots = false } = question
  const all = conditionsOf(question)
  const conditions = all.filter((condition) => siteOf([condition]) === undefined)
  if (visit.length + conditions.length === 0 && people === undefined && !withBots) return null
  return (
    <Group gap={6} mb="sm" role="group" aria-label={words.active}>
      {visit.map(({ list, value }) => (
        <FilterPill
          key={list}
          label={text.lists[list].one}
          words={words.is(rowName(list, value))}
          onRemove={() => onChange(toggleRow(question, list, value))}
        />
      ))}
      {conditions.map((condition) => (
        <ConditionPill
          key={JSON.stringify(condition)}
          condition={condition}
          onRemove={() => onChange(withConditions(all.filter((each) => each !== condition)))}
        />
      ))}
      {people === undefined ? null : (
        <PeoplePill filter={people as SegmentFilter} onRemove={() => onChange({ people: undefined })} />
      )}
      {withBots ? <FilterPill words={words.bots} onRemove={() => onChange({ include_bots: undefined })} /> : null}
      <Button
        variant="subtle"
        size="compact-sm"
        onClick={() =>
          onChange({ visit: undefined, people: undefined, include_bots: undefined, ...withSite([], siteOf(all)) })
        }
      >
        {words.clear}
      </Button>
    </Group>
  )
}

function ConditionPill({ condition, onRemove }: { condition: ConditionOnEvent; onRemove: () => void }) {
  const names = useFilterNames('events', [condition])
  return <FilterPill words={eventFilterWords({ match: 'all', conditions: [condition] }, names)} onRemove={onRemove} />
}

function PeoplePill({ filter, onRemove }: { filter: SegmentFilter; onRemove: () => void }) {
  const names = useFilterNames('contacts', [filter])
  return <FilterPill label={words.people} words={filterWords(filter, names)} onRemove={onRemove} />
}
