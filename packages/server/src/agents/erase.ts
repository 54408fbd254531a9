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

/** Rows at a time: each has up to 20 calls of a few kilobytes. */
const ROWS = 100

/** What models sent to tools about others, where it names the contact. @returns how many rows changed */
async function forgetCalls(tx: Tenant, { contactId, email, externalIds = [] }: ErasureSubject): Promise<number> {
  // As they are written in JSON.
  const names = [contactId, ...(email === null ? [] : [email]), ...externalIds].map((name) =>
    JSON.stringify(name).slice(1, -1).toLowerCase(),
  )
  let changed = 0
  for (;;) {
    const rows = await tx.db
      .selectFrom('agent_run_contacts')
      .select(['run_id', 'contact_id', 'tool_calls'])
      .where('tool_calls', '<>', sql<never>`'[]'::jsonb`)
      .where(({ or }) => or(names.map((name) => sql<boolean>`strpos(lower(tool_calls::text), ${name}) > 0`)))
      .limit(ROWS)
      .execute()
    for (const { run_id, contact_id, tool_calls } of rows) {
      const calls = (tool_calls as object[]).map((call) => ({ ...call, arguments: {}, error: null }))
      // Names of tools are the model's too: one that still says something goes with the rest.
      const isClean = names.every((name) => !JSON.stringify(calls).toLowerCase().includes(name))
      await tx.db
        .updateTable('agent_run_contacts')
        .set({ tool_calls: JSON.stringify(isClean ? calls : []) })
        .where('run_id', '=', run_id)
        .where('contact_id', '=', contact_id)
        .execute()
    }
    changed += rows.length
    if (rows.length < ROWS) return changed
  }
}
