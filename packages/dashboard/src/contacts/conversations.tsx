import { Accordion, Badge, Group, Stack, Text } from '@mantine/core'
import { IconMessages } from '@tabler/icons-react'
import { useQuery } from '@tanstack/react-query'
import { queryOf } from '../api/operation.ts'
import type { Conversation, Participant } from '../api/types.ts'
import { EmptyState, ErrorState, LoadingState } from '../ui/states.tsx'
import { Foreign, Moment } from '../ui/text.tsx'
import { MessageCard } from './message-card.tsx'
import { text } from './text.ts'

const THREADS_SHOWN = 50
const MESSAGES_SHOWN = 20

/** The emails and chats with a contact by thread, newest first. */
export function Conversations({ contactId }: { contactId: string }) {
  const { data, error, refetch } = useQuery(
    queryOf('listConversations', {
      contact_id: contactId,
      include_messages: true,
      messages_per_thread: MESSAGES_SHOWN,
      limit: THREADS_SHOWN,
    }),
  )
  if (error && !data) return <ErrorState error={error} onRetry={refetch} />
  if (!data) return <LoadingState lines={5} />
  if (data.conversations.length === 0) {
    return (
      <EmptyState icon={IconMessages} title={text.conversations.none}>
        {text.conversations.noneHint}
      </EmptyState>
    )
  }
  return (
    <Stack gap="sm">
      <Accordion variant="separated" order={2} keepMounted={false}>
        {data.conversations.map((conversation) => (
          <Thread key={conversation.thread_id} conversation={conversation} />
        ))}
      </Accordion>
      {data.total_items > data.returned ? (
        <Text size="sm" c="dimmed">
          {text.conversations.latestThreads(data.returned, data.total_items)}
        </Text>
      ) : null}
    </Stack>
  )
}

function Thread({ conversation }: { conversation: Conversation }) {
  const { thread_id, channel, source, subject, participants, message_count, last_message_at, messages } = conversation
  return (
    <Accordion.Item value={thread_id}>
      <Accordion.Control>
        <Group justify="space-between" wrap="nowrap" gap="sm">
          <div style={{ minWidth: 0 }}>
            <Text size="sm" fw={600} truncate>
              <Foreign max={160}>{subject || text.conversations.noSubject}</Foreign>
            </Text>
            <Text size="xs" c="dimmed" truncate>
              <Foreign max={160}>{participants.map(participantName).join(', ')}</Foreign>
            </Text>
          </div>
          <Group gap="xs" wrap="nowrap" flex="none" mr="sm">
            <Badge color="gray" visibleFrom="xs">
              {channel === 'email' ? text.conversations.email : source.slice(0, 30)}
            </Badge>
            <Text size="xs" c="dimmed">
              {message_count} · <Moment at={last_message_at} />
            </Text>
          </Group>
        </Group>
      </Accordion.Control>
      <Accordion.Panel>
        <Stack gap="sm">
          {(messages ?? []).map((message) => (
            <MessageCard key={message.message_id} message={message} />
          ))}
          {messages && message_count > messages.length ? (
            <Text size="sm" c="dimmed">
              {text.conversations.latestMessages(messages.length, message_count)}
            </Text>
          ) : null}
        </Stack>
      </Accordion.Panel>
    </Accordion.Item>
  )
}

function participantName({ name, address }: Participant): string {
  return name || address || text.conversations.unknown
}
