import { sql } from 'kysely'
import type { Alias } from '../contacts/aliases.ts'
import { type Identifiers, identifiersOf } from '../contacts/identifiers.ts'
import { keepContacts } from '../contacts/locks.ts'
import { namesOfContacts } from '../contacts/names.ts'
import { contactsOfEmails, contactsOfSource } from '../contacts/writing/keys.ts'
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
 * Finds and locks the senders and recipients that are contacts. With the lock, a concurrent deletion of a contact
 * either deletes these messages too, or the contact is not found here.
 * @throws Collision if a contact has since been merged or deleted; repeat the transaction.
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
  const locked = await keepContacts(tx, contactIds)
  // While waiting for the locks, one was merged or deleted, so its keys now lead to its survivor, or to nobody.
  if (locked.length < contactIds.length) throw new Collision()
  return found
}

async function contactsOfKeys(tx: Tenant, directory: string, keys: string[]): Promise<Map<string, string>> {
  return directory === EMAIL_DIRECTORY ? contactsOfEmails(tx, keys) : contactsOfSource(tx, directory, keys)
}

/**
 * The keys of a contact and of those merged into it: email addresses, and ids in connected systems. None if there is no such
 * contact.
 */
export async function keysOfContact(tenant: Tenant, contactId: string): Promise<ParticipantKey[]> {
  const identifiers = await identifiersOf(tenant, contactId)
  return identifiers === null ? [] : keysIn(identifiers)
}

export function keysIn({ emails, sourceIds }: Identifiers): ParticipantKey[] {
  return [
    ...emails.map((key) => ({ directory: EMAIL_DIRECTORY, key })),
    // The directory `email` is reserved for addresses, so a source of that name has no ids there.
    ...sourceIds
      .filter(({ source }) => source !== EMAIL_DIRECTORY)
      .map(({ source, external_id }) => ({ directory: source, key: external_id })),
  ]
}

/** Converts the key of a merged contact to participant keys. */
export function keysOfAlias({ kind, source, key }: Alias): ParticipantKey[] {
  if (kind === 'email') return [{ directory: EMAIL_DIRECTORY, key }]
  return kind === 'source' && source !== EMAIL_DIRECTORY ? [{ directory: source, key }] : []
}

/** Of these contacts, those whose address takes part in a conversation. */
export async function contactsInConversations(tenant: Tenant, contactIds: readonly string[]): Promise<Set<string>> {
  if (contactIds.length === 0) return new Set()
  const names = [...(await namesOfContacts(tenant, contactIds)).values()]
  const rows = await tenant.db
    .selectFrom('conversation_participants')
    .select('key')
    .distinct()
    .where('directory', '=', EMAIL_DIRECTORY)
    .where('key', '=', sql<string>`any(${names.flatMap(({ email }) => email ?? [])}::text[])`)
    .execute()
  const taking = new Set<string | null>(rows.map(({ key }) => key))
  return new Set(names.flatMap(({ email, contact_id }) => (taking.has(email) ? contact_id : [])))
}
