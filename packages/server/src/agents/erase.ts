import { sql } from 'kysely'
import { eraseMails } from '../identities/erase.ts'
import type { ErasureSubject } from '../platform/postgres/table-rules.ts'
import type { Tenant } from '../platform/tenant.ts'

/** What agents concluded about the contact and did about it, with the messages that their actions sent. */
export async function eraseFromRuns(tx: Tenant, subject: ErasureSubject) {
  const { contactId } = subject
  const sent = await tx.db
    .selectFrom('agent_actions')
    .select(sql<string | null>`execution ->> 'key'`.as('key'))
    .where('contact_id', '=', contactId)
    .execute()
  const messages = await eraseMails(
    tx,
    subject,
    sent.flatMap(({ key }) => key ?? []),
  )
  const actions = await tx.db.deleteFrom('agent_actions').where('contact_id', '=', contactId).executeTakeFirst()
  const contacts = await tx.db.deleteFrom('agent_run_contacts').where('contact_id', '=', contactId).executeTakeFirst()
  await tx.db
    .updateTable('agent_runs')
    .set({ requested_contact_ids: sql`array_remove(requested_contact_ids, ${contactId}::uuid)` })
    .where(sql<boolean>`requested_contact_ids @> ARRAY[${contactId}::uuid]`)
    .execute()
  return {
    ...messages,
    agent_actions: Number(actions.numDeletedRows),
    agent_run_contacts: Number(contacts.numDeletedRows),
  }
}
