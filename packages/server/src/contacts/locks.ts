import { sql } from 'kysely'
import type { Tenant } from '../platform/tenant.ts'
import { CONTACT_COLUMNS, type ContactRow } from './contact-row.ts'

/*
 * Locks on contacts, also for other features. All are acquired in id order, so that two
 * transactions cannot deadlock.
 */

/** Locks a contact for a change of something that belongs to it. */
export async function lockContact(tx: Tenant, contactId: string): Promise<ContactRow | undefined> {
  return tx.db
    .selectFrom('contacts')
    .select(CONTACT_COLUMNS)
    .where('contact_id', '=', contactId)
    .forUpdate()
    .executeTakeFirst()
}

/** Keeps contacts from being merged and deleted until the transaction ends. @returns those that exist. */
export async function keepContacts(tx: Tenant, contactIds: readonly string[]): Promise<string[]> {
  const rows = await contactsById(tx, contactIds).orderBy('contact_id').forKeyShare().execute()
  return rows.map(({ contact_id }) => contact_id)
}

/** Keeps contacts from being changed, except those that another transaction is changing: they are `busy`. */
export async function lockUnlessBusy(
  tx: Tenant,
  contactIds: readonly string[],
): Promise<{ locked: string[]; busy: string[] }> {
  if (contactIds.length === 0) return { locked: [], busy: [] }
  const query = contactsById(tx, contactIds)
  const rows = await query.orderBy('contact_id').forNoKeyUpdate().skipLocked().execute()
  const locked = new Set(rows.map(({ contact_id }) => contact_id))
  if (locked.size === contactIds.length) return { locked: [...locked], busy: [] }
  const existing = await query.execute()
  return { locked: [...locked], busy: existing.map(({ contact_id }) => contact_id).filter((id) => !locked.has(id)) }
}

/** Locks the contacts of a company for a change. */
export async function lockContactsOfCompany(tx: Tenant, companyId: string): Promise<string[]> {
  const rows = await tx.db
    .selectFrom('contacts')
    .select('contact_id')
    .where('company_id', '=', companyId)
    .orderBy('contact_id')
    .forUpdate()
    .execute()
  return rows.map(({ contact_id }) => contact_id)
}

function contactsById(tx: Tenant, contactIds: readonly string[]) {
  return tx.db
    .selectFrom('contacts')
    .select('contact_id')
    .where('contact_id', '=', sql<string>`any(${contactIds}::uuid[])`)
}
