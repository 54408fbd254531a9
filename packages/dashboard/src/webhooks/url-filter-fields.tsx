import { Group, NativeSelect, Stack, Text, TextInput } from '@mantine/core'
import type { UrlFilter } from '../api/types.ts'
import { FieldRows } from '../ui/field-rows.tsx'
import { text } from './text.ts'

type Condition = UrlFilter['conditions'][number]

const OPERATORS = Object.entries(text.urlFilter.operators).map(([value, label]) => ({ value, label }))

function isOperator(value: string): value is Condition['operator'] {
  return Object.hasOwn(text.urlFilter.operators, value)
}

/** The filter on an event's URL; null: all events. */
export function UrlFilterFields({
  value,
  onChange,
}: {
  value: UrlFilter | null
  onChange: (filter: UrlFilter | null) => void
}) {
  const { match, conditions } = value ?? { match: 'all' as const, conditions: [] }
  return (
    <Stack gap="xs" role="group" aria-label={text.urlFilter.label}>
      <Group gap="xs">
        <Text size="sm" fw={550}>
          {text.urlFilter.title(conditions.length)}
        </Text>
        {conditions.length > 1 ? (
          <NativeSelect
            size="xs"
            aria-label={text.urlFilter.match}
            value={match}
            onChange={(event) => onChange({ match: event.currentTarget.value === 'any' ? 'any' : 'all', conditions })}
            data={[
              { value: 'all', label: text.urlFilter.all },
              { value: 'any', label: text.urlFilter.any },
            ]}
          />
        ) : null}
      </Group>
      <FieldRows
        rows={conditions}
        onChange={(next) => onChange(next.length === 0 ? null : { match, conditions: next })}
        newRow={(): Condition => ({ operator: 'contains', value: '' })}
        addLabel={text.urlFilter.add}
        removeLabel={text.urlFilter.remove}
      >
        {(condition, number, change) => (
          <>
            <NativeSelect
              aria-label={text.urlFilter.operator(number)}
              value={condition.operator}
              onChange={({ currentTarget: { value: operator } }) => isOperator(operator) && change({ operator })}
              data={OPERATORS}
            />
            <TextInput
              aria-label={text.urlFilter.pattern(number)}
              placeholder={text.urlFilter.patternPlaceholder}
              required
              flex={1}
              miw={0}
              value={condition.value}
              onChange={(event) => change({ value: event.currentTarget.value })}
            />
          </>
        )}
      </FieldRows>
    </Stack>
  )
}
