import { queryOptions } from '@tanstack/react-query'
import type { ConversationObject, MessageObject } from '../../../server/src/conversations/conversation-object.ts'
import { get } from './client.ts'

export type Conversation = ConversationObject
export type Message = MessageObject
export type Participant = Message['from']

const THREADS = 50
const MESSAGES = 20

/** The threads with a contact, newest first, each with its latest messages. */
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
