import { sql } from 'kysely'
import { type Alias, aliasesOf, EMAIL, idOfSource, survivorsOf } from '../contacts/aliases.ts'
import { contactsOfFurtherIds, furtherIdsOfContact } from '../contacts/source-ids.ts'
import { Collision } from '../platform/postgres/collisions.ts'
import type { Tenant } from '../platform/tenant.ts'
import { type CleanMessage, EMAIL_DIRECTORY, keysOf, type ParticipantKey } from './clean.ts'

/** Contact ids by `keyText`. */
export type ContactsByKey = ReadonlyMap<string, string>

/** A key as one text, for use in maps. */
export function keyText({ directory, key }: ParticipantKey): string {
  return `${directory}\n${key}`
}

export function participantsOf({ from, to, cc }: Pick<CleanMessage, 'from' | 'to' | 'cc'>) {
  return [from, ...to, ...cc]
}

/**
 * Finds and locks the senders and recipients that are contacts. With the lock, a concurrent deletion of a contact either
 * deletes these messages too, or the contact is not found here.
 * @throws Collision if a contact was merged or deleted in the meantime; repeat the transaction.
 */
export async function lockContacts(tx: Tenant, messages: readonly CleanMessage[]): Promise<ContactsByKey> {
  const byDirectory = new Map<string, Set<string>>()
  for (const message of messages) {
    for (const participant of participantsOf(message)) {
      for (const { directory, key } of keysOf(participant, message.source)) {
        byDirectory.set(directory, (byDirectory.get(directory) ?? new Set()).add(key))
      }
    }
  }
  const found = new Map<string, string>()
  for (const [directory, keys] of byDirectory) {
    for (const [key, contactId] of await contactsOfKeys(tx, directory, [...keys])) {
      found.set(keyText({ directory, key }), contactId)
    }
  }
  if (found.size === 0) return found
  const contactIds = [...new Set(found.values())]
  const locked = await tx.db
    .selectFrom('contacts')
    .select('contact_id')
    .where('contact_id', '=', sql<string>`any(${contactIds})`)
    .orderBy('contact_id')
    .forKeyShare()
    .execute()
  // While waiting for the locks, one was merged or deleted, so its keys now lead to its survivor, or to nobody.
  if (locked.length < contactIds.length) throw new Collision()
  return found
}

async function contactsOfKeys(tx: Tenant, directory: string, keys: string[]): Promise<[string, string][]> {
  if (directory === EMAIL_DIRECTORY) {
    const rows = await tx.db
      .selectFrom('contacts')
      .select(['email', 'contact_id'])
      .where('email', '=', sql<string>`any(${keys})`)
      .execute()
    const survivors = await survivorsOf(tx, EMAIL, keys)
    return [...survivors, ...rows.map(({ email, contact_id }): [string, string] => [email ?? '', contact_id])]
  }
  const rows = await tx.db
    .selectFrom('contact_sources')
    .select(['external_id', 'contact_id'])
    .where('source', '=', directory)
    .where('external_id', '=', sql<string>`any(${keys})`)
    .execute()
  const survivors = await survivorsOf(tx, idOfSource(directory), keys)
  const further = await contactsOfFurtherIds(tx, directory, keys)
  return [
    ...survivors,
    ...further,
    ...rows.map(({ external_id, contact_id }): [string, string] => [external_id ?? '', contact_id]),
  ]
}

/** The keys of a contact and of those merged into it: email addresses, and ids in connected systems. */
export async function keysOfContact(tenant: Tenant, contactId: string): Promise<ParticipantKey[]> {
  const contact = await tenant.db
    .selectFrom('contacts')
    .select('email')
    .where('contact_id', '=', contactId)
    .executeTakeFirst()
  const sources = await tenant.db
    .selectFrom('contact_sources')
    .select(['source', 'external_id'])
    .where('contact_id', '=', contactId)
    .where('external_id', 'is not', null)
    .execute()
  const email = contact?.email ?? null
  const own = [
    ...(email === null ? [] : [{ directory: EMAIL_DIRECTORY, key: email }]),
    ...[...sources, ...(await furtherIdsOfContact(tenant, contactId))].flatMap(({ source, external_id }) =>
      // The directory `email` is reserved for addresses, so a source of that name has no ids there.
      external_id === null || source === EMAIL_DIRECTORY ? [] : [{ directory: source, key: external_id }],
    ),
  ]
  const known = new Set(own.map(keyText))
  const merged = (await aliasesOf(tenant, contactId)).flatMap(keysOfAlias)
  return [...own, ...merged.filter((key) => !known.has(keyText(key)))]
}

/** Converts the key of a merged contact to participant keys. */
export function keysOfAlias({ kind, source, key }: Alias): ParticipantKey[] {
  if (kind === 'email') return [{ directory: EMAIL_DIRECTORY, key }]
  return kind === 'source' && source !== EMAIL_DIRECTORY ? [{ directory: source, key }] : []
}

/** Of these contacts, those whose address takes part in a conversation. */
export async function contactsInConversations(tenant: Tenant, contactIds: readonly string[]): Promise<Set<string>> {
  if (contactIds.length === 0) return new Set()
  const rows = await tenant.db
    .selectFrom('contacts')
    .innerJoin('conversation_participants', 'conversation_participants.key', 'contacts.email')
    .select('contacts.contact_id')
    .distinct()
    .where('contacts.contact_id', 'in', contactIds)
    .where('conversation_participants.directory', '=', EMAIL_DIRECTORY)
    .execute()
  return new Set(rows.map(({ contact_id }) => contact_id))
}
