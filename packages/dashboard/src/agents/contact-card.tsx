import { Badge, Card, Group, Stack, Text } from '@mantine/core'
import { Children, type ReactNode } from 'react'
import type { Action, RunContact } from '../api/types.ts'
import { AnchorLink } from '../ui/link.tsx'
import { Foreign } from '../ui/text.tsx'
import { ACTION_WORDS, personName } from './action-words.ts'
import { text } from './text.ts'

const COLORS = { pending: 'gray', evaluated: 'teal', failed: 'red', skipped: 'gray', proposed: 'ink' } as const

interface ContactCardProps {
  result: Pick<RunContact, 'contact' | 'contact_id' | 'status' | 'reasoning' | 'error'> &
    Partial<Pick<RunContact, 'skipped_actions' | 'tool_calls'>>
  /** The proposed actions. */
  children: ReactNode
}

/** An evaluated contact: the reasoning and the proposed actions. */
export function ContactCard({ result, children }: ContactCardProps) {
  const { contact, contact_id: contactId, status, reasoning, error, skipped_actions: skipped = [] } = result
  const count = Children.count(children)
  return (
    <Card component="article" aria-label={personName(contact)}>
      <Group justify="space-between" gap="sm" wrap="nowrap" align="flex-start">
        <div>
          <Text fw={600} component="h3">
            {contact === null ? (
              personName(null)
            ) : (
              <AnchorLink inherit to="/contacts/$contactId" params={{ contactId }}>
                <Foreign max={80}>{personName(contact)}</Foreign>
              </AnchorLink>
            )}
          </Text>
          {contact ? (
            <Text size="xs" c="dimmed">
              <Foreign max={160}>{[contact.email, contact.company].filter(Boolean).join(' · ')}</Foreign>
            </Text>
          ) : null}
        </div>
        <Badge color={COLORS[status]} flex="none">
          {text.run.contactStates[status]}
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
      <LookedUp calls={result.tool_calls ?? []} />
      {skipped.length > 0 ? (
        <Text size="sm" c="dimmed" mt="xs">
          {text.run.alreadyWaiting(skipped.map(({ type }) => ACTION_WORDS[type].label))}
        </Text>
      ) : null}
      {status === 'evaluated' && count + skipped.length === 0 ? (
        <Text size="sm" c="dimmed" mt="xs">
          {text.run.noActions}
        </Text>
      ) : null}
      <Stack gap="md" mt={count > 0 ? 'sm' : 0}>
        {children}
      </Stack>
    </Card>
  )
}

/** What the model looked up, in order. */
function LookedUp({ calls }: { calls: RunContact['tool_calls'] }) {
  if (calls.length === 0) return null
  return (
    <Text size="sm" c="dimmed" mt="xs" component="details">
      <summary>{text.run.lookedUp(calls.length)}</summary>
      <Stack component="ol" gap={2} m={0} mt={4} pl="md">
        {calls.map(({ title, arguments: given, characters, error, at }, index) => (
          // biome-ignore lint/suspicious/noArrayIndexKey: calls never change their order
          <li key={`${at} ${index}`}>
            <Foreign max={800}>
              {text.run.call(
                title,
                JSON.stringify(given).slice(0, 400),
                error === null ? text.run.callRead(characters) : text.run.callFailed(error),
              )}
            </Foreign>
          </li>
        ))}
      </Stack>
    </Text>
  )
}

/** The type of an action. */
export function ActionBadge({ type }: Pick<Action, 'type'>) {
  const { label, icon: Icon, color } = ACTION_WORDS[type]
  return (
    <Badge color={color} leftSection={<Icon size={13} aria-hidden />}>
      {label}
    </Badge>
  )
}
