import { type QueryCreator, sql } from 'kysely'
import type { TenantTables } from '../platform/postgres/database.ts'
import { recordset } from '../platform/postgres/recordset.ts'
import type { Tenant } from '../platform/tenant.ts'
import type { SourceFields } from './unified-profile.ts'

/** The kind of system that a source is; each built-in source is its own kind. */
export type SourceKind =
  | 'manual'
  | 'form'
  | 'tracker'
  | 'identify'
  | 'import'
  | 'agent'
  | 'crm'
  | 'enrichment'
  | 'email'
  | 'messaging'
  | 'analytics'

/** Kinds that synchronize with another system. */
export const SYNCED_KINDS: readonly SourceKind[] = ['crm', 'email', 'messaging', 'analytics']

/** A source's record of a contact. */
export interface SourceRecord {
  source: string
  kind: SourceKind
  external_id: string | null
  fields: SourceFields
  /** Read for one source only, see `readSourceRecords`; otherwise null. */
  raw: unknown
  /** The length of `raw` as JSON. */
  raw_bytes: number
  first_seen_at: Date
  updated_at: Date
  synced_at: Date | null
  enriched_at: Date | null
}

/** A record's field, if it has one of its own. */
export function fieldOf(record: SourceRecord | undefined, key: string): SourceFields[string] | undefined {
  return record && Object.hasOwn(record.fields, key) ? record.fields[key] : undefined
}

/**
 * All source records of some contacts, by contact_id. Lock the contacts first.
 * @param source the one whose raw records to read, null for all; raw records can be large.
 */
export async function readSourceRecords(
  tx: Tenant,
  contactIds: readonly string[],
  source: string | null,
): Promise<Map<string, SourceRecord[]>> {
  if (contactIds.length === 0) return new Map()
  const rows = await tx.db
    .selectFrom('contact_sources')
    .select(['contact_id', 'source', 'external_id', 'first_seen_at', 'updated_at', 'synced_at', 'enriched_at'])
    .select(sql<SourceKind>`kind`.as('kind'))
    .select(sql<SourceFields>`fields`.as('fields'))
    .select(sql<number>`coalesce(octet_length(raw::text), 0)`.as('raw_bytes'))
    .select(sql<unknown>`CASE WHEN source = coalesce(${source}::text, source) THEN raw END`.as('raw'))
    .where('contact_id', '=', sql<string>`any(${contactIds})`)
    .execute()
  const records = new Map<string, SourceRecord[]>()
  for (const { contact_id, ...record } of rows) records.set(contact_id, [...(records.get(contact_id) ?? []), record])
  return records
}

/**
 * Stores a source's records of contacts. Call it in the transaction that changes the contacts and has locked their
 * rows. The records are sorted by the source's ids, so that two transactions with the same new ones cannot deadlock.
 */
export async function storeSourceRecords(tx: Tenant, records: ReadonlyMap<string, SourceRecord>): Promise<void> {
  if (records.size > 0) await storing(tx.db, records).execute()
}

/** Stores records as part of another statement. */
export function storing(db: QueryCreator<TenantTables>, records: ReadonlyMap<string, SourceRecord>) {
  return insertion(db, records).onConflict((row) =>
    row.columns(['contact_id', 'source']).doUpdateSet(({ ref }) => ({
      kind: ref('excluded.kind'),
      external_id: ref('excluded.external_id'),
      fields: ref('excluded.fields'),
      raw: ref('excluded.raw'),
      updated_at: ref('excluded.updated_at'),
      synced_at: ref('excluded.synced_at'),
      enriched_at: ref('excluded.enriched_at'),
    })),
  )
}

/** Stores records of contacts that have none from the source, in a fraction of the time. */
export async function insertSourceRecords(tx: Tenant, records: ReadonlyMap<string, SourceRecord>): Promise<void> {
  if (records.size > 0) await insertion(tx.db, records).execute()
}

function insertion(db: QueryCreator<TenantTables>, records: ReadonlyMap<string, SourceRecord>) {
  const rows = [...records]
    .sort(([, a], [, b]) => compareKeys(a.external_id, b.external_id))
    // As text, so that it is stored as sent: PostgreSQL cannot parse every JSON text.
    .map(([contact_id, record]) => ({
      ...record,
      contact_id,
      raw: record.raw === null ? null : JSON.stringify(record.raw),
    }))
  return db
    .insertInto('contact_sources')
    .columns([...PLAIN_COLUMNS, 'raw'])
    .expression((eb) =>
      eb
        .selectFrom(recordset(rows, 'sent', COLUMN_TYPES))
        .select(PLAIN_COLUMNS)
        .select(sql<string>`sent.raw::json`.as('raw')),
    )
}

const PLAIN_COLUMNS = [
  'contact_id',
  'source',
  'kind',
  'external_id',
  'fields',
  'first_seen_at',
  'updated_at',
  'synced_at',
  'enriched_at',
] as const

const COLUMN_TYPES = {
  contact_id: 'uuid',
  source: 'text',
  kind: 'text',
  external_id: 'text',
  fields: 'jsonb',
  raw: 'text',
  first_seen_at: 'timestamptz',
  updated_at: 'timestamptz',
  synced_at: 'timestamptz',
  enriched_at: 'timestamptz',
} as const
/** Replaces the records of a contact. */
export async function replaceSourceRecords(
  tx: Tenant,
  contactId: string,
  records: readonly SourceRecord[],
): Promise<void> {
  await tx.db.deleteFrom('contact_sources').where('contact_id', '=', contactId).execute()
  for (const record of records) await storeSourceRecords(tx, new Map([[contactId, record]]))
}

/** A fixed order of keys for all transactions. */
export function compareKeys(a: string | null, b: string | null): number {
  const [left, right] = [a ?? '', b ?? '']
  return left < right ? -1 : Number(left > right)
}
