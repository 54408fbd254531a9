import Type from 'typebox'
import type { WriteDependencies } from '../contacts/change-log.ts'
import type { App } from '../platform/http/app-types.ts'
import { Pagination, pageParameters, paginationOf } from '../platform/http/pagination.ts'
import { flag } from '../platform/http/query-parameters.ts'
import { keyOf } from '../platform/http/records.ts'
import { Id, Nullable, pathId, success } from '../platform/http/responses.ts'
import { Conversation, EmailThread } from './conversation-object.ts'
import { pushConversations } from './push.ts'
import { PushBody, parseConversation, parseConversationSource } from './push-requests.ts'
import { conversationsOf, emailThreadsOf } from './read.ts'

const ContactPath = Type.Object({ contact_id: Type.String() })
const LIMIT = 20
const MESSAGES_PER_THREAD = 5

const ConversationsQuery = Type.Object({
  include_messages: flag('Include the messages, not only the threads.', false),
  messages_per_thread: Type.Optional(
    Type.Integer({
      minimum: 1,
      maximum: 50,
      default: MESSAGES_PER_THREAD,
      description: 'The newest messages of each thread; applies with include_messages=true.',
    }),
  ),
  ...pageParameters(LIMIT, 100),
})

const Result = Type.Object({
  index: Type.Integer({ description: 'Place of the record in the request.' }),
  thread_key: Nullable(Type.String({ description: 'As it was sent; null where it is no text.' })),
  status: Type.Enum(['created', 'updated', 'unchanged', 'failed']),
  thread_id: Type.Optional(Id),
  recorded: Type.Optional(Type.Integer({ description: 'Messages that are new.' })),
  error: Type.Optional(Type.Object({ code: Type.String(), message: Type.String() })),
})

/** Conversations of contacts, and what messaging tools push of them. */
export function conversationRoutes(app: App, dependencies: WriteDependencies): void {
  app.get(
    '/v1/contacts/:contact_id/conversations',
    {
      config: { access: 'contacts:read' },
      schema: {
        operationId: 'listConversations',
        summary: 'List the e-mail and messaging conversations of a contact, the latest first',
        tags: ['Conversations'],
        params: ContactPath,
        querystring: ConversationsQuery,
        response: {
          200: success({
            conversations: Type.Array(Conversation),
            total_items: Type.Integer(),
            returned: Type.Integer(),
            pagination: Pagination,
          }),
        },
      },
    },
    async ({ tenant, params, query }) => {
      const page = { page: query.page ?? 1, limit: query.limit ?? LIMIT }
      const { conversations, total } = await conversationsOf(tenant, pathId(params.contact_id, 'contact'), {
        includeMessages: query.include_messages ?? false,
        messagesPerThread: query.messages_per_thread ?? MESSAGES_PER_THREAD,
        page,
      })
      const pagination = paginationOf(page, total)
      const counts = { total_items: total, returned: conversations.length, pagination }
      return { status: 'success' as const, conversations, ...counts }
    },
  )

  app.get(
    '/v1/contacts/:contact_id/email-threads',
    {
      config: { access: 'contacts:read' },
      schema: {
        operationId: 'listEmailThreads',
        summary: 'List the e-mail threads of a contact in brief, the latest first',
        tags: ['Conversations'],
        params: ContactPath,
        querystring: Type.Object(pageParameters(1_000, 1_000)),
        response: {
          200: success({
            email_threads: Type.Array(EmailThread),
            total_items: Type.Integer(),
            pagination: Pagination,
          }),
        },
      },
    },
    async ({ tenant, params, query: { page = 1, limit = 1_000 } }) => {
      const contactId = pathId(params.contact_id, 'contact')
      const { emailThreads, total } = await emailThreadsOf(tenant, contactId, { page, limit })
      const pagination = paginationOf({ page, limit }, total)
      return { status: 'success' as const, email_threads: emailThreads, total_items: total, pagination }
    },
  )

  app.post(
    '/v1/sources/:source/conversations',
    {
      config: { access: 'contacts:write' },
      schema: {
        operationId: 'pushSourceConversations',
        summary: 'Add conversations of a messaging tool',
        description:
          'A thread is found by its thread_key, a message by its message_id: what was sent before changes nothing. One bad record fails alone.',
        tags: ['Sources'],
        params: Type.Object({ source: Type.String({ examples: ['helpdesk'] }) }),
        body: PushBody,
        response: {
          200: success({
            results: Type.Array(Result),
            failed: Type.Integer({ description: 'How many records failed.' }),
          }),
        },
      },
    },
    async ({ tenant, params, body }) => {
      const source = parseConversationSource(params.source)
      const records = body.records.map((record) => parseConversation(record, source))
      const pushed = await pushConversations(tenant, dependencies, source, records)
      const results = pushed.map((result, index) => ({
        index,
        thread_key: keyOf(body.records[index], 'thread_key'),
        status: result.status,
        ...(result.status === 'failed'
          ? { error: result.error }
          : { thread_id: result.threadId, recorded: result.recorded }),
      }))
      const failed = results.filter(({ status }) => status === 'failed').length
      return { status: 'success' as const, results, failed }
    },
  )
}
