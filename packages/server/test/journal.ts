import type { JournalRow } from '../src/journal/append.ts'
import { EMPTY_RECORD, serializeEvents } from '../src/journal/event-record.ts'
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
  const record = { ...EMPTY_RECORD, tenant_id: tenantId, timestamp: Date.now(), received_at: Date.now() }
  const rows = change(serializeEvents(names.map((event) => ({ ...record, event_id: newId(), event }))))
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
