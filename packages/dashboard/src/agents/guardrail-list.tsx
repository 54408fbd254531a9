import { Group, Stack, Text } from '@mantine/core'
import { IconAlertTriangle, IconCheck, IconClock } from '@tabler/icons-react'
import type { Action } from '../api/types.ts'
import { AnchorLink } from '../ui/link.tsx'
import { text } from './text.ts'

type Guardrail = Action['guardrails'][number]

interface GuardrailListProps {
  guardrails: readonly Guardrail[]
  /** Where a missing sender can be set. */
  identityId?: string | null | undefined
  agentId?: string | undefined
}

/** The latest result of each guardrail: failures first, then delays. */
export function GuardrailList({ guardrails, identityId, agentId }: GuardrailListProps) {
  const latest = latestOf(guardrails)
  if (latest.length === 0) return null
  const failed = latest.filter(({ passed }) => !passed)
  const waiting = latest.filter(({ passed, waits_until }) => passed && waits_until !== null)
  const passed = latest.filter((each) => each.passed && each.waits_until === null)
  return (
    <Stack gap={4} component="ul" m={0} p={0} style={{ listStyle: 'none' }} aria-label={text.guardrails.label}>
      {failed.map(({ rule, message }) => (
        <Group key={rule} component="li" gap={6} wrap="nowrap" align="flex-start" c="orange">
          <IconAlertTriangle size={16} aria-label={text.guardrails.problem} style={{ flex: 'none', marginTop: 2 }} />
          <Text size="sm">
            {message} <Remedy rule={rule} identityId={identityId} agentId={agentId} />
          </Text>
        </Group>
      ))}
      {waiting.map(({ rule, message }) => (
        <Group key={rule} component="li" gap={6} wrap="nowrap" align="flex-start" c="dimmed">
          <IconClock size={16} aria-label={text.guardrails.waits} style={{ flex: 'none', marginTop: 2 }} />
          <Text size="sm">{message}</Text>
        </Group>
      ))}
      {passed.length > 0 ? (
        <Group component="li" gap={6} wrap="nowrap" align="flex-start" c="dimmed">
          <IconCheck size={16} aria-hidden style={{ flex: 'none', marginTop: 2 }} />
          <Text size="sm">
            {failed.length === 0 ? text.guardrails.allPass : text.guardrails.passed}
            {passed.map(({ rule }) => text.guardrails.names[rule] ?? rule.replaceAll('_', ' ')).join(', ')}
          </Text>
        </Group>
      ) : null}
    </Stack>
  )
}

/** What was checked in a model's text. A person may approve it nevertheless. */
const WARNINGS: readonly string[] = ['facts', 'other_people']

/** The guardrails that an approval would fail at. */
export function failuresOf({ guardrails }: Pick<Action, 'guardrails'>): Guardrail[] {
  return latestOf(guardrails).filter(({ rule, passed }) => !passed && !WARNINGS.includes(rule))
}

function latestOf(guardrails: readonly Guardrail[]): Guardrail[] {
  return [...new Map(guardrails.map((each) => [each.rule, each])).values()]
}

function Remedy({ rule, identityId, agentId }: Omit<GuardrailListProps, 'guardrails'> & { rule: string }) {
  if ((rule === 'mailbox' || rule === 'social_profile') && identityId) {
    return (
      <AnchorLink inherit underline="always" to="/identities/$identityId" params={{ identityId }}>
        {text.guardrails.openIdentity}
      </AnchorLink>
    )
  }
  if (rule === 'identity' && agentId) {
    return (
      <AnchorLink inherit underline="always" to="/agents/$agentId/edit" params={{ agentId }}>
        {text.guardrails.editAgent}
      </AnchorLink>
    )
  }
  return null
}
