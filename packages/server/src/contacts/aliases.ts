import { sql } from 'kysely'
import { conflict, notFound, ServiceError } from '../platform/errors.ts'
import { Collision } from '../platform/postgres/collisions.ts'
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

/**
 * The survivors of the contacts with some keys, by key. A contact that has a key itself takes precedence: query it
 * first, or a merge that commits between the two queries is missed.
 */
export async function survivorsOf(
  tenant: Tenant,
  { kind, source }: AliasKind,
  keys: readonly string[],
): Promise<Map<string, string>> {
  if (keys.length === 0) return new Map()
  const rows = await tenant.db
    .selectFrom('contact_aliases')
    .innerJoin('contact_merges', 'contact_merges.contact_id', 'contact_aliases.contact_id')
    .select(['contact_aliases.key', 'contact_merges.survivor_id'])
    .where('contact_aliases.kind', '=', kind)
    .where('contact_aliases.source', '=', source)
    .where('contact_aliases.key', '=', sql<string>`any(${[...keys]}::text[])`)
    .execute()
  return new Map(rows.map(({ key, survivor_id }) => [key, survivor_id]))
}

/** The survivor of the contact with this key. */
export async function survivorOf(tenant: Tenant, { key, ...kind }: Alias): Promise<string | null> {
  return (await survivorsOf(tenant, kind, [key])).get(key) ?? null
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

/** Locks the contact that a look-up returns. @throws Collision if it returns another once the lock is acquired. */
export async function lockSurvivor(tx: Tenant, find: () => Promise<string | null>): Promise<string | null> {
  const survivorId = await find()
  if (survivorId === null) return null
  const locked = await tx.db
    .selectFrom('contacts')
    .select('contact_id')
    .where('contact_id', '=', survivorId)
    .forUpdate()
    .executeTakeFirst()
  if (!locked || (await find()) !== survivorId) throw new Collision()
  return survivorId
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
