import { sql } from 'kysely'
import type { Tenant } from '../../platform/tenant.ts'
import { type ErasureSubject, mentionPattern, replacedPattern } from '../erasure-subject.ts'

/** How many notes are deleted with a contact. */
export async function countNotes(tenant: Tenant, contactId: string) {
  const notes = tenant.db.selectFrom('notes').where('contact_id', '=', contactId)
  const { count } = await notes.select(({ fn }) => fn.countAll<number>().as('count')).executeTakeFirstOrThrow()
  return { notes: count }
}

/** The contact's own notes are deleted with it; in notes about others only its address is replaced. */
export async function eraseFromNotes(tx: Tenant, { email }: ErasureSubject): Promise<Record<string, number>> {
  if (email === null) return {}
  const { numUpdatedRows } = await tx.db
    .updateTable('notes')
    .set({ content: sql`regexp_replace(content, ${replacedPattern(email)}, '\\1[erased]', 'gi')` })
    .where(sql<boolean>`content ~* ${mentionPattern(email)}`)
    .executeTakeFirst()
  return { mentions_in_notes: Number(numUpdatedRows) }
}
