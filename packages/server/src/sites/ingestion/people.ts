import { sql } from 'kysely'
import { survivorsOfContacts } from '../../contacts/aliases.ts'
import type { FirstTouch } from '../../contacts/first-touch.ts'
import { HAS_FIRST_TOUCH } from '../../contacts/first-touch-keys.ts'
import { isUnverified } from '../../contacts/source-trust.ts'
import type { Tenant } from '../../platform/tenant.ts'
import type { Call, Person } from './call.ts'

/** A contact as the recorder needs it. */
export interface KnownContact {
  contactId: string
  email: string | null
  userId: string | null
  /** Its user id comes only from pages, so it is not verified. */
  isUserIdProvisional: boolean
  isEmailFromPage: boolean
  touch: FirstTouch
}

/** The people of some calls, as stored when the calls arrived. */
export interface People {
  /** By the ids of the contacts, and of those that were merged into them. */
  byContactId: ReadonlyMap<string, KnownContact>
  byUserId: ReadonlyMap<string, KnownContact>
  byEmail: ReadonlyMap<string, KnownContact>
  /** The contacts of identified visitors. */
  contactOfVisitor: ReadonlyMap<string, string>
  /** By the ids of the contacts. */
  touches: ReadonlyMap<string, FirstTouch>
}

/** Looks up the people of some calls: one query for the contacts and one for the visitors, however many there are. */
export async function findPeople(tenant: Tenant, placed: readonly { call: Call }[]): Promise<People> {
  const calls = placed.map(({ call }) => call)
  const keys = (key: keyof Person) => [...new Set(calls.flatMap((call) => call[key] ?? []))]
  const [contactIds, emails, visitorIds] = [keys('contactId'), keys('email'), keys('visitorId')]
  const userIds = [...new Set([...keys('userId'), ...calls.flatMap(({ previousId }) => previousId ?? [])])]
  const [contacts, visitors] = await Promise.all([
    findContacts(tenant, { contactIds, userIds, emails }),
    findVisitors(tenant, visitorIds),
  ])
  const byContactId = new Map(contacts.map((contact) => [contact.contactId, contact]))
  const missing = contactIds.filter((id) => !byContactId.has(id))
  const survivors = await survivorsOfContacts(tenant, missing)
  const found = await findContacts(tenant, { contactIds: [...survivors.values()], userIds: [], emails: [] })
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
    touches: new Map([...contacts, ...found].map(({ contactId, touch }) => [contactId, touch])),
  }
}

interface Keys {
  contactIds: readonly string[]
  userIds: readonly string[]
  emails: readonly string[]
}

async function findContacts(tenant: Tenant, { contactIds, userIds, emails }: Keys): Promise<KnownContact[]> {
  if (contactIds.length + userIds.length + emails.length === 0) return []
  const rows = await tenant.db
    .selectFrom('contacts')
    .select(['contact_id', 'email', 'external_id', 'external_id_provisional', 'first_seen_at'])
    .select(sql<string | null>`properties_provenance -> 'email' ->> 'source'`.as('email_source'))
    .select(HAS_FIRST_TOUCH.as('has_first_touch'))
    .where(({ or, eb }) =>
      or([
        ...(contactIds.length === 0 ? [] : [eb('contact_id', '=', sql<string>`any(${contactIds}::uuid[])`)]),
        ...(userIds.length === 0 ? [] : [eb('external_id', '=', sql<string>`any(${userIds}::text[])`)]),
        ...(emails.length === 0 ? [] : [eb('email', '=', sql<string>`any(${emails}::text[])`)]),
      ]),
    )
    .execute()
  return rows.map((row) => ({
    contactId: row.contact_id,
    email: row.email,
    userId: row.external_id,
    isUserIdProvisional: row.external_id_provisional,
    isEmailFromPage: row.email !== null && isUnverified(row.email_source ?? undefined),
    touch: { firstSeenMs: row.first_seen_at.getTime(), isWritten: row.has_first_touch },
  }))
}

async function findVisitors(tenant: Tenant, visitorIds: readonly string[]): Promise<Map<string, string>> {
  if (visitorIds.length === 0) return new Map()
  const rows = await tenant.db
    .selectFrom('visitors')
    .select(['visitor_id', 'contact_id'])
    .where('visitor_id', '=', sql<string>`any(${visitorIds}::text[])`)
    .where('contact_id', 'is not', null)
    .execute()
  return new Map(rows.flatMap(({ visitor_id, contact_id }) => (contact_id === null ? [] : [[visitor_id, contact_id]])))
}

/**
 * The contact of a person, if an identification would find it and change nothing: see resolve-contact.ts.
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
