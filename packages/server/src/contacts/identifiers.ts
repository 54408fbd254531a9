import { type Expression, sql } from 'kysely'
import type { Tenant } from '../platform/tenant.ts'
import { aliasesOf } from './aliases.ts'
import { furtherIdsOfContact, type SourceId } from './source-ids.ts'

/** What other systems know a contact by. */
export interface Identifiers {
  emails: string[]
  sourceIds: SourceId[]
}

/** The identifiers of a contact, and of those that were merged into it; null if there is no such contact. */
export async function identifiersOf(tenant: Tenant, contactId: string): Promise<Identifiers | null> {
  const contact = await tenant.db
    .selectFrom('contacts')
    .select('email')
    .where('contact_id', '=', contactId)
    .executeTakeFirst()
  if (!contact) return null
  const shown = await tenant.db
    .selectFrom('contact_sources')
    .select(['source', 'external_id'])
    .where('contact_id', '=', contactId)
    .where('external_id', 'is not', null)
    .$narrowType<{ external_id: string }>()
    .execute()
  const further = await furtherIdsOfContact(tenant, contactId)
  const aliases = await aliasesOf(tenant, contactId)
  const merged = aliases
    .filter(({ kind }) => kind === 'source')
    .map(({ source, key }) => ({ source, external_id: key }))
  const mergedEmails = aliases.filter(({ kind }) => kind === 'email').map(({ key }) => key)
  return {
    emails: [...(contact.email === null ? [] : [contact.email]), ...mergedEmails],
    sourceIds: [...shown, ...further, ...merged],
  }
}

/** The contacts of the email addresses of some contacts, by address, with those of contacts that were merged into them. */
export async function emailsOf(tenant: Tenant, contactIds: readonly string[]): Promise<Map<string, string>> {
  const isOne = sql<string>`any(${[...contactIds]}::uuid[])`
  const merged = await tenant.db
    .selectFrom('contact_aliases')
    .innerJoin('contact_merges', 'contact_merges.contact_id', 'contact_aliases.contact_id')
    .select(['contact_aliases.key', 'contact_merges.survivor_id'])
    .where('contact_merges.survivor_id', '=', isOne)
    .where('contact_aliases.kind', '=', 'email')
    .execute()
  const own = await tenant.db
    .selectFrom('contacts')
    .select(['email', 'contact_id'])
    .where('contact_id', '=', isOne)
    .where('email', 'is not', null)
    .$narrowType<{ email: string }>()
    .execute()
  return new Map([
    ...merged.map(({ key, survivor_id }) => [key, survivor_id] as const),
    // A contact's own address comes last: one that was merged may have had it before.
    ...own.map(({ email, contact_id }) => [email, contact_id] as const),
  ])
}

/**
 * A subquery for each row of another query: the contacts that an email address and the id of a source lead to, some of them
 * through a merge. Both are expressions of the row; null leads nowhere.
 */
export function contactsLedToBy(
  tenant: Tenant,
  { email, source, externalId }: Record<'email' | 'source' | 'externalId', Expression<string | null>>,
) {
  return tenant.db
    .selectFrom('contacts')
    .select('contact_id')
    .where('email', '=', email)
    .unionAll(
      tenant.db
        .selectFrom('contact_sources')
        .select('contact_id')
        .where('source', '=', source)
        .where('external_id', '=', externalId),
    )
    .unionAll(
      tenant.db
        .selectFrom('contact_source_ids')
        .select('contact_id')
        .where('source', '=', source)
        .where('external_id', '=', externalId),
    )
    .unionAll(
      tenant.db
        .selectFrom('contact_aliases')
        .innerJoin('contact_merges', 'contact_merges.contact_id', 'contact_aliases.contact_id')
        .select('contact_merges.survivor_id as contact_id')
        .where(
          sql<boolean>`contact_aliases.kind = 'email' AND contact_aliases.source = '' AND contact_aliases.key = ${email}
            OR contact_aliases.kind = 'source' AND contact_aliases.source = ${source} AND contact_aliases.key = ${externalId}`,
        ),
    )
}
