import { ZERO_ID } from '../ids.ts'

/*
 * How the tenant's handle finds the contacts of events: the links of their owners are joined (owners/table.ts).
 */

/** The zero UUID in SQL: the contact of an anonymous owner, and the owner of events without a visitor. */
export const NOBODY = `toUUID('${ZERO_ID}')`

/** The predicate of the tenant, whose id the handle puts into the parameter. */
export const OF_TENANT = 'tenant_id = {tenant_id: UUID}'

/** The contact of an owner, or `NOBODY`, for rows `found` to which the `links` of their owners are joined. */
export const CONTACT_OF_OWNER = `multiIf(links.contact_id != ${NOBODY}, links.contact_id, found.is_anonymous, ${NOBODY}, found.owner_id)`

/** The contact of an event, or `NOBODY`, in a query `withContacts`. */
export const CONTACT_OF_EVENT = `multiIf(links.contact_id != ${NOBODY}, links.contact_id, is_anonymous, ${NOBODY}, owner_id)`

/**
 * Who an event is of, in a query `withContacts`: its contact or, if nobody knows its visitor, the visitor's episode. A
 * visitor has one such episode, because those before it belong to contacts. `NOBODY` for events without a visitor.
 */
export const PERSON_OF_EVENT = `if(links.contact_id != ${NOBODY}, links.contact_id, owner_id)`

/** The person of an owner, and whether that is a contact, for rows `found` to which the `links` of their owners are joined. */
export const PERSON_OF_OWNER = `if(links.contact_id != ${NOBODY}, links.contact_id, found.owner_id) AS person,
  links.contact_id != ${NOBODY} OR NOT found.is_episode AS is_contact`

/**
 * The condition that an event belongs to a contact; the only one with a subquery. In a cluster, the queried server
 * collects the links and sends them to all shards, because an event's link may be on another shard than the event.
 */
export const IS_IDENTIFIED = `NOT is_anonymous OR owner_id GLOBAL IN (SELECT owner_id FROM owner_links WHERE ${OF_TENANT})`

/**
 * The owners with their contacts. FINAL would not work: in a cluster to which a shard was added, an older version of a
 * link may be on another shard.
 */
export function linksWhere(condition: string, columns = ''): string {
  return `SELECT owner_id, argMax(owner_links.contact_id, owner_links.version) AS contact_id${columns} FROM owner_links
    WHERE ${condition} GROUP BY owner_id`
}
