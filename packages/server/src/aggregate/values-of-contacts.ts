import { sql } from 'kysely'
import { copyContacts } from '../contact-sets/copy.ts'
import { CONTACT_ID, isContactInRange } from '../contacts/columns.ts'
import { contactsWith } from '../contacts/dimensions.ts'
import { VALUES_OF_CONTACT } from '../platform/clickhouse/contact-sets.ts'
import type { Tenant } from '../platform/tenant.ts'
import type { EventGrouping } from './event-dimensions.ts'
import { keysOf, type RecordGrouping, recordValue } from './records.ts'

/** Contacts that PostgreSQL reads at once. Their values are in memory together, and a value may be long. */
const CONTACTS_PER_RANGE = 5_000

/**
 * Groups events by a value of their contact, such as its country, its company or its company's industry. Only PostgreSQL has
 * those, so they are copied into a contact set.
 * @param isRedacted whether personal values are hidden from the caller
 */
export async function byValueOfContact(
  tenant: Tenant,
  grouping: RecordGrouping,
  isRedacted: boolean,
): Promise<EventGrouping> {
  return {
    sql: VALUES_OF_CONTACT,
    kind: 'items',
    parameters: { contact_values: await copyKeys(tenant, grouping, isRedacted) },
    valuesOf: 'contact_values',
    hidesMissing: recordValue(grouping).kind === 'id',
  }
}

/** Copies the keys of all contacts that have any. @returns the set's id. */
function copyKeys(tenant: Tenant, grouping: RecordGrouping, isRedacted: boolean): Promise<string> {
  const { object, key } = recordValue(grouping)
  const values = { value: sql`${object} -> ${key}::text`, object, contact_id: CONTACT_ID }
  const keys = sql`unnest(${keysOf(isRedacted ? key : null)})`.as('key')
  return copyContacts(
    tenant,
    async (range) => {
      const conditions = [{ isMet: isContactInRange(range), isHeavy: true }]
      const found = contactsWith(tenant, { conditions }, values).as('found')
      const keyed = tenant.db.selectFrom(found).select(['contact_id', keys]).as('keyed')
      const lines = tenant.db.selectFrom(keyed).select(LINES.as('lines')).where('key', 'is not', null)
      return (await tenant.heavyRead(() => lines.executeTakeFirst()))?.lines ?? ''
    },
    CONTACTS_PER_RANGE,
  )
}

/** The JSON of a key, in which the numbers 1 and 1.0 are the same. */
const JSON_OF_KEY = sql`CASE jsonb_typeof(key) WHEN 'number' THEN trim_scale((key #>> '{}')::numeric)::text ELSE key::text END`

/** A line has the id of the contact and a key. JSON has no tab and no line break, so that only backslashes are escaped. */
const LINES = sql<string>`coalesce(string_agg(contact_id || chr(9) || replace(${JSON_OF_KEY}, '\\', '\\\\') || chr(10), ''), '')`
