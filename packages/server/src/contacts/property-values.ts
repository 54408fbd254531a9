import { sql } from 'kysely'
import { contains } from '../platform/postgres/text-filters.ts'
import type { Tenant } from '../platform/tenant.ts'

/** Longer values are not suggested. */
export const VALUE_LENGTH_MAX = 1_000

/** The number of newest contacts to search for values, so that every keystroke gets suggestions at once. */
const CONTACTS_READ = 10_000
/** The properties that have a column of their own. */
const COLUMNS = ['email', 'creation_source']

/** The values of a property that contain a text, among the newest contacts, most frequent first. */
export async function frequentValues(
  tenant: Tenant,
  property: string,
  text: string,
  limit: number,
): Promise<{ value: string | number | boolean; count: number }[]> {
  const stored = COLUMNS.includes(property)
    ? sql`to_jsonb(${sql.ref(`contacts.${property}`)})`
    : sql`contacts.properties -> ${property}::text`
  const newest = tenant.db
    .selectFrom('contacts')
    .select(stored.as('value'))
    .orderBy('created_at', 'desc')
    .limit(CONTACTS_READ)
    .as('newest')
  // A list counts as each of its elements.
  const values = tenant.db
    .selectFrom(newest)
    .select(
      sql`jsonb_array_elements(CASE WHEN jsonb_typeof(newest.value) = 'array' THEN newest.value
        ELSE jsonb_build_array(newest.value) END)`.as('value'),
    )
    .where(sql<boolean>`newest.value IS NOT NULL`)
    .as('every')
  const shown = sql`every.value #>> '{}'`
  return tenant.heavyRead(() =>
    tenant.db
      .selectFrom(values)
      .select([sql<string | number | boolean>`every.value`.as('value'), sql<number>`count(*)`.as('count')])
      .where(
        sql<boolean>`${shown} <> '' AND length(${shown}) <= ${VALUE_LENGTH_MAX} AND ${contains(sql`fold_text(${shown})`, text)}`,
      )
      .groupBy(sql`every.value`)
      .orderBy(sql`count(*) DESC, ${shown}`)
      .limit(limit)
      .execute(),
  )
}
