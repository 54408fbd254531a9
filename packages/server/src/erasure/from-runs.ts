import { sql } from 'kysely'
import type { Tenant } from '../platform/tenant.ts'
import type { ErasureSubject } from './subject.ts'

/** What agents thought of the contact and did about it. */
export async function eraseFromRuns(tx: Tenant, { contactId }: ErasureSubject) {
  const actions = await tx.db.deleteFrom('agent_actions').where('contact_id', '=', contactId).executeTakeFirst()
  const contacts = await tx.db.deleteFrom('agent_run_contacts').where('contact_id', '=', contactId).executeTakeFirst()
  await tx.db
    .updateTable('agent_runs')
    .set({ requested_contact_ids: sql`array_remove(requested_contact_ids, ${contactId}::uuid)` })
    .where(sql<boolean>`requested_contact_ids @> ARRAY[${contactId}::uuid]`)
    .execute()
  return { agent_actions: Number(actions.numDeletedRows), agent_run_contacts: Number(contacts.numDeletedRows) }
}
