import { queryOptions } from '@tanstack/react-query'
import { get } from './client.ts'

export interface Participant {
  address: string | null
  name: string | null
}

export interface Message {
  message_id: string
  direction: 'inbound' | 'outbound'
  from: Participant
  to: Participant[]
  cc: Participant[]
  sent_at: string
  text: string
  /** Cleaned by the service of all that runs or loads. */
  html?: string
  attachments: { filename: string | null; content_type: string; bytes: number }[]
  truncated?: true
}

export interface Conversation {
  thread_id: string
  channel: 'email' | 'chat'
  source: string
  subject: string | null
  participants: Participant[]
  message_count: number
  last_message_at: string
  messages?: Message[]
}

const THREADS = 50
const MESSAGES = 20

/** The threads with a contact, the latest first, each with its latest messages. */
export const conversationsQuery = (contactId: string) =>
  queryOptions({
    queryKey: ['conversations', contactId],
    queryFn: ({ signal }) =>
      get<{ conversations: Conversation[]; total_items: number; returned: number }>(
        `/v1/contacts/${encodeURIComponent(contactId)}/conversations`,
        { include_messages: true, messages_per_thread: MESSAGES, limit: THREADS },
        signal,
      ),
  })
