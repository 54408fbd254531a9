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
  const lookedUp = await forgetCalls(tx, subject)
  await tx.db
    .updateTable('agent_runs')
    .set({ requested_contact_ids: sql`array_remove(requested_contact_ids, ${contactId}::uuid)` })
    .where(sql<boolean>`requested_contact_ids @> ARRAY[${contactId}::uuid]`)
    .execute()
  return {
    ...messages,
    agent_actions: Number(actions.numDeletedRows),
    agent_run_contacts: Number(contacts.numDeletedRows) + lookedUp,
  }
}

/** What models sent to tools about others, where it names the contact. @returns how many rows changed */
async function forgetCalls(tx: Tenant, { contactId, email, externalIds = [] }: ErasureSubject): Promise<number> {
  const names = [contactId, ...(email === null ? [] : [email.toLowerCase()]), ...externalIds].map((name) =>
    JSON.stringify(name).slice(1, -1),
  )
  const { numUpdatedRows } = await tx.db
    .updateTable('agent_run_contacts')
    .set({
      tool_calls: sql`(SELECT jsonb_agg(call || '{"arguments": {}, "error": null}' ORDER BY number)
        FROM jsonb_array_elements(tool_calls) WITH ORDINALITY AS calls (call, number))`,
    })
    .where('tool_calls', '<>', sql<never>`'[]'::jsonb`)
    .where(sql<boolean>`EXISTS (SELECT FROM unnest(${names}::text[]) AS names (name)
      WHERE strpos(lower(tool_calls::text), lower(name)) > 0)`)
    .executeTakeFirst()
  return Number(numUpdatedRows)
}
