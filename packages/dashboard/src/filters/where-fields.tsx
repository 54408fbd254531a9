import { IconBracketsContain, IconPlus } from '@tabler/icons-react'
import { ConditionList } from './condition-list.tsx'
import { type Draft, type GroupDraft, newGroup, newProperty } from './draft.ts'
import { PropertyCondition } from './property-condition.tsx'
import { text } from './text.ts'

const words = text.builder

/** The service's limit. */
const LEVELS_MAX = 5

interface WhereFieldsProps {
  group: GroupDraft
  /** Of the filter around it. */
  level: number
  /** Whether it stands in another group of conditions on the event. */
  isNested?: boolean
  onReplace: (id: string, changed: Draft | null) => void
}

/** Conditions on an event itself: "where Browser is Chrome". */
export function WhereFields({ group, level, isNested = false, onReplace }: WhereFieldsProps) {
  const other = group.match === 'all' ? 'any' : 'all'
  const adders = [
    { label: words.eventProperty, icon: IconPlus, create: () => newProperty(), isSubtle: true },
    ...(level < LEVELS_MAX
      ? [
          {
            label: words.eventGroup,
            icon: IconBracketsContain,
            create: () => newGroup(other, [newProperty()]),
            isSubtle: true,
          },
        ]
      : []),
  ]
  return (
    <ConditionList
      group={group}
      isNested={isNested}
      {...(isNested ? {} : { legend: words.whereLegend })}
      adders={adders}
      onReplace={onReplace}
    >
      {(condition, isNew) => {
        if (condition.kind === 'group') {
          return <WhereFields group={condition} level={level + 1} isNested onReplace={onReplace} />
        }
        // An event has no events of its own.
        if (condition.kind !== 'property') return null
        return (
          <PropertyCondition
            draft={condition}
            onChange={(changed) => onReplace(condition.id, changed)}
            isNew={isNew || (group.conditions.length === 1 && condition.property === '')}
          />
        )
      }}
    </ConditionList>
  )
}
