import { survivorsOfContacts } from '../../contacts/aliases.ts'
import { findByKeys, type KnownContact } from '../../contacts/find-by-keys.ts'
import { contactsOfVisitors } from '../../contacts/visitors/identified.ts'
import type { Tenant } from '../../platform/tenant.ts'
import type { Call, Person } from './call.ts'

/** The people of some calls, as stored when the calls arrived. */
export interface People {
  /** By the ids of the contacts, and of those that were merged into them. */
  byContactId: ReadonlyMap<string, KnownContact>
  byUserId: ReadonlyMap<string, KnownContact>
  byEmail: ReadonlyMap<string, KnownContact>
  /** The contacts of identified visitors. */
  contactOfVisitor: ReadonlyMap<string, string>
}

/** Looks up the people of some calls: one query for the contacts and one for the visitors, however many there are. */
export async function findPeople(tenant: Tenant, placed: readonly { call: Call }[]): Promise<People> {
  const calls = placed.map(({ call }) => call)
  const keys = (key: keyof Person) => [...new Set(calls.flatMap((call) => call[key] ?? []))]
  const [contactIds, emails, visitorIds] = [keys('contactId'), keys('email'), keys('visitorId')]
  const userIds = [...new Set([...keys('userId'), ...calls.flatMap(({ previousId }) => previousId ?? [])])]
  const [contacts, visitors] = await Promise.all([
    findByKeys(tenant, { contactIds, userIds, emails }),
    contactsOfVisitors(tenant, visitorIds),
  ])
  const byContactId = new Map(contacts.map((contact) => [contact.contactId, contact]))
  const missing = contactIds.filter((id) => !byContactId.has(id))
  const survivors = await survivorsOfContacts(tenant, missing)
  const found = await findByKeys(tenant, { contactIds: [...survivors.values()], userIds: [], emails: [] })
  const bySurvivor = new Map(found.map((contact) => [contact.contactId, contact]))
  for (const [mergedId, survivorId] of survivors) {
    const survivor = bySurvivor.get(survivorId)
    if (survivor) byContactId.set(mergedId, survivor)
  }
  return {
    byContactId,
    byUserId: new Map(contacts.flatMap((each) => (each.userId === null ? [] : [[each.userId, each]]))),
    byEmail: new Map(contacts.flatMap((each) => (each.email === null ? [] : [[each.email, each]]))),
    contactOfVisitor: visitors,
  }
}

/**
 * The contact of a person, if an identification would find it and change nothing: see contacts/writing/resolve.ts.
 * Most events come from such people, and need no separate transaction.
 */
export function unchangedContact(people: People, person: Person, isVerified: boolean): KnownContact | null {
  const { contactId, userId, email, visitorId } = person
  const contact =
    contactId !== null
      ? people.byContactId.get(contactId)
      : email !== null
        ? people.byEmail.get(email)
        : people.byUserId.get(userId ?? '')
  if (!contact) return null
  if (userId !== null && contact.userId !== userId) return null
  if (isVerified && userId !== null && contact.isUserIdProvisional) return null
  if (isVerified && email !== null && contact.isEmailFromPage) return null
  if (visitorId !== null && people.contactOfVisitor.get(visitorId) !== contact.contactId) return null
  return contact
}
