import { type QueryCreator, sql } from 'kysely'
import type { TenantTables } from '../../platform/postgres/database.ts'
import { recordset } from '../../platform/postgres/recordset.ts'
import type { Tenant } from '../../platform/tenant.ts'
import type { SourceFields } from '../unified-profile.ts'

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

/** The built-in source of what the service finds out by itself, see `enrichment/`. */
export const ENRICHMENT = 'enrichment'
/** The beginning of the sources as which enrichment providers fill contacts. No other source has a colon in its name. */
export const OF_PROVIDER = `${ENRICHMENT}:`

/** Whether a source is enrichment: what the service found out by itself, or asked a provider for. */
export function isEnrichment(source: string): boolean {
  return source === ENRICHMENT || source.startsWith(OF_PROVIDER)
}

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
 * @param rawOf the sources whose raw records to read, null for all; raw records can be large.
 */
export async function readSourceRecords(
  tx: Tenant,
  contactIds: readonly string[],
  rawOf: readonly string[] | null,
): Promise<Map<string, SourceRecord[]>> {
  if (contactIds.length === 0) return new Map()
  const isRead = rawOf === null ? sql`true` : sql`source = any(${rawOf}::text[])`
  const rows = await tx.db
    .selectFrom('contact_sources')
    .select(['contact_id', 'source', 'external_id', 'first_seen_at', 'updated_at', 'synced_at', 'enriched_at'])
    .select(sql<SourceKind>`kind`.as('kind'))
    .select(sql<SourceFields>`fields`.as('fields'))
    .select(sql<number>`coalesce(octet_length(raw::text), 0)`.as('raw_bytes'))
    .select(sql<unknown>`CASE WHEN ${isRead} THEN raw END`.as('raw'))
    .where('contact_id', '=', sql<string>`any(${contactIds}::uuid[])`)
    .execute()
  const records = new Map<string, SourceRecord[]>()
  for (const { contact_id, ...record } of rows) {
    const known = records.get(contact_id)
    if (known) known.push(record)
    else records.set(contact_id, [record])
  }
  return records
}

/** A source's record of a contact as a row. */
type RecordRow = SourceRecord & { contact_id: string }

/** Adds records of contacts that have none from their sources. Records of one transaction are added in a fixed order. */
export function insertingRecords(db: QueryCreator<TenantTables>, records: readonly RecordRow[]) {
  const rows = records.toSorted((a, b) => compareKeys(a.external_id, b.external_id)).map(toSent)
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

/** Replaces records. A raw record that was not read stays. */
export function updatingRecords(db: QueryCreator<TenantTables>, records: readonly RecordRow[]) {
  const rows = records.map((record) => ({
    ...toSent(record),
    keeps_raw: record.raw === null && record.raw_bytes > 0,
  }))
  return db
    .updateTable('contact_sources')
    .from(recordset(rows, 'sent', { ...COLUMN_TYPES, keeps_raw: 'boolean' }))
    .set(({ ref }) => ({
      kind: ref('sent.kind'),
      external_id: ref('sent.external_id'),
      fields: ref('sent.fields'),
      raw: sql<string>`CASE WHEN sent.keeps_raw THEN contact_sources.raw ELSE sent.raw::json END`,
      first_seen_at: ref('sent.first_seen_at'),
      updated_at: ref('sent.updated_at'),
      synced_at: ref('sent.synced_at'),
      enriched_at: ref('sent.enriched_at'),
    }))
    .whereRef('contact_sources.contact_id', '=', 'sent.contact_id')
    .whereRef('contact_sources.source', '=', 'sent.source')
}

/** The raw record as text, so that it is stored as sent: PostgreSQL cannot parse every JSON text. */
function toSent(record: RecordRow) {
  return { ...record, raw: record.raw === null ? null : JSON.stringify(record.raw) }
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

/** A fixed order of keys for all transactions. */
export function compareKeys(a: string | null, b: string | null): number {
  const [left, right] = [a ?? '', b ?? '']
  return left < right ? -1 : Number(left > right)
}
