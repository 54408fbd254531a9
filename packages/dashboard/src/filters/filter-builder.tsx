import { NativeSelect, Text } from '@mantine/core'
import { IconActivity, IconArrowsRight, IconBracketsContain, IconPlus } from '@tabler/icons-react'
import { useContext } from 'react'
import { Foreign } from '../ui/text.tsx'
import { ConditionList } from './condition-list.tsx'
import {
  type Draft,
  type GroupDraft,
  type InsightDraft,
  newEvent,
  newGroup,
  newProperty,
  newSequence,
} from './draft.ts'
import { EventCondition, SequenceCondition } from './event-condition.tsx'
import { FilterContext, FilterOf } from './filter-context.tsx'
import { PropertyCondition } from './property-condition.tsx'
import { Suggestions } from './suggestions.tsx'
import { text } from './text.ts'
import type { FilterForm } from './use-filter-form.ts'
import { insightPeople } from './words.ts'

const words = text.builder

/** The service's limit. */
const LEVELS_MAX = 5

interface FilterBuilderProps {
  form: Pick<FilterForm, 'filtered' | 'draft' | 'replace'>
  /** The name of the events that it is about, if they have one. */
  event?: string
}

/** A filter, condition by condition. */
export function FilterBuilder({ form: { filtered, draft, replace }, event }: FilterBuilderProps) {
  return (
    <FilterOf filtered={filtered} event={event}>
      <GroupFields group={draft} onReplace={replace} level={1} />
    </FilterOf>
  )
}

interface GroupFieldsProps {
  group: GroupDraft
  onReplace: (id: string, changed: Draft | null) => void
  level: number
}

/** A condition may be a group itself. */
function GroupFields({ group, onReplace, level }: GroupFieldsProps) {
  const { filtered, isOfEvents } = useContext(FilterContext)
  const other = group.match === 'all' ? 'any' : 'all'
  const adders = [
    { label: words.property, icon: IconPlus, create: () => newProperty() },
    ...(isOfEvents
      ? []
      : [
          { label: words.event, icon: IconActivity, create: () => newEvent() },
          { label: words.sequence, icon: IconArrowsRight, create: () => newSequence(), isSubtle: true },
        ]),
    ...(level < LEVELS_MAX
      ? [
          {
            label: words.group,
            icon: IconBracketsContain,
            create: () => newGroup(other, [newProperty()]),
            isSubtle: true,
          },
        ]
      : []),
  ]
  const empty = (
    <>
      <Text size="sm" c="dimmed">
        {words.empty[filtered](group.match)}
      </Text>
      {level === 1 && !isOfEvents ? (
        <Suggestions
          onChoose={(condition) => onReplace(group.id, { ...group, conditions: [...group.conditions, condition] })}
        />
      ) : null}
    </>
  )
  return (
    <ConditionList group={group} isNested={level > 1} adders={adders} empty={empty} onReplace={onReplace}>
      {(condition, isNew) => {
        const change = (changed: Draft) => onReplace(condition.id, changed)
        switch (condition.kind) {
          case 'group':
            return <GroupFields group={condition} onReplace={onReplace} level={level + 1} />
          case 'event':
            return <EventCondition draft={condition} onChange={change} level={level} isNew={isNew} />
          case 'sequence':
            return <SequenceCondition draft={condition} onChange={change} level={level} isNew={isNew} />
          case 'insight':
            return <InsightFields draft={condition} onChange={change} />
          case 'property':
            return <PropertyCondition draft={condition} onChange={change} isNew={isNew} />
        }
      }}
    </ConditionList>
  )
}

/** "Is among – the people of a trend of “Order paid”". */
function InsightFields({ draft, onChange }: { draft: InsightDraft; onChange: (draft: InsightDraft) => void }) {
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
