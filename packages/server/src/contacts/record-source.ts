import type { Tenant } from '../platform/tenant.ts'
import type { PropertyChanges } from './properties.ts'
import type { SourceFields } from './unified-profile.ts'

/** What kind of system a source is; the service's own sources are kinds of their own. */
export type SourceKind =
  | 'manual'
  | 'form'
  | 'tracker'
  | 'identify'
  | 'import'
  | 'crm'
  | 'enrichment'
  | 'email'
  | 'messaging'
  | 'analytics'

interface SourceRecord {
  source: string
  kind: SourceKind
  externalId?: string
  raw?: unknown
  properties: PropertyChanges
}

/** Kinds that are kept in step with another system. */
const SYNCED: readonly SourceKind[] = ['crm', 'email', 'messaging', 'analytics']

/**
 * Notes what a source says of a contact beside what other sources say. A null withdraws the source's value.
 * Call it in the transaction that changes the contact, which holds the contact's row.
 */
export async function recordSource(
  tx: Tenant,
  contactId: string,
  { source, kind, externalId, raw, properties }: SourceRecord,
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
  const changes = {
    kind,
    fields,
    updated_at: now,
    ...(externalId === undefined ? {} : { external_id: externalId }),
    ...(raw === undefined ? {} : { raw: JSON.stringify(raw) }),
    ...(SYNCED.includes(kind) ? { synced_at: now } : {}),
    ...(kind === 'enrichment' ? { enriched_at: now } : {}),
  }
  await tx.db
    .insertInto('contact_sources')
    .values({ contact_id: contactId, source, first_seen_at: now, ...changes })
    .onConflict((row) => row.columns(['contact_id', 'source']).doUpdateSet(changes))
    .execute()
}
