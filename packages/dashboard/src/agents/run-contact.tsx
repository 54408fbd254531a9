import { Anchor, Badge, Box, Card, Group, Stack, Text } from '@mantine/core'
import { Link } from '@tanstack/react-router'
import type { RunContact } from '../api/agents.ts'
import { type Action, actionKey } from '../api/approvals.ts'
import { formatMoment } from '../ui/format.ts'
import { Foreign } from '../ui/text.tsx'
import { ActionContent } from './action-content.tsx'
import { ACTION_STATES, ACTION_WORDS, personName } from './action-words.ts'
import { GuardrailList } from './guardrail-list.tsx'

const STATES: Record<RunContact['status'], { label: string; color: string }> = {
  pending: { label: 'Not yet', color: 'gray' },
  evaluated: { label: 'Evaluated', color: 'teal' },
  failed: { label: 'Failed', color: 'red' },
  skipped: { label: 'Skipped', color: 'gray' },
}

/** The result of a run for one contact: the reasoning and the proposed actions. */
export function RunContactCard({ result }: { result: RunContact }) {
  const { contact, contact_id: contactId, status, reasoning, error, proposed_actions: actions } = result
  const { skipped_actions: skipped } = result
  const state = STATES[status]
  return (
    <Card component="article" aria-label={personName(contact)}>
      <Group justify="space-between" gap="sm" wrap="nowrap" align="flex-start">
        <div>
          <Text fw={600} component="h3">
            {contact === null ? (
              personName(null)
            ) : (
              <Anchor
                inherit
                renderRoot={(props) => <Link to="/contacts/$contactId" params={{ contactId }} {...props} />}
              >
                <Foreign max={80}>{personName(contact)}</Foreign>
              </Anchor>
            )}
          </Text>
          {contact ? (
            <Text size="xs" c="dimmed">
              <Foreign max={160}>{[contact.email, contact.company].filter(Boolean).join(' · ')}</Foreign>
            </Text>
          ) : null}
        </div>
        <Badge color={state.color} flex="none">
          {state.label}
        </Badge>
      </Group>
      {error === null ? null : (
        <Text size="sm" c="red" mt="xs">
          <Foreign max={1_000}>{error}</Foreign>
        </Text>
      )}
      {reasoning === null ? null : (
        <Text size="sm" mt="xs" component="p" mb={0}>
          <Foreign max={4_000}>{reasoning}</Foreign>
        </Text>
      )}
      {skipped.length > 0 ? (
        <Text size="sm" c="dimmed" mt="xs">
          Not proposed again, because an earlier one waits for approval:{' '}
          {skipped.map(({ type }) => ACTION_WORDS[type].label).join(', ')}.
        </Text>
      ) : null}
      {status === 'evaluated' && actions.length + skipped.length === 0 ? (
        <Text size="sm" c="dimmed" mt="xs">
          No actions proposed.
        </Text>
      ) : null}
      <Stack gap="md" mt={actions.length > 0 ? 'sm' : 0}>
        {actions.map((action) => (
          <ProposedAction key={actionKey(action)} action={action} />
        ))}
      </Stack>
    </Card>
  )
}

function ProposedAction({ action }: { action: Action }) {
  const { label, icon: Icon, color } = ACTION_WORDS[action.type]
  const state = ACTION_STATES[action.status]
  return (
    <Box>
      <Group gap={6} mb={6}>
        <Badge color={color} leftSection={<Icon size={13} aria-hidden />}>
          {label}
        </Badge>
        <Badge color={state.color}>{state.label}</Badge>
        {action.status === 'pending_approval' ? (
          <Anchor size="sm" renderRoot={(props) => <Link to="/approvals" {...props} />}>
            Decide in the inbox
          </Anchor>
        ) : (
          <Text size="xs" c="dimmed">
            {decidedWords(action)}
          </Text>
        )}
      </Group>
      <ActionContent action={action} />
      <Box mt={6}>
        <GuardrailList guardrails={action.guardrails} />
      </Box>
      {action.error === null ? null : (
        <Text size="sm" c="red" mt={4}>
          <Foreign max={600}>{action.error.message}</Foreign>
        </Text>
      )}
    </Box>
  )
}

function decidedWords({
  decided_by: by,
  decided_at: at,
  executed_at: executed,
  auto_approved: isAuto,
}: Action): string {
  const who = isAuto ? 'automatically' : by?.kind === 'user' ? `by ${(by.name ?? 'somebody').slice(0, 60)}` : ''
  const when = executed ?? at
  return [who, when === null ? '' : formatMoment(when)].filter(Boolean).join(', ')
}
