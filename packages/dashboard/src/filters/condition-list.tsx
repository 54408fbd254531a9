import { ActionIcon, Box, Button, Group, NativeSelect, Stack, Text } from '@mantine/core'
import { type Icon, IconX } from '@tabler/icons-react'
import { type ReactNode, useRef, useState } from 'react'
import classes from './condition-list.module.css'
import type { Draft, GroupDraft } from './draft.ts'
import { text } from './text.ts'

const words = text.builder

/** A button that adds a condition. */
export interface Adder {
  label: string
  icon: Icon
  create: () => Draft
  isSubtle?: boolean
}

interface ConditionListProps {
  group: GroupDraft
  /** What stands for the choice between all and any where all must match. */
  legend?: string
  isNested: boolean
  adders: readonly Adder[]
  /** Without conditions. */
  empty?: ReactNode
  /** The fields of a condition; the first of a new one has the focus. */
  children: (condition: Draft, isNew: boolean) => ReactNode
  /** Replaces the condition with that id; null removes it. */
  onReplace: (id: string, changed: Draft | null) => void
}

/** Conditions, all or any of which must match, and the buttons that add more. */
export function ConditionList(props: ConditionListProps) {
  const { group, legend, isNested, adders, empty, children, onReplace } = props
  const [added, setAdded] = useState('')
  const buttons = useRef<HTMLDivElement>(null)
  const add = (condition: Draft) => {
    setAdded(condition.id)
    onReplace(group.id, { ...group, conditions: [...group.conditions, condition] })
  }
  // The button that removed a condition disappears with it; the focus stays nearby.
  const remove = (id: string) => {
    buttons.current?.querySelector('button')?.focus()
    onReplace(id, null)
  }
  return (
    <Box component="fieldset" className={classes.group} data-nested={isNested} data-plain={legend !== undefined}>
      <legend className={classes.legend}>
        {legend === undefined ? (
          <Group gap={6} wrap="nowrap">
            <NativeSelect
              aria-label={words.match}
              size="xs"
              value={group.match}
              onChange={({ currentTarget: { value } }) =>
                onReplace(group.id, { ...group, match: value === 'any' ? 'any' : 'all' })
              }
              data={words.matches}
            />
            <Text size="sm" c="dimmed">
              {words.ofThese}
            </Text>
          </Group>
        ) : (
          <Text size="sm" c="dimmed">
            {legend}
          </Text>
        )}
      </legend>
      <Stack gap="xs">
        {group.conditions.length === 0 ? empty : null}
        {group.conditions.map((condition, index) => (
          <Group key={condition.id} align="flex-start" gap="xs" wrap="nowrap" className={classes.condition}>
            <Group gap="xs" flex={1} miw={0} className={classes.fields}>
              {children(condition, condition.id === added)}
            </Group>
            <ActionIcon
              variant="subtle"
              color="gray"
              mt={4}
              aria-label={words.remove(index + 1)}
              onClick={() => remove(condition.id)}
            >
              <IconX size={16} aria-hidden />
            </ActionIcon>
          </Group>
        ))}
        <Group gap="xs" ref={buttons}>
          {adders.map(({ label, icon: AdderIcon, create, isSubtle }) => (
            <Button
              key={label}
              variant={isSubtle ? 'subtle' : 'light'}
              size="xs"
              leftSection={<AdderIcon size={14} aria-hidden />}
              onClick={() => add(create())}
            >
              {label}
            </Button>
          ))}
        </Group>
      </Stack>
    </Box>
  )
}
