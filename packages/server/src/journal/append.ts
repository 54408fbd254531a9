import { newId } from '../platform/ids.ts'
import type { Tenant } from '../platform/tenant.ts'
import {
  EMPTY_RECORD,
  type EventRecord,
  NOBODY,
  type SystemEventName,
  serializeEvents,
  serializeRows,
} from './event-record.ts'

/** The ClickHouse tables that journal rows are for. */
export type JournalTable = 'events' | 'owner_links'

/** A journal row: its id, and rows of a table in the journal's format. */
export interface JournalRow {
  journalId: string
  table: JournalTable
  rows: string
  /** The number of its batch; undefined until it is part of one. */
  sequence?: number
}

export interface SystemEvent {
  event: SystemEventName
  at: Date
  contactId: string | null
  data: Record<string, unknown>
}

/**
 * Starts a query that also appends events to the journal, in the caller's transaction if it has one. The caller adds
 * what it reads, because a separate query would take as long as the insert.
 * @param ownerLinks rows of that table that changed in the same transaction.
 * @returns null if there is nothing to append.
 */
export function appending(tenant: Tenant, records: readonly EventRecord[], ownerLinks: readonly object[]) {
  const rows = [
    ...(ownerLinks.length > 0 ? [journalRow(tenant, 'owner_links', ownerLinks.length, serializeRows(ownerLinks))] : []),
    ...(records.length > 0 ? [journalRow(tenant, 'events', records.length, serializeEvents(records))] : []),
  ]
  if (rows.length === 0) return null
  return tenant.unrestricted.with('appended', (db) => db.insertInto('journal').values(rows))
}

function journalRow({ id }: Tenant, table_name: JournalTable, row_count: number, rows: string) {
  return { journal_id: newId(), table_name, tenant_ids: [id], row_count, rows }
}

/** The system events of one change as they are stored: they share a timestamp, so their ids keep them in order. */
export function toRecords(tenantId: string, events: readonly SystemEvent[]): EventRecord[] {
  return events.map((event) => toRecord(tenantId, event))
}

/** A system event as it is stored. */
export function toRecord(tenantId: string, { event, at, contactId, data }: SystemEvent): EventRecord {
  return {
    ...EMPTY_RECORD,
    tenant_id: tenantId,
    event_id: newId(),
    event,
    is_system: true,
    timestamp: at.getTime(),
    received_at: at.getTime(),
    owner_id: contactId ?? NOBODY,
    is_anonymous: contactId === null,
    data: JSON.stringify(data),
  }
}
