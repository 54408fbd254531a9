import { ActionIcon, Box, Button, Group, NativeSelect, Stack, Text } from '@mantine/core'
import { IconActivity, IconBracketsContain, IconPlus, IconX } from '@tabler/icons-react'
import { useContext } from 'react'
import type { Property } from '../api/types.ts'
import { type Draft, type GroupDraft, newEvent, newGroup, newProperty } from './draft.ts'
import { EventCondition } from './event-condition.tsx'
import classes from './filter-builder.module.css'
import { FilteredEntity } from './filtered-entity.ts'
import { PropertyCondition } from './property-condition.tsx'
import { Suggestions } from './suggestions.tsx'
import { text } from './text.ts'

const words = text.builder

/** The service's limit. */
const LEVELS_MAX = 5

interface FilterBuilderProps {
  draft: GroupDraft
  properties: readonly Property[]
  /** Replaces the condition with that id; null removes it. */
  onReplace: (id: string, changed: Draft | null) => void
  level?: number
}

/** A group of conditions, all or any of which must match; a condition may be a group itself. */
export function FilterBuilder({ draft, properties, onReplace, level = 1 }: FilterBuilderProps) {
  const entity = useContext(FilteredEntity)
  const hasEvents = entity === 'contacts'
  const add = (condition: Draft) => onReplace(draft.id, { ...draft, conditions: [...draft.conditions, condition] })
  return (
    <Box component="fieldset" className={classes.group} data-nested={level > 1}>
      <legend className={classes.legend}>
        <Group gap={6} wrap="nowrap">
          <NativeSelect
            aria-label={words.match}
            size="xs"
            value={draft.match}
            onChange={({ currentTarget: { value } }) =>
              onReplace(draft.id, { ...draft, match: value === 'any' ? 'any' : 'all' })
            }
            data={words.matches}
          />
          <Text size="sm" c="dimmed">
            {words.ofThese}
          </Text>
        </Group>
      </legend>
      <Stack gap="xs">
        {draft.conditions.length === 0 ? (
          <Text size="sm" c="dimmed">
            {draft.match === 'all' ? words.emptyAll : words.emptyAny}
          </Text>
        ) : null}
        {draft.conditions.length === 0 && level === 1 ? (
          <Suggestions entity={entity} properties={properties} onChoose={add} />
        ) : null}
        {draft.conditions.map((condition, index) => (
          <Group key={condition.id} align="flex-start" gap="xs" wrap="nowrap" className={classes.condition}>
            <Group gap="xs" flex={1} miw={0} className={classes.fields}>
              <Condition condition={condition} properties={properties} onReplace={onReplace} level={level} />
            </Group>
            <ActionIcon
              variant="subtle"
              color="gray"
              mt={4}
              aria-label={words.remove(index + 1)}
              onClick={() => onReplace(condition.id, null)}
            >
              <IconX size={16} aria-hidden />
            </ActionIcon>
          </Group>
        ))}
        <Group gap="xs">
          <Button
            variant="light"
            size="xs"
            leftSection={<IconPlus size={14} aria-hidden />}
            onClick={() => add(newProperty())}
          >
            {words.property}
          </Button>
          {hasEvents ? (
            <Button
              variant="light"
              size="xs"
              leftSection={<IconActivity size={14} aria-hidden />}
              onClick={() => add(newEvent())}
            >
              {words.event}
            </Button>
          ) : null}
          {level < LEVELS_MAX ? (
            <Button
              variant="subtle"
              size="xs"
              leftSection={<IconBracketsContain size={14} aria-hidden />}
              onClick={() => add(newGroup(draft.match === 'all' ? 'any' : 'all', [newProperty()]))}
            >
              {words.group}
            </Button>
          ) : null}
        </Group>
      </Stack>
    </Box>
  )
}

interface ConditionProps {
  condition: Draft
  properties: readonly Property[]
  onReplace: (id: string, changed: Draft | null) => void
  level: number
}

function Condition({ condition, properties, onReplace, level }: ConditionProps) {
  const change = (changed: Draft) => onReplace(condition.id, changed)
  switch (condition.kind) {
    case 'group':
      return <FilterBuilder draft={condition} properties={properties} onReplace={onReplace} level={level + 1} />
    case 'event':
      return <EventCondition draft={condition} onChange={change} />
    case 'property':
      return <PropertyCondition draft={condition} properties={properties} onChange={change} />
  }
}
