import { sql } from 'kysely'
import type { Tenant } from '../platform/tenant.ts'
import type { ErasureSubject } from './subject.ts'

/**
 * What was sent to the person. The address stays among the suppressed ones when it stands there: without it, somebody
 * who asked for no more mail would get some again.
 */
export async function eraseFromOutreach(tx: Tenant, { contactId, email, profileUrls }: ErasureSubject) {
  const mails = await tx.db
    .deleteFrom('mail_sends')
    .where((eb) =>
      // The contact's own deletion has taken its id out of the rows.
      eb.or([eb('contact_id', '=', contactId), ...(email === null ? [] : [eb('recipient', '=', email)])]),
    )
    .executeTakeFirst()
  const outreach = await tx.db.deleteFrom('agent_outreach').where('contact_id', '=', contactId).executeTakeFirst()
  const sandbox = await tx.db
    .deleteFrom('social_sandbox_outbox')
    .where(sql<boolean>`recipient_profile_url = ANY(${profileUrls}::text[])`)
    .executeTakeFirst()
  return {
    mails: Number(mails.numDeletedRows),
    agent_outreach: Number(outreach.numDeletedRows),
    social_messages: Number(sandbox.numDeletedRows),
  }
}
