import { type ExpressionBuilder, type RawBuilder, sql } from 'kysely'
import { takesPart } from '../conversations/read.ts'
import { takeConversations } from '../conversations/threads.ts'
import type { TenantTables } from '../platform/postgres/database.ts'
import type { Tenant } from '../platform/tenant.ts'
import { type ErasureSubject, mentionPattern, replacedPattern } from './subject.ts'

/**
 * Every thread that the person takes part in goes, whoever else does; in what others wrote to one another the address is
 * taken out.
 */
export async function eraseFromConversations(tx: Tenant, { email, participantKeys }: ErasureSubject) {
  const counts: Record<string, number> = {}
  if (participantKeys.length > 0) {
    await takeConversations(tx)
    const { numDeletedRows } = await tx.db
      .deleteFrom('conversation_threads')
      .where((from) => takesPart(from as ExpressionBuilder<TenantTables, 'conversation_threads'>, participantKeys))
      .executeTakeFirst()
    counts.conversations = Number(numDeletedRows)
  }
  if (email === null) return counts
  const mentions = (column: string) => sql<boolean>`${sql.ref(column)} ~* ${mentionPattern(email)}`
  const without = <T>(column: string) =>
    sql`regexp_replace(${sql.ref(column)}, ${replacedPattern(email)}, '\\1[erased]', 'gi')` as RawBuilder<T>
  const messages = await tx.db
    .updateTable('conversation_messages')
    .set({ text: without<string>('text'), html: without<string | null>('html') })
    .where((eb) => eb.or([mentions('text'), mentions('html')]))
    .executeTakeFirst()
  const subjects = await tx.db
    .updateTable('conversation_threads')
    .set({ subject: without<string | null>('subject'), subject_key: without<string>('subject_key') })
    .where(mentions('subject'))
    .executeTakeFirst()
  counts.mentions_in_messages = Number(messages.numUpdatedRows) + Number(subjects.numUpdatedRows)
  return counts
}
