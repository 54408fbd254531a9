import { Group, Stack, Text } from '@mantine/core'
import { IconAlertTriangle, IconCheck } from '@tabler/icons-react'
import type { Action } from '../api/approvals.ts'

type Guardrail = Action['guardrails'][number]

/** The latest result of each guardrail, failures first. */
export function GuardrailList({ guardrails }: { guardrails: readonly Guardrail[] }) {
  const latest = [...new Map(guardrails.map((each) => [each.rule, each])).values()]
  if (latest.length === 0) return null
  const failed = latest.filter(({ passed }) => !passed)
  const passed = latest.filter((each) => each.passed)
  return (
    <Stack gap={4} component="ul" m={0} p={0} style={{ listStyle: 'none' }} aria-label="Guardrails">
      {failed.map(({ rule, message }) => (
        <Group key={rule} component="li" gap={6} wrap="nowrap" align="flex-start" c="orange">
          <IconAlertTriangle size={16} aria-label="Problem" style={{ flex: 'none', marginTop: 2 }} />
          <Text size="sm">{message}</Text>
        </Group>
      ))}
      {passed.length > 0 ? (
        <Group component="li" gap={6} wrap="nowrap" align="flex-start" c="dimmed">
          <IconCheck size={16} aria-hidden style={{ flex: 'none', marginTop: 2 }} />
          <Text size="sm">
            {failed.length === 0 ? 'All guardrails pass: ' : 'Passed: '}
            {passed.map(({ rule }) => rule.replaceAll('_', ' ')).join(', ')}
          </Text>
        </Group>
      ) : null}
    </Stack>
  )
}
