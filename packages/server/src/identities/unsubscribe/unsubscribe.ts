import { lockSurvivor, survivorOfContact } from '../../contacts/aliases.ts'
import { changeContact, lockContact } from '../../contacts/change.ts'
import { changeContacts, type WriteDependencies } from '../../contacts/change-log.ts'
import type { Tenant } from '../../platform/tenant.ts'
import { suppress } from '../suppressions.ts'

/** RFC 8058 and the laws of several countries want weeks; a link in an old mail should still do what it says. */
const WORKS_FOR_MS = 366 * 24 * 3_600_000

/** Whom a link was sent to. */
export interface UnsubscribeLink {
  address: string
  contactId: string | null
}

/** What a link's hash stands for; null when there is no such link or it is older than a year. */
export async function findUnsubscribeLink(tenant: Tenant, hash: string, now: Date): Promise<UnsubscribeLink | null> {
  const row = await tenant.db
    .selectFrom('mail_sends')
    .select(['recipient', 'contact_id'])
    .where('unsubscribe_hash', '=', hash)
    .where('reserved_at', '>', new Date(now.getTime() - WORKS_FOR_MS))
    .executeTakeFirst()
  return row ? { address: row.recipient, contactId: row.contact_id } : null
}

/** Sends nothing to the address any more, and says so on its contact. A second time changes nothing. */
export async function unsubscribe(
  tenant: Tenant,
  writing: WriteDependencies,
  { address, contactId }: UnsubscribeLink,
): Promise<void> {
  const now = writing.clock()
  await changeContacts(tenant, writing, async (tx, log) => {
    const details = 'followed the link of a mail'
    await suppress(tx, { address, reason: 'unsubscribed', details }, now)
    const contact = contactId === null ? undefined : await lockContactOrSurvivor(tx, contactId)
    if (!contact) return
    const write = { source: 'email', kind: 'email', properties: { unsubscribed: true } } as const
    await changeContact(tx, log, contact, write, now)
  })
}

/** A merge may commit after the link was looked up. */
async function lockContactOrSurvivor(tx: Tenant, contactId: string) {
  const contact = await lockContact(tx, contactId)
  if (contact) return contact
  const survivorId = await lockSurvivor(tx, () => survivorOfContact(tx, contactId))
  return survivorId === null ? undefined : lockContact(tx, survivorId)
}
