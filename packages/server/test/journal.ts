import type { JournalRow } from '../src/journal/append.ts'
import { EMPTY_RECORD, type EventRecord, serializeEvents } from '../src/journal/event-record.ts'
import type { ClickHouse } from '../src/platform/clickhouse/connect.ts'
import { newId } from '../src/platform/ids.ts'
import type { Database } from '../src/platform/postgres/database.ts'

/** Commits a row of events to the journal. @param change alters the text of the row. */
export async function commitEvents(
  database: Database,
  tenantId: string,
  names: readonly string[],
  change = (rows: string) => rows,
): Promise<JournalRow> {
  const rows = change(serializeEvents(names.map((event) => eventNow(tenantId, event))))
  const journalId = newId()
  await database
    .insertInto('journal')
    .values({ journal_id: journalId, tenant_ids: [tenantId], row_count: names.length, rows })
    .execute()
  return { journalId, table: 'events', rows }
}

/** A ClickHouse whose insertions wait until it is released. */
export function blocking(clickhouse: ClickHouse) {
  const reached = Promise.withResolvers<void>()
  const released = Promise.withResolvers<void>()
  return {
    reached: reached.promise,
    release: released.resolve,
    clickhouse: {
      ...clickhouse,
      insert: async (...given: Parameters<ClickHouse['insert']>) => {
        reached.resolve()
        await released.promise
        await clickhouse.insert(...given)
      },
    },
  }
}

/** An event that happens now, as the journal stores it. */
export function eventNow(tenantId: string, event: string): EventRecord {
  const now = Date.now()
  return { ...EMPTY_RECORD, tenant_id: tenantId, event_id: newId(), event, timestamp: now, received_at: now }
}
