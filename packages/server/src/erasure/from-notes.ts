import { sql } from 'kysely'
import type { Tenant } from '../platform/tenant.ts'
import { type ErasureSubject, mentionPattern, replacedPattern } from './subject.ts'

/** The contact's own notes go with it; in notes about others only its address is taken out. */
export async function eraseFromNotes(tx: Tenant, { email }: ErasureSubject): Promise<Record<string, number>> {
  if (email === null) return {}
  const { numUpdatedRows } = await tx.db
    .updateTable('notes')
    .set({ content: sql`regexp_replace(content, ${replacedPattern(email)}, '\\1[erased]', 'gi')` })
    .where(sql<boolean>`content ~* ${mentionPattern(email)}`)
    .executeTakeFirst()
  return { mentions_in_notes: Number(numUpdatedRows) }
}
