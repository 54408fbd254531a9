import { lockSurvivor, survivorOfContact } from '../../contacts/aliases.ts'
import { changeContact, lockContact } from '../../contacts/change.ts'
import { changeContacts, type WriteDependencies } from '../../contacts/change-log.ts'
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
    const contact = contactId === null ? undefined : await lockContactOrSurvivor(tx, contactId)
    if (!contact) return
    const write = { source: 'email', kind: 'email', properties: { unsubscribed: true } } as const
    await changeContact(tx, log, contact, write, now)
  })
}

/** A merge may have committed since the link was found. */
async function lockContactOrSurvivor(tx: Tenant, contactId: string) {
  const contact = await lockContact(tx, contactId)
  if (contact) return contact
  const survivorId = await lockSurvivor(tx, () => survivorOfContact(tx, contactId))
  return survivorId === null ? undefined : lockContact(tx, survivorId)
}
