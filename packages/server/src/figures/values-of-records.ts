import { expressionBuilder, type RawBuilder, sql } from 'kysely'
import { companyValue, valueOfCompany } from '../companies/dimensions.ts'
import { contactValue, type RecordValue } from '../contacts/dimensions.ts'
import type { TenantTables } from '../platform/postgres/database.ts'

/** How contacts or companies are grouped. */
export interface RecordGrouping {
  entity: 'contacts' | 'companies'
  name: string
  timeZone: string
}

/** The value that a group's records share; null if they have none. */
export type BucketKey = string | number | boolean | null

const COMPANY = 'company.'

/** The value of a record with a name; of a contact also a value of its company, as `company.industry`. */
export function recordValue({ entity, name, timeZone }: RecordGrouping): RecordValue {
  if (entity === 'companies') return companyValue(name, timeZone)
  if (name.startsWith(COMPANY)) return valueOfCompany(companyValue(name.slice(COMPANY.length), timeZone))
  return contactValue(name, timeZone)
}

/** A missing value is no key, and neither is an empty text. */
export function isKey(item: RawBuilder<unknown>): RawBuilder<boolean> {
  return sql`${item} NOT IN ('null', '""')`
}

/**
 * The keys of a record: its value or, of a list, the different items. Without any, it has the key null.
 * @param redacted the key of the value in its object, if phone numbers of the record are left out, whatever their name
 */
export function keysOf(redacted: string | null): RawBuilder<BucketKey[]> {
  const isShown = (item: RawBuilder<unknown>) =>
    redacted === null
      ? isKey(item)
      : sql<boolean>`${isKey(item)} AND NOT has_personal_number(object, ${item} #>> '{}', ${redacted}::text)`
  const [value, item] = [sql.ref('value'), sql.ref('each.item')]
  const items = expressionBuilder<TenantTables, never>()
    .selectFrom(sql<{ item: unknown }>`jsonb_array_elements(value)`.as<'each'>(sql`each (item)`))
    .select(sql`array_agg(DISTINCT each.item)`.as('items'))
    .where(isShown(item))
  return sql`CASE WHEN jsonb_typeof(value) = 'array' THEN coalesce(${items}, ARRAY[NULL::jsonb])
    ELSE ARRAY[CASE WHEN ${isShown(value)} THEN value END] END`
}
