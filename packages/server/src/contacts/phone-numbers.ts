import { sql } from 'kysely'
import type { Tenant } from '../platform/tenant.ts'

/** Which of some numbers are phone numbers of the contacts that they stand beside. One query. */
export async function ownPhoneNumbers(
  tenant: Tenant,
  beside: readonly { contact_id: string; number: string }[],
): Promise<string[]> {
  if (beside.length === 0) return []
  const ids = beside.map(({ contact_id }) => contact_id)
  const numbers = beside.map(({ number }) => number)
  const rows = await tenant.db
    .selectFrom('contacts')
    .innerJoin(
      sql<{ of_contact: string; number: string }>`unnest(${ids}::uuid[], ${numbers}::text[])`.as<'beside'>(
        sql`beside (of_contact, number)`,
      ),
      'beside.of_contact',
      'contacts.contact_id',
    )
    .select('beside.number')
    .distinct()
    .where(sql<boolean>`has_personal_number(contacts.properties, beside.number, NULL)`)
    .execute()
  return rows.map(({ number }) => number)
}
