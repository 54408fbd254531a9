import { sql } from 'kysely'
import type { Tenant } from '../platform/tenant.ts'
import { maySilence, ruleBrokenBy } from './consent.ts'

/** Characters of a value that are read: consent is said in few. */
const VALUE_LENGTH_MAX = 2_000

/**
 * When contacts said, in the words of any system, that they do not want to be written to: the times of the properties that
 * say so today. A bounce is nobody's choice. A contact that agreed again has none.
 */
export async function optOutTimes(
  tenant: Tenant,
  contactIds: readonly string[],
  { from, until }: { from: Date; until: Date },
): Promise<Map<string, Date[]>> {
  if (contactIds.length === 0) return new Map()
  const value = sql`contacts.properties -> written.key`
  const at = sql<string>`written.entry ->> 'updated_at'`
  const rows = await tenant.db
    .selectFrom('contacts')
    .innerJoin(
      sql<{ key: string; entry: unknown }>`jsonb_each(contacts.properties_provenance)`.as<'written'>(
        sql`written (key, entry)`,
      ),
      (join) => join.onTrue(),
    )
    .select(['contacts.contact_id', 'written.key', at.as('at')])
    .select(
      sql<unknown>`CASE WHEN octet_length((${value})::text) <= ${VALUE_LENGTH_MAX}::integer THEN ${value}
        ELSE to_jsonb(left((${value}) #>> '{}', ${VALUE_LENGTH_MAX}::integer)) END`.as('value'),
    )
    .where('contacts.contact_id', '=', sql<string>`any(${[...contactIds]}::uuid[])`)
    // ISO texts in UTC, which sort as their times do.
    .where(sql<boolean>`(${at}) COLLATE "C" BETWEEN ${from.toISOString()} AND ${until.toISOString()}`)
    .execute()
  const times = new Map<string, Date[]>()
  for (const row of rows) {
    if (!maySilence(row.key)) continue
    const rule = ruleBrokenBy(row.key, row.value)
    if (rule === null || rule === 'bounced') continue
    times.set(row.contact_id, [...(times.get(row.contact_id) ?? []), new Date(row.at)])
  }
  return times
}
