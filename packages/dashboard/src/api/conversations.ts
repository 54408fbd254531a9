import { queryOptions } from '@tanstack/react-query'
import type { Conversation, Message, Participant } from '../../../client/src/generated/types.gen.ts'
import { call } from './client.ts'

export type { Conversation, Message, Participant }

const THREADS = 50
const MESSAGES = 20

/** The threads with a contact, newest first, each with its latest messages. */
export const conversationsQuery = (contact_id: string) =>
  queryOptions({
    queryKey: ['conversations', contact_id],
    queryFn: ({ signal }) =>
      call(
        'listConversations',
        { contact_id, include_messages: true, messages_per_thread: MESSAGES, limit: THREADS },
        signal,
      ),
  })
