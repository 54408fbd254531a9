import { sql } from 'kysely'
import { NOBODY } from '../journal/event-record.ts'
import { ServiceError } from '../platform/errors.ts'
import type { Tenant } from '../platform/tenant.ts'

/** The most owners that one query may name: they are sent with it. */
const OWNERS_MAX = 20_000

/** The stored owner of an event: a contact or, if `is_anonymous`, an episode of a visitor. */
export interface Owned {
  owner_id: string
  is_anonymous: boolean | number
}

/**
 * The owners whose events belong to some contacts: the contacts themselves and everything linked to them. A contact
 * that was merged into another has no events.
 * @throws ServiceError 400 `query_too_expensive` if there are more than 20,000.
 */
export async function ownersOf(tenant: Tenant, contactIds: readonly string[]): Promise<string[]> {
  const owners = await fewOwnersOf(tenant, contactIds, OWNERS_MAX)
  if (owners !== null) return owners
  const message = `These contacts have more than ${OWNERS_MAX} visitors in total. Request fewer contacts at a time.`
  throw new ServiceError(400, 'query_too_expensive', message)
}

/** The same, or null if they have more links than a limit. */
export async function fewOwnersOf(
  tenant: Tenant,
  contactIds: readonly string[],
  linksMax: number,
): Promise<string[] | null> {
  if (contactIds.length === 0) return []
  const links = await tenant.db
    .selectFrom('owner_links')
    .select(['owner_id', 'contact_id'])
    .where(({ or, eb }) => or([eb('contact_id', '=', anyOf(contactIds)), eb('owner_id', '=', anyOf(contactIds))]))
    .limit(linksMax)
    .execute()
  if (links.length === linksMax) return null
  const [wanted, owners] = [new Set(contactIds), new Set(contactIds)]
  for (const { owner_id, contact_id } of links) {
    if (wanted.has(contact_id)) owners.add(owner_id)
    else owners.delete(owner_id)
  }
  return [...owners]
}

/** How many owners each of some contacts has, at most. */
export async function countOwners(
  tenant: Tenant,
  contactIds: readonly string[],
): Promise<(contactId: string) => number> {
  const counted = await tenant.db
    .selectFrom('owner_links')
    .select(['contact_id', ({ fn }) => fn.countAll<number>().as('links')])
    .where('contact_id', '=', anyOf(contactIds))
    .groupBy('contact_id')
    .execute()
  const links = new Map(counted.map((row) => [row.contact_id, Number(row.links)]))
  // A contact that was ever merged has its own link.
  return (contactId) => (links.get(contactId) ?? 0) + 2
}

/** Splits contacts into groups whose owners fit into one query. */
export async function queryableGroups(tenant: Tenant, contactIds: readonly string[]): Promise<string[][]> {
  const ownersOfEach = await countOwners(tenant, contactIds)
  const groups: string[][] = []
  let owners = Number.POSITIVE_INFINITY
  for (const contactId of contactIds) {
    const own = ownersOfEach(contactId)
    if (owners + own > OWNERS_MAX) {
      groups.push([])
      owners = 0
    }
    groups.at(-1)?.push(contactId)
    owners += own
  }
  return groups
}

/** The contacts that some events belong to, by `owner_id`, without anonymous owners. */
export async function contactsOf(tenant: Tenant, events: Iterable<Owned>): Promise<Map<string, string>> {
  const contacts = new Map<string, string>()
  const owners = new Set<string>()
  for (const { owner_id, is_anonymous } of events) {
    if (owner_id === NOBODY) continue
    owners.add(owner_id)
    if (!is_anonymous) contacts.set(owner_id, owner_id)
  }
  if (owners.size === 0) return contacts
  const links = await tenant.db
    .selectFrom('owner_links')
    .select(['owner_id', 'contact_id'])
    .where('owner_id', '=', anyOf([...owners]))
    .execute()
  for (const { owner_id, contact_id } of links) contacts.set(owner_id, contact_id)
  return contacts
}

/** A list of ids as an SQL operand. */
export function anyOf(ids: readonly string[]) {
  return sql<string>`any(${[...ids]}::uuid[])`
}
