import { ActionIcon, Button, Group, NumberInput, Paper, Stack, Text } from '@mantine/core'
import { IconPlus, IconX } from '@tabler/icons-react'
import type { Entity } from '../api/types.ts'
import { replaceIn } from '../filters/draft.ts'
import { FilterBuilder } from '../filters/filter-builder.tsx'
import { newRule, POINTS_MAX, RULES_MAX, type RuleDraft } from './definition-draft.ts'
import { text } from './text.ts'

const words = text.scoreFields

interface ScoreFieldsProps {
  entity: Entity
  rules: RuleDraft[]
  onChange: (rules: RuleDraft[]) => void
}

/** The rules of a score: a filter and its points, each. */
export function ScoreFields({ entity, rules, onChange }: ScoreFieldsProps) {
  const replace = (id: number, changes: (rule: RuleDraft) => Partial<RuleDraft>) =>
    onChange(rules.map((each) => (each.id === id ? { ...each, ...changes(each) } : each)))
  return (
    <Stack gap="sm">
      <Text size="sm" c="dimmed">
        {words.explanation}
      </Text>
      {rules.map(({ id, filter, points }, index) => (
        <Paper key={id} withBorder p="sm" role="group" aria-label={words.rule(index + 1)}>
          <Group gap="xs" align="flex-start" wrap="nowrap">
            <Stack gap="sm" flex={1} miw={0}>
              <NumberInput
                label={words.points}
                description={words.pointsHint}
                min={-POINTS_MAX}
                max={POINTS_MAX}
                allowDecimal={false}
                maw={160}
                value={points}
                onChange={(typed) => replace(id, () => ({ points: String(typed) }))}
              />
              <FilterBuilder
                form={{
                  filtered: entity,
                  draft: filter,
                  replace: (condition, changed) =>
                    replace(id, (rule) => ({ filter: replaceIn(rule.filter, condition, changed) })),
                }}
              />
            </Stack>
            {rules.length > 1 ? (
              <ActionIcon
                variant="subtle"
                color="gray"
                aria-label={words.remove(index + 1)}
                onClick={() => onChange(rules.filter((each) => each.id !== id))}
              >
                <IconX size={16} aria-hidden />
              </ActionIcon>
            ) : null}
          </Group>
        </Paper>
      ))}
      {rules.length < RULES_MAX ? (
        <Button
          variant="light"
          size="xs"
          leftSection={<IconPlus size={14} aria-hidden />}
          style={{ alignSelf: 'flex-start' }}
          onClick={() => onChange([...rules, newRule()])}
        >
          {words.add}
        </Button>
      ) : null}
    </Stack>
  )
}
