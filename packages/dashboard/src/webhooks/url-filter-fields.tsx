import { ActionIcon, Button, Group, NativeSelect, Stack, Text, TextInput } from '@mantine/core'
import { IconPlus, IconX } from '@tabler/icons-react'
import type { UrlFilter } from '../api/webhooks.ts'

type Condition = UrlFilter['conditions'][number]

const OPERATORS: { value: Condition['operator']; label: string }[] = [
  { value: 'contains', label: 'contains' },
  { value: 'not_contains', label: 'does not contain' },
  { value: 'equals', label: 'is' },
  { value: 'starts_with', label: 'starts with' },
  { value: 'ends_with', label: 'ends with' },
]

/** The filter on an event's URL; null: all events. */
export function UrlFilterFields({
  value,
  onChange,
}: {
  value: UrlFilter | null
  onChange: (filter: UrlFilter | null) => void
}) {
  const { match, conditions } = value ?? { match: 'all' as const, conditions: [] }
  const set = (next: Condition[]) => onChange(next.length === 0 ? null : { match, conditions: next })
  const setOne = (index: number, changes: Partial<Condition>) =>
    set(conditions.map((each, at) => (at === index ? { ...each, ...changes } : each)))
  return (
    <Stack gap="xs" role="group" aria-label="URL filter">
      <Group gap="xs">
        <Text size="sm" fw={550}>
          Only events whose address
        </Text>
        {conditions.length > 1 ? (
          <NativeSelect
            size="xs"
            aria-label="All or any"
            value={match}
            onChange={(event) => onChange({ match: event.currentTarget.value === 'any' ? 'any' : 'all', conditions })}
            data={[
              { value: 'all', label: 'matches all of these' },
              { value: 'any', label: 'matches any of these' },
            ]}
          />
        ) : null}
      </Group>
      {conditions.map((condition, index) => (
        // biome-ignore lint/suspicious/noArrayIndexKey: conditions have no name, and all fields are controlled
        <Group key={index} gap="xs" wrap="nowrap">
          <NativeSelect
            aria-label={`Comparison ${index + 1}`}
            value={condition.operator}
            onChange={({ currentTarget }) =>
              setOne(index, {
                operator: OPERATORS.find(({ value: known }) => known === currentTarget.value)?.value ?? 'contains',
              })
            }
            data={OPERATORS}
          />
          <TextInput
            aria-label={`Pattern ${index + 1}`}
            placeholder="/pricing"
            required
            flex={1}
            miw={0}
            value={condition.value}
            onChange={(event) => setOne(index, { value: event.currentTarget.value })}
          />
          <ActionIcon
            variant="subtle"
            color="gray"
            aria-label={`Remove pattern ${index + 1}`}
            onClick={() => set(conditions.filter((_, at) => at !== index))}
          >
            <IconX size={16} aria-hidden />
          </ActionIcon>
        </Group>
      ))}
      <div>
        <Button
          variant="light"
          size="xs"
          leftSection={<IconPlus size={14} aria-hidden />}
          onClick={() => set([...conditions, { operator: 'contains', value: '' }])}
        >
          Add a pattern
        </Button>
      </div>
    </Stack>
  )
}
