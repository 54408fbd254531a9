import Type from 'typebox'
import type { WriteDependencies } from '../contacts/writing/transaction.ts'
import { idInPath, operation, operationsWith } from '../operations/declare.ts'
import { Pagination, pageParameters, paginationOf } from '../platform/http/pagination.ts'
import { flag, withDefault } from '../platform/http/query-parameters.ts'
import { keyOf } from '../platform/http/records.ts'
import { Id, Nullable, RecordError } from '../platform/http/responses.ts'
import { TEXT } from '../platform/personal.ts'
import { Conversation, EmailThread } from './conversation-object.ts'
import { pushConversations } from './push.ts'
import { EXAMPLE, PushedRecords, parseConversation, parseConversationSource } from './push-requests.ts'
import { conversationsOf, emailThreadsOf, readConversation } from './read.ts'

const tag = 'Conversations'
const ContactPath = { contact_id: idInPath('contact') }
const LIMIT = 20

const Result = Type.Object({
  index: Type.Integer({ description: 'Index of the record in the request.' }),
  thread_key: Nullable(Type.String({ description: 'As sent; null if it is not a string.', ...TEXT })),
  status: Type.Enum(['created', 'updated', 'unchanged', 'failed']),
  thread_id: Type.Optional(Id),
  recorded: Type.Optional(Type.Integer({ description: 'Number of new messages.' })),
  error: Type.Optional(RecordError),
})

export const CONVERSATION_OPERATIONS = [
  operation({
    name: 'listConversations',
    tag,
    http: 'GET /v1/contacts/:contact_id/conversations',
    command: 'conversation list',
    scope: 'contacts:read',
    summary: 'List the email and messaging conversations of a contact, latest first',
    input: {
      ...ContactPath,
      include_messages: flag('Include the messages of the threads.', false),
      messages_per_thread: withDefault(
        Type.Integer({
          minimum: 1,
          maximum: 50,
          default: 5,
          description: 'Number of messages per thread, newest first. Requires include_messages=true.',
        }),
      ),
      ...pageParameters(LIMIT, 100),
    },
    output: {
      conversations: Type.Array(Conversation),
      total_items: Type.Integer(),
      returned: Type.Integer(),
      pagination: Pagination,
    },
    errors: ['404 contact_merged'],
    async run({ tenant }, { contact_id, include_messages, messages_per_thread, page, limit }) {
      const { conversations, total } = await conversationsOf(tenant, contact_id, {
        includeMessages: include_messages,
        messagesPerThread: messages_per_thread,
        page: { page, limit },
      })
      const pagination = paginationOf({ page, limit }, total)
      return { conversations, total_items: total, returned: conversations.length, pagination }
    },
  }),
  operation({
    name: 'getConversation',
    tag,
    http: 'GET /v1/contacts/:contact_id/conversations/:thread_id',
    command: 'conversation get',
    scope: 'contacts:read',
    summary: 'Get a conversation of a contact with its messages, newest first',
    description: '`page` and `limit` apply to messages.',
    input: { ...ContactPath, thread_id: idInPath('conversation'), ...pageParameters(LIMIT, 50) },
    output: { conversation: Conversation, pagination: Pagination },
    errors: ['404 contact_merged'],
    async run({ tenant }, { contact_id, thread_id, page, limit }) {
      const conversation = await readConversation(tenant, contact_id, thread_id, { page, limit })
      return { conversation, pagination: paginationOf({ page, limit }, conversation.message_count) }
    },
  }),
  operation({
    name: 'listEmailThreads',
    tag,
    http: 'GET /v1/contacts/:contact_id/email-threads',
    command: 'conversation email-threads',
    scope: 'contacts:read',
    summary: 'List summaries of the email threads of a contact, latest first',
    input: { ...ContactPath, ...pageParameters(1_000, 1_000) },
    output: { email_threads: Type.Array(EmailThread), total_items: Type.Integer(), pagination: Pagination },
    errors: ['404 contact_merged'],
    async run({ tenant }, { contact_id, page, limit }) {
      const { emailThreads, total } = await emailThreadsOf(tenant, contact_id, { page, limit })
      return { email_threads: emailThreads, total_items: total, pagination: paginationOf({ page, limit }, total) }
    },
  }),
]

export const CONVERSATION_PUSH_OPERATIONS = [
  operationsWith<WriteDependencies>()({
    name: 'pushSourceConversations',
    tag: 'Sources',
    http: 'POST /v1/sources/:source/conversations',
    command: 'source push-conversations',
    scope: 'contacts:write',
    summary: 'Add conversations of a messaging tool',
    description:
      'The thread_key identifies a thread, the message_id a message. Messages that are already stored are ignored, so a push can be repeated even if a request is interrupted. An invalid record does not affect the others.',
    input: { source: Type.String({ examples: ['helpdesk'] }), records: PushedRecords },
    output: { results: Type.Array(Result), failed: Type.Integer({ description: 'Number of failed records.' }) },
    example: { records: [EXAMPLE] },
    options: { records: { mayBeFile: true } },
    errors: ['409 source_name_taken'],
    unaudited: 'data, which the conversations themselves show',
    async run({ tenant, ...writing }, input) {
      const source = parseConversationSource(input.source)
      const ignored = await writing.findIgnoredIds(tenant)
      const records = input.records.map((record, index) => {
        const warnings: string[] = []
        const messages = parseConversation(record, source, ignored, warnings)
        for (const text of warnings) writing.warn(`records[${index}]: ${text}`)
        return messages
      })
      const pushed = await pushConversations(tenant, writing, source, records)
      const results = pushed.map((result, index) => ({
        index,
        thread_key: keyOf(input.records[index], 'thread_key'),
        status: result.status,
        ...(result.status === 'failed'
          ? { error: result.error }
          : { thread_id: result.threadId, recorded: result.recorded }),
      }))
      return { results, failed: results.filter(({ status }) => status === 'failed').length }
    },
  }),
]
