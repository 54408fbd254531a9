import { changeContact, insertContact, type SourceWrite } from '../contacts/change.ts'
import { type ChangeLog, changeContacts, type WriteDependencies } from '../contacts/change-log.ts'
import { CONTACT_COLUMNS, type ContactRow } from '../contacts/contact-row.ts'
import { recordFirstTouch } from '../contacts/first-touch.ts'
import type { PropertyChanges } from '../contacts/properties.ts'
import { Collision } from '../platform/postgres/collisions.ts'
import type { Tenant } from '../platform/tenant.ts'
import { linkUnresolved, lockExternalId } from './external-id.ts'
import { linkVisitors } from './link.ts'

/** Somebody says who visitors are; at least one of userId and email is there. */
export interface Identification {
  visitorIds: readonly string[]
  /** The id that the customer's own system gave. */
  userId: string | null
  email: string | null
  properties: PropertyChanges
  source: 'identify' | 'tracker'
}

/**
 * Finds or creates the contact that is meant and links the visitors to it. E-mail is the strongest key, then the user
 * id. The e-mail and the user id of a contact that has one never change here, and no two contacts are merged.
 */
export async function identify(
  tenant: Tenant,
  dependencies: WriteDependencies,
  identification: Identification,
): Promise<{ contactId: string; created: boolean }> {
  const { userId, visitorIds, source } = identification
  const now = dependencies.clock()
  const answer = await changeContacts(tenant, dependencies, async (tx, log) => {
    if (userId !== null) await lockExternalId(tx, userId)
    const { row, created } = await meantContact(tx, log, identification, now)
    const linked = await linkVisitors(tx, log, visitorIds, row.contact_id, source, now)
    return { contactId: row.contact_id, created, linked }
  })
  if (answer.linked > 0) await recordFirstTouch(tenant, dependencies, answer.contactId)
  return answer
}

async function meantContact(
  tx: Tenant,
  log: ChangeLog,
  { email, userId, properties, source }: Identification,
  now: Date,
): Promise<{ row: ContactRow; created: boolean }> {
  const write: SourceWrite = { source, kind: source, properties }
  const withUserId = userId === null ? write : { ...write, externalId: userId }
  const byEmail = email === null ? undefined : await lockBy(tx, 'email', email)
  const byUserId = userId === null ? undefined : await lockBy(tx, 'external_id', userId)

  if (byEmail) {
    const takesUserId = userId !== null && byEmail.external_id === null && !byUserId
    if (takesUserId) await takeUserId(tx, log, byEmail, userId, now)
    const isItsUserId = userId !== null && (takesUserId || byEmail.external_id === userId)
    const row = await changeContact(tx, log, byEmail, isItsUserId ? withUserId : write, now)
    return { row, created: false }
  }
  // A contact that was known by its user id alone, and says its e-mail now.
  if (byUserId && (email === null || byUserId.email === null)) {
    const changes = email === null ? withUserId : { ...withUserId, email }
    return { row: await changeContact(tx, log, byUserId, changes, now), created: false }
  }
  // A user id that is another contact's stays there.
  const keys = { email, externalId: byUserId ? null : userId }
  const row = await insertContact(tx, log, keys, byUserId ? write : withUserId, now)
  if (!row) throw new Collision()
  if (keys.externalId !== null) await linkUnresolved(tx, log, keys.externalId, row.contact_id, now)
  return { row, created: true }
}

async function takeUserId(tx: Tenant, log: ChangeLog, row: ContactRow, userId: string, now: Date): Promise<void> {
  await tx.db.updateTable('contacts').set({ external_id: userId }).where('contact_id', '=', row.contact_id).execute()
  await linkUnresolved(tx, log, userId, row.contact_id, now)
}

async function lockBy(tx: Tenant, key: 'email' | 'external_id', value: string): Promise<ContactRow | undefined> {
  return tx.db.selectFrom('contacts').select(CONTACT_COLUMNS).where(key, '=', value).forUpdate().executeTakeFirst()
}
