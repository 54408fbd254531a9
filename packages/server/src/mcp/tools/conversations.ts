import Type from 'typebox'
import { listResult, placeOf } from '../results.ts'
import { type Tool, tool } from '../tool.ts'
import { idOf, rowsOf, totalOf } from './contacts.ts'
import { contactId, pageInput } from './inputs.ts'
import { count, listOf, pageOf, record, text } from './outputs.ts'

const PARTY = record({ address: text, name: text, role: text })

export const CONVERSATION_TOOLS: readonly Tool[] = [
  tool({
    name: 'conversations',
    title: 'Conversations of a contact',
    description:
      'Mail threads and chats with one contact, newest first: subject, participants, number of messages. With include_messages, the latest messages of each.',
    uses: ['listConversations'],
    input: {
      contact_id: contactId,
      include_messages: Type.Optional(
        Type.Boolean({ description: 'Add the latest 3 messages of each. Default: false.' }),
      ),
      ...pageInput,
    },
    output: pageOf('conversations', {
      thread_id: text,
      channel: text,
      source: text,
      subject: text,
      participants: listOf(PARTY),
      message_count: count,
      last_message_at: text,
      messages: listOf(record({ direction: text, from: PARTY, sent_at: text, text })),
    }),
    async run(call, { contact_id, include_messages: withMessages = false, limit = 5, cursor }) {
      const place = placeOf(cursor, limit)
      const result = await call.operate('listConversations', {
        contact_id: idOf(contact_id),
        include_messages: withMessages,
        ...(withMessages ? { messages_per_thread: 3 } : {}),
        ...place,
      })
      const names = ['thread_id', 'channel', 'source', 'subject', 'participants', 'message_count', 'last_message_at']
      const rows = rowsOf(result.conversations, [...names, 'messages']).map(({ messages, ...thread }) => ({
        ...thread,
        messages: rowsOf(messages ?? [], ['direction', 'from', 'sent_at', 'text']),
      }))
      return listResult('conversations', rows, place, totalOf(result))
    },
  }),
]
