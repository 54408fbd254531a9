import { sql } from 'kysely'
import { conflict, notFound, ServiceError } from '../platform/errors.ts'
import type { Tenant } from '../platform/tenant.ts'

/** A key of a merged contact: an email, an external id, or a source's id for it. */
export interface AliasKind {
  kind: 'email' | 'external_id' | 'source'
  /** Empty except for `source`. */
  source: string
}

export interface Alias extends AliasKind {
  key: string
}

export const EMAIL: AliasKind = { kind: 'email', source: '' }
export const EXTERNAL_ID: AliasKind = { kind: 'external_id', source: '' }
export const idOfSource = (source: string): AliasKind => ({ kind: 'source', source })

/** Whether one of some keys is that of a contact that was merged into another. */
export async function isAlias(tx: Tenant, emails: readonly string[], externalIds: readonly string[]): Promise<boolean> {
  if (emails.length + externalIds.length === 0) return false
  const alias = await tx.db
    .selectFrom('contact_aliases')
    .innerJoin('contact_merges', 'contact_merges.contact_id', 'contact_aliases.contact_id')
    .select('contact_aliases.key')
    .where('contact_aliases.source', '=', '')
    .where(({ or, and }) =>
      or([
        and({ 'contact_aliases.kind': 'email', 'contact_aliases.key': sql<string>`any(${emails}::text[])` }),
        and({ 'contact_aliases.kind': 'external_id', 'contact_aliases.key': sql<string>`any(${externalIds}::text[])` }),
      ]),
    )
    .executeTakeFirst()
  return alias !== undefined
}

/** The survivor of this contact. */
export async function survivorOfContact(tenant: Tenant, contactId: string): Promise<string | null> {
  return (await survivorsOfContacts(tenant, [contactId])).get(contactId) ?? null
}

/** The survivors of those of these contacts that were merged. */
export async function survivorsOfContacts(tenant: Tenant, contactIds: readonly string[]): Promise<Map<string, string>> {
  if (contactIds.length === 0) return new Map()
  const rows = await tenant.db
    .selectFrom('contact_merges')
    .select(['contact_id', 'survivor_id'])
    .where('contact_id', '=', sql<string>`any(${[...contactIds]}::uuid[])`)
    .execute()
  return new Map(rows.map(({ contact_id, survivor_id }) => [contact_id, survivor_id]))
}

/** The contacts that were merged into this one. */
export async function mergedInto(tenant: Tenant, contactId: string): Promise<string[]> {
  const rows = await tenant.db
    .selectFrom('contact_merges')
    .select('contact_id')
    .where('survivor_id', '=', contactId)
    .execute()
  return rows.map(({ contact_id }) => contact_id)
}

/** The keys of the contacts that were merged into this one, with the contact of each. */
export async function aliasesOf(tenant: Tenant, contactId: string): Promise<(Alias & { mergedId: string })[]> {
  const rows = await tenant.db
    .selectFrom('contact_aliases')
    .innerJoin('contact_merges', 'contact_merges.contact_id', 'contact_aliases.contact_id')
    .select(['contact_aliases.kind', 'contact_aliases.source', 'contact_aliases.key', 'contact_aliases.contact_id'])
    .where('contact_merges.survivor_id', '=', contactId)
    .orderBy('contact_aliases.kind')
    .orderBy('contact_aliases.source')
    .orderBy('contact_aliases.key')
    .execute()
  return rows.map(({ kind, source, key, contact_id }) => ({
    kind: kind as Alias['kind'],
    source,
    key,
    mergedId: contact_id,
  }))
}

/** 404 for a contact that does not exist; names the survivor if it was merged. */
export async function missingContact(tenant: Tenant, contactId: string): Promise<ServiceError> {
  const survivorId = await survivorOfContact(tenant, contactId)
  return survivorId === null ? notFound('contact') : contactMerged(contactId, survivorId)
}

/** 404: the contact was merged into that one. */
export function contactMerged(contactId: string, survivorId: string): ServiceError {
  const message = `This contact was merged into ${survivorId}. Use that id, or undo the merge with POST /v1/contacts/${contactId}/unmerge.`
  return new ServiceError(404, 'contact_merged', message, { details: namedContact(survivorId) })
}

/** 409: the email address belongs to that contact. */
export function emailTaken(contactId: string): ServiceError {
  const message = 'A contact with this email already exists. Update that contact instead.'
  return conflict('contact_email_taken', message, namedContact(contactId))
}

/** The details of an error that names another contact. */
export function namedContact(contactId: string) {
  return [{ path: 'contact_id', message: contactId }]
}
