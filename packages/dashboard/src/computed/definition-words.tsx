import type { ComputedProperty } from '../api/types.ts'
import { filterOfWhere } from '../filters/draft-filter.ts'
import { useFilterNames } from '../filters/fields.ts'
import { eventFilterWords, eventPropertyLabel } from '../filters/words.ts'
import { eventLabel } from '../ui/event-words.ts'
import { Foreign } from '../ui/text.tsx'
import { rangeOf } from './definition-draft.ts'
import { text } from './text.ts'

const { words } = text

/** What is computed: "Sum of Amount of “Order completed”, in the last 30 days". */
export function DefinitionWords({ computed }: { computed: ComputedProperty }) {
  const { score, event, property, within_days: days } = computed
  const filter = filterOfWhere(computed.where)
  const names = useFilterNames('events-of-contact', [filter])
  if (score !== null) return words.score(score.length, ...rangeOf(score))
  const sentence = words.functions[computed.function ?? 'count'](
    `“${eventLabel(event ?? '')}”`,
    property === null ? '' : eventPropertyLabel(property, names),
  )
  const where = filter.conditions.length === 0 ? '' : words.where(eventFilterWords(filter, names))
  return <Foreign max={400}>{`${sentence}${where}${days === null ? '' : words.withinDays(days)}`}</Foreign>
}
