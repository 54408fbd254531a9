import { Alert, Badge, Box, Group, Text } from '@mantine/core'
import type { Action, RunContact } from '../api/types.ts'
import { formatMoment } from '../ui/format.ts'
import { AnchorLink } from '../ui/link.tsx'
import { Foreign } from '../ui/text.tsx'
import { ActionContent } from './action-content.tsx'
import { ACTION_STATES, ACTION_WORDS, actionKey } from './action-words.ts'
import { ActionBadge, ContactCard } from './contact-card.tsx'
import { GuardrailList } from './guardrail-list.tsx'
import { text } from './text.ts'

/** The result of a run for one contact: the reasoning and the proposed actions. */
export function RunContactCard({ result }: { result: RunContact }) {
  return (
    <ContactCard result={result}>
      {result.proposed_actions.map((action) => (
        <ProposedAction key={actionKey(action)} action={action} />
      ))}
    </ContactCard>
  )
}

function ProposedAction({ action }: { action: Action }) {
  const { status, error } = action
  const state = ACTION_STATES[status]
  return (
    <Box>
      <Group gap={6} mb={6}>
        <ActionBadge type={action.type} />
        <Badge color={state.color}>{state.label}</Badge>
        {status === 'pending_approval' ? (
          <AnchorLink size="sm" to="/approvals">
            {text.run.decide}
          </AnchorLink>
        ) : (
          <Text size="xs" c="dimmed">
            {decidedWords(action)}
          </Text>
        )}
      </Group>
      {error !== null && (status === 'failed' || status === 'approved') ? (
        <Alert
          mb={6}
          color={status === 'failed' ? 'red' : 'orange'}
          title={status === 'failed' ? text.run.actionFailed(ACTION_WORDS[action.type].label) : text.run.postponed}
        >
          <Foreign max={600}>{error.message}</Foreign>
        </Alert>
      ) : null}
      <ActionContent action={action} />
      <Box mt={6}>
        <GuardrailList guardrails={action.guardrails} identityId={action.identity_id} />
      </Box>
    </Box>
  )
}

function decidedWords({
  decided_by: by,
  decided_at: at,
  executed_at: executed,
  auto_approved: isAuto,
}: Action): string {
  const who = isAuto
    ? text.run.automatically
    : by?.kind === 'user'
      ? text.run.by((by.name ?? text.run.somebody).slice(0, 60))
      : ''
  const when = executed ?? at
  return [who, when === null ? '' : formatMoment(when)].filter(Boolean).join(', ')
}
