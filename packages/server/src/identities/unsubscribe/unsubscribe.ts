import { changeContact } from '../../contacts/writing/change.ts'
import { openSet } from '../../contacts/writing/keys.ts'
import { storeSet } from '../../contacts/writing/store.ts'
import { changeContacts, type WriteDependencies } from '../../contacts/writing/transaction.ts'
import type { Tenant } from '../../platform/tenant.ts'
import { DAY_MS } from '../../platform/time.ts'
import { suppress } from '../suppressions.ts'

/** The laws of several countries require weeks. Links in old mails should still work. */
const VALID_MS = 366 * DAY_MS

/** The recipient of a link. */
export interface UnsubscribeLink {
  address: string
  contactId: string | null
}

/** Finds a link by its hash; null if it is unknown or older than a year. */
export async function findUnsubscribeLink(tenant: Tenant, hash: string, now: Date): Promise<UnsubscribeLink | null> {
  const row = await tenant.db
    .selectFrom('mail_sends')
    .select(['recipient', 'contact_id'])
    .where('unsubscribe_hash', '=', hash)
    .where('claimed_at', '>', new Date(now.getTime() - VALID_MS))
    .executeTakeFirst()
  return row ? { address: row.recipient, contactId: row.contact_id } : null
}

/** Suppresses the address and marks its contact as unsubscribed. Idempotent. */
export async function unsubscribe(
  tenant: Tenant,
  writing: WriteDependencies,
  { address, contactId }: UnsubscribeLink,
): Promise<void> {
  const now = writing.clock()
  await changeContacts(tenant, writing, async (tx, log) => {
    const details = 'used the unsubscribe link in a mail'
    await suppress(tx, { address, reason: 'unsubscribed', details }, now)
    if (contactId === null) return
    const set = await openSet(tx, [{ contactIds: [contactId] }])
    // A merge may have committed since the link was found.
    const contact = set.contact(contactId) ?? set.survivorOf(contactId)
    if (!contact) return
    changeContact(set, contact, { source: 'email', kind: 'email', properties: { unsubscribed: true } }, now)
    await storeSet(tx, log, set)
  })
}
