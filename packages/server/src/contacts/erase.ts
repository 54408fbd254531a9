import { sql } from 'kysely'
import type { Tenant } from '../platform/tenant.ts'
import { aliasesOf } from './aliases.ts'

/** How many rows of contacts are deleted with a contact. */
export async function countContactRows(tenant: Tenant, contactId: string) {
  const count = async (table: 'contacts' | 'contact_sources') => {
    const rows = tenant.db.selectFrom(table).where('contact_id', '=', contactId)
    return (await rows.select(({ fn }) => fn.countAll<number>().as('count')).executeTakeFirstOrThrow()).count
  }
  return { contacts: await count('contacts'), contact_sources: await count('contact_sources') }
}

/** The contacts that were merged into this one, whose copies are deleted with its row, with the keys they had. */
export async function mergedContacts(tx: Tenant, contactId: string) {
  const merges = await tx.db
    .selectFrom('contact_merges')
    .select(['contact_id', sql<string | null>`merged #>> '{row,email}'`.as('email')])
    .where('survivor_id', '=', contactId)
    .execute()
  const aliases = Map.groupBy(await aliasesOf(tx, contactId), ({ mergedId }) => mergedId)
  return merges.map(({ contact_id, email }) => ({
    contactId: contact_id,
    email,
    aliases: aliases.get(contact_id) ?? [],
  }))
}
