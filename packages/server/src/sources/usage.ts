import { sql } from 'kysely'
import { every } from '../platform/every.ts'
import type { Logger } from '../platform/log.ts'
import type { Database } from '../platform/postgres/database.ts'
import { recordset } from '../platform/postgres/recordset.ts'
import { type Clock, HOUR_MS } from '../platform/time.ts'

const WRITE_EVERY_MS = 2_000
/** The last day, and the hour in which it begins. */
export const KEPT_MS = 25 * HOUR_MS

/** Counts what sources send. */
export interface SourceUsage {
  /** Counts events of a source, and notes when it was last seen. It neither blocks nor throws. */
  note(source: { tenantId: string; sourceId: string }, events: number): void
  stop(): Promise<void>
}

interface Row {
  tenant_id: string
  source_id: string
  hour: Date
  events: number
  last_seen_at: Date
}

/**
 * Collects the counts in memory and writes them every two seconds in one statement, so that requests of one source never
 * wait for one row. A crash loses two seconds of counts.
 */
export function startSourceUsage({
  database,
  clock,
  log,
}: {
  database: Database
  clock: Clock
  log: Logger
}): SourceUsage {
  let counts = new Map<string, Row>()
  let failing = false

  async function write(): Promise<void> {
    if (counts.size === 0) return
    const rows = [...counts.values()]
    counts = new Map()
    try {
      await add(database, rows)
      failing = false
    } catch (err) {
      for (const row of rows) count(row)
      if (!failing) log.warn({ err }, 'the events of sources could not be counted; retrying')
      failing = true
    }
  }

  function count(row: Row): void {
    const key = `${row.source_id}/${row.hour.getTime()}`
    const known = counts.get(key)
    counts.set(key, known ? { ...row, events: known.events + row.events } : row)
  }

  const writing = every(WRITE_EVERY_MS, write)
  return {
    note: ({ tenantId, sourceId }, events) => {
      const now = clock()
      const hour = new Date(Math.floor(now.getTime() / HOUR_MS) * HOUR_MS)
      count({ tenant_id: tenantId, source_id: sourceId, hour, events, last_seen_at: now })
    },
    stop: async () => {
      await writing.stop()
      await write()
    },
  }
}

/** Counts of sources that have been deleted are dropped. Sorted, so that two processes cannot deadlock. */
async function add(database: Database, rows: readonly Row[]): Promise<void> {
  const columns = {
    tenant_id: 'uuid',
    source_id: 'uuid',
    hour: 'timestamptz',
    events: 'integer',
    last_seen_at: 'timestamptz',
  } as const
  await sql`
    WITH seen AS (
      SELECT sources.tenant_id, sources.source_id, sent.hour, sent.events, sent.last_seen_at
      FROM sources JOIN ${recordset(rows, 'sent', columns)} USING (tenant_id, source_id)
      ORDER BY 1, 2 FOR NO KEY UPDATE OF sources
    ), noted AS (
      UPDATE sources SET last_seen_at = greatest(sources.last_seen_at, latest.at)
      FROM (SELECT tenant_id, source_id, max(last_seen_at) AS at FROM seen GROUP BY 1, 2) AS latest
      WHERE sources.tenant_id = latest.tenant_id AND sources.source_id = latest.source_id
    )
    INSERT INTO source_hours (tenant_id, source_id, hour, events)
    SELECT tenant_id, source_id, hour, events FROM seen WHERE events > 0
    ON CONFLICT (tenant_id, source_id, hour) DO UPDATE SET events = source_hours.events + excluded.events
  `.execute(database)
}
