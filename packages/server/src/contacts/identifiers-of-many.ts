import { sql } from 'kysely'
import type { Tenant } from '../platform/tenant.ts'

/** A key that leads to a contact: an email address (`source` is null), or its id in another system. */
export interface KeyOfContact {
  contactId: string
  source: string | null
  key: string
}

/** The keys of some contacts and of those merged into them, as `identifiersOf` has them. Unknown contacts have none. */
export async function keysOfContacts(tenant: Tenant, contactIds: readonly string[]): Promise<KeyOfContact[]> {
  if (contactIds.length === 0) return []
  const these = sql<string>`any(${[...contactIds]}::uuid[])`
  const idsOf = (table: 'contact_sources' | 'contact_source_ids') =>
    tenant.db
      .selectFrom(table)
      .select(['contact_id', 'source', 'external_id as key'])
      .where('contact_id', '=', these)
      .where('external_id', 'is not', null)
  const rows = await tenant.db
    .selectFrom('contacts')
    .select(['contact_id', sql<string | null>`NULL::text`.as('source'), 'email as key'])
    .where('contact_id', '=', these)
    .where('email', 'is not', null)
    .unionAll(idsOf('contact_sources'))
    .unionAll(idsOf('contact_source_ids'))
    .unionAll(
      tenant.db
        .selectFrom('contact_aliases')
        .innerJoin('contact_merges', 'contact_merges.contact_id', 'contact_aliases.contact_id')
        .select('contact_merges.survivor_id as contact_id')
        .select([sql<string | null>`nullif(contact_aliases.source, '')`.as('source'), 'contact_aliases.key'])
        .where('contact_merges.survivor_id', '=', these)
        .where('contact_aliases.kind', 'in', ['email', 'source']),
    )
    .$narrowType<{ key: string }>()
    .execute()
  return rows.map(({ contact_id, source, key }) => ({ contactId: contact_id, source, key }))
}
