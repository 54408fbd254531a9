import { sql } from 'kysely'
import type { Tenant } from '../platform/tenant.ts'
import { aliasesOf } from './aliases.ts'

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
