import type { Tenant } from '../platform/tenant.ts'
import type { PropertyChanges } from './properties.ts'
import type { SourceFields } from './unified-profile.ts'

/**
 * Notes what a source says of a contact beside what other sources say. A null withdraws the source's value.
 * Call it in the transaction that changes the contact, which holds the contact's row.
 */
export async function recordSource(
  tx: Tenant,
  contactId: string,
  source: string,
  properties: PropertyChanges,
  now: Date,
): Promise<void> {
  const existing = await tx.db
    .selectFrom('contact_sources')
    .select('fields')
    .where('contact_id', '=', contactId)
    .where('source', '=', source)
    .executeTakeFirst()
  const fields: SourceFields = { ...((existing?.fields as SourceFields | undefined) ?? {}) }
  for (const [key, value] of Object.entries(properties)) {
    if (value === null) delete fields[key]
    else fields[key] = { value, updated_at: now.toISOString() }
  }
  await tx.db
    .insertInto('contact_sources')
    .values({ contact_id: contactId, source, kind: source, fields, first_seen_at: now, updated_at: now })
    .onConflict((row) => row.columns(['contact_id', 'source']).doUpdateSet({ fields, updated_at: now }))
    .execute()
}
