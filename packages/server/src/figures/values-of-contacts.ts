import { sql } from 'kysely'
import { copyContacts } from '../contact-sets/copy.ts'
import { CONTACT_ID, isOneOf } from '../contacts/columns.ts'
import { contactsWith } from '../contacts/dimensions.ts'
import { type ContactSet, rangesOfContacts } from '../contacts/ranges.ts'
import type { EventConditions } from '../events/conditions.ts'
import { contactsOf, type Owned } from '../owners/owners.ts'
import type { Tenant } from '../platform/tenant.ts'
import { keysOf, type RecordGrouping, recordValue } from './values-of-records.ts'

/** Contacts that PostgreSQL reads at once. Their values are in memory together, and a value may be long. */
const CONTACTS_AT_ONCE = 5_000

/**
 * Copies a value of the contacts of some events into a contact set, such as their country, their company or their company's
 * industry: only PostgreSQL has those.
 * @param events whose contacts are needed; of others, the set may have some too
 * @param isRedacted whether personal values are hidden from the caller
 * @returns the set's id, for `valuesOf`. The values are the JSON of the keys.
 */
export async function copyValuesOfContacts(
  tenant: Tenant,
  events: EventConditions,
  grouping: RecordGrouping,
  isRedacted: boolean,
): Promise<string> {
  const few = await fewContactsOf(tenant, events)
  const contacts: AsyncIterable<ContactSet> | Iterable<ContactSet> =
    few === null ? rangesOfContacts(tenant, CONTACTS_AT_ONCE) : [{ contactIds: few }]
  return copyContacts(tenant, contacts, (some) => keyLines(tenant, some, grouping, isRedacted))
}

/** The contacts of the events, or null if they are many: then copying the values of all contacts costs less. */
async function fewContactsOf(tenant: Tenant, { where, parameters }: EventConditions): Promise<string[] | null> {
  const owners = await tenant.events.select<Owned>({
    name: 'figures.owners',
    lane: 'heavy',
    columns: 'DISTINCT owner_id, is_anonymous',
    where,
    parameters,
    limit: CONTACTS_AT_ONCE + 1,
  })
  if (owners.length > CONTACTS_AT_ONCE) return null
  return [...new Set((await contactsOf(tenant, owners)).values())]
}

/** The keys of some contacts as lines. A contact without any has no line. */
async function keyLines(
  tenant: Tenant,
  contacts: ContactSet,
  grouping: RecordGrouping,
  isRedacted: boolean,
): Promise<string> {
  const { object, key } = recordValue(grouping)
  const values = { value: sql`${object} -> ${key}::text`, object, contact_id: CONTACT_ID }
  const conditions = [{ isMet: isOneOf(contacts), isHeavy: true }]
  const found = contactsWith(tenant, { conditions }, values).as('found')
  const keys = sql`unnest(${keysOf(isRedacted ? key : null)})`.as('key')
  const keyed = tenant.db.selectFrom(found).select(['contact_id', keys]).as('keyed')
  const lines = tenant.db.selectFrom(keyed).select(LINES.as('lines')).where('key', 'is not', null)
  return (await tenant.heavyRead(() => lines.executeTakeFirst()))?.lines ?? ''
}

/** The JSON of a key, in which the numbers 1 and 1.0 are the same. */
const JSON_OF_KEY = sql`CASE jsonb_typeof(key) WHEN 'number' THEN trim_scale((key #>> '{}')::numeric)::text ELSE key::text END`

/** A line has the id of the contact and a key. JSON has no tab and no line break, so that only backslashes are escaped. */
const LINES = sql<string>`coalesce(string_agg(contact_id || chr(9) || replace(${JSON_OF_KEY}, '\\', '\\\\') || chr(10), ''), '')`
