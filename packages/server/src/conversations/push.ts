import type { WriteDependencies } from '../contacts/writing/transaction.ts'
import { ServiceError } from '../platform/errors.ts'
import { type Failure, failure } from '../platform/http/records.ts'
import type { Tenant } from '../platform/tenant.ts'
import { noteConnector } from '../sources/connectors.ts'
import type { IncomingMessage } from './message.ts'
import { recordMessages } from './record.ts'

/** The result for one pushed conversation. */
export type PushResult = { status: 'created' | 'updated' | 'unchanged'; threadId: string; recorded: number } | Failure

/**
 * Records conversations of a messaging tool.
 * @param conversations the messages of each conversation, or the error of an invalid one.
 */
export async function pushConversations(
  tenant: Tenant,
  writing: WriteDependencies,
  source: string,
  conversations: readonly (readonly IncomingMessage[] | ServiceError)[],
): Promise<PushResult[]> {
  const messages = conversations.flatMap((conversation) => (conversation instanceof ServiceError ? [] : conversation))
  if (messages.length > 0) await noteConnector(tenant, source, undefined, writing.clock(), 'messaging')
  const recorded = await recordMessages(tenant, writing, messages)
  let at = 0
  return conversations.map((conversation) => {
    if (conversation instanceof ServiceError) return failure(conversation)
    const own = recorded.slice(at, at + conversation.length)
    at += conversation.length
    const added = own.filter(({ status }) => status === 'recorded')
    const threadId = own.findLast((each) => each.threadId !== null)?.threadId ?? ''
    const status = own.some(({ isNewThread }) => isNewThread) ? 'created' : added.length > 0 ? 'updated' : 'unchanged'
    return { status, threadId, recorded: added.length }
  })
}
