import { sql } from 'kysely'
import { type Alias, aliasesOf, EMAIL, idOfSource, survivorsOf } from '../contacts/aliases.ts'
import type { Tenant } from '../platform/tenant.ts'
import { type CleanMessage, EMAIL_DIRECTORY, keysOf, type ParticipantKey } from './clean.ts'

/** Contacts by the text of the keys that lead to them. */
export type ContactsByKey = ReadonlyMap<string, string>

/** One text for a key, to look it up by. */
export function keyText({ directory, key }: ParticipantKey): string {
  return `${directory}\n${key}`
}

/** Everyone who takes part in a message. */
export function participantsOf({ from, to, cc }: Pick<CleanMessage, 'from' | 'to' | 'cc'>) {
  return [from, ...to, ...cc]
}

/**
 * The contacts that messages are from or to. Their rows are held until the transaction ends, so that a contact that is
 * being removed takes these messages along, or is not found here.
 */
export async function holdContacts(tx: Tenant, messages: readonly CleanMessage[]): Promise<ContactsByKey> {
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
  const held = await tx.db
    .selectFrom('contacts')
    .select('contact_id')
    .where('contact_id', '=', sql<string>`any(${[...new Set(found.values())]})`)
    .orderBy('contact_id')
    .forKeyShare()
    .execute()
  const existing = new Set(held.map(({ contact_id }) => contact_id))
  return new Map([...found].filter(([, contactId]) => existing.has(contactId)))
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
  return [...survivors, ...rows.map(({ external_id, contact_id }): [string, string] => [external_id ?? '', contact_id])]
}

/** The keys of a contact and of those merged into it: e-mail addresses, and the ids that connected systems have for it. */
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
    ...sources.flatMap(({ source, external_id }) =>
      // Mail is a directory of its own; a system that calls itself so knows nobody's address better.
      external_id === null || source === EMAIL_DIRECTORY ? [] : [{ directory: source, key: external_id }],
    ),
  ]
  const known = new Set(own.map(keyText))
  const merged = (await aliasesOf(tenant, contactId)).flatMap(keysOfAlias)
  return [...own, ...merged.filter((key) => !known.has(keyText(key)))]
}

/** The key of a merged contact as one of conversations. */
export function keysOfAlias({ kind, source, key }: Alias): ParticipantKey[] {
  if (kind === 'email') return [{ directory: EMAIL_DIRECTORY, key }]
  return kind === 'source' && source !== EMAIL_DIRECTORY ? [{ directory: source, key }] : []
}
