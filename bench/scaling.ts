/**
 * `node bench/scaling.ts` prints what events cost as they become more: disk, insertions with their merges, memory, and
 * queries, in processor time of this process. For docs/scaling.md.
 */
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { EVENTS_TABLE } from '../packages/server/src/events/table.ts'
import { OWNER_LINKS_TABLE } from '../packages/server/src/owners/table.ts'
import { type ClickHouse, connectClickHouse } from '../packages/server/src/platform/clickhouse/connect.ts'
import { createTableStatements } from '../packages/server/src/platform/clickhouse/tables.ts'
import {
  episodeSql,
  type Generated,
  insertEvents,
  insertLinks,
  processorMs,
  tenantOfSql,
  tenantSql,
  waitForMerges,
} from './generated-events.ts'
import { GROUPINGS, ONE_AT_A_TIME } from './queries.ts'

const ROWS_A_STATEMENT = 5_000
const TIMES = 9
/** Each is loaded into a fresh engine, and measured whenever it has reached a number of events. */
const RUNS: (Generated & { stops: number[] })[] = [
  { tenants: 300, events: 10_000_000, stops: [1_000_000, 3_000_000, 10_000_000] },
  { tenants: 10_000, events: 10_000_000, stops: [3_000_000] },
]
const QUERIES = [
  'newest 20 events of the tenant',
  'newest 20 events of a contact',
  'names of events',
  'aggregate events by day',
  'aggregate events by url_path',
  'aggregate events by contact_id',
  'contacts who did something',
].flatMap((name) => [...ONE_AT_A_TIME, ...GROUPINGS].filter((row) => row.name === name))
const USE_PROJECTIONS = ['newest 20 events of a contact', 'names of events', 'aggregate events by day']

const columns: { title: string; cells: Record<string, string> }[] = []
for (const run of RUNS) await measure(run)
process.exit(0)

async function measure(run: (typeof RUNS)[number]): Promise<void> {
  const directory = mkdtempSync(join(tmpdir(), 'cds-scaling-'))
  const clickhouse = await connectClickHouse({ path: directory })
  try {
    await measureIn(clickhouse, run)
  } finally {
    await clickhouse.close()
    rmSync(directory, { recursive: true, force: true })
  }
}

async function measureIn(clickhouse: ClickHouse, { stops, ...generated }: (typeof RUNS)[number]): Promise<void> {
  for (const table of [EVENTS_TABLE, OWNER_LINKS_TABLE]) {
    for (const statement of createTableStatements(table, null)) await clickhouse.command(statement)
  }
  await insertLinks(clickhouse, generated)
  let at = 0
  for (const stop of stops) {
    const from = at
    const ms = await processorMs(async () => {
      for (; at < stop; at += ROWS_A_STATEMENT)
        await insertEvents(clickhouse, 'events', generated, at, ROWS_A_STATEMENT)
      await waitForMerges(clickhouse)
    })
    const cells = {
      'inserting and merging, per event': `${((ms * 1_000) / (at - from)).toFixed(0)} µs`,
      ...(await sizes(clickhouse, at)),
      ...(await queries(clickhouse, generated, at)),
    }
    columns.push({ title: `${at / 1e6} million, ${generated.tenants} tenants`, cells })
    print()
  }
}

async function sizes(clickhouse: ClickHouse, events: number): Promise<Record<string, string>> {
  const [parts] = await clickhouse.query<{ parts: number; bytes: number; keys: number }>(`
    SELECT count() AS parts, sum(bytes_on_disk) AS bytes, sum(primary_key_bytes_in_memory) AS keys
    FROM system.parts WHERE active AND table = 'events'`)
  const [projections] = await clickhouse.query<{ keys: number }>(`
    SELECT sum(primary_key_bytes_in_memory) AS keys FROM system.projection_parts WHERE active AND table = 'events'`)
  const keys = Number(parts?.keys) + Number(projections?.keys)
  return {
    'disk per event': `${(Number(parts?.bytes) / events).toFixed(0)} bytes`,
    parts: String(parts?.parts),
    'memory of the primary keys': `${(keys / 1e3).toFixed(0)} KB`,
    'memory of the process': `${(process.memoryUsage().rss / 1e6).toFixed(0)} MB`,
  }
}

/** Of the largest tenant, in processor time. An erasure comes last, because it rewrites parts. */
async function queries(clickhouse: ClickHouse, generated: Generated, events: number): Promise<Record<string, string>> {
  // Visitors of the largest tenant among those in the middle of the events.
  const visitors = await clickhouse.query<{ owner: string; tenant: string }>(`
    SELECT ${episodeSql('number')} AS owner, ${tenantSql(0)} AS tenant FROM numbers(${Math.round(events / 22)}, 10000)
    WHERE ${tenantOfSql('number', generated.tenants)} = 0 LIMIT 2`)
  const parameters = { tenant_id: visitors[0]?.tenant ?? '', owners: visitors.slice(0, 1).map(({ owner }) => owner) }
  const cells: Record<string, string> = {}
  for (const { name, statements } of [{ name: 'SELECT 1', statements: ['SELECT 1'] }, ...QUERIES]) {
    const bounds = { usesProjections: USE_PROJECTIONS.includes(name) }
    const times: number[] = []
    for (let time = 0; time < TIMES; time++) {
      times.push(
        await processorMs(() => Promise.all(statements.map((text) => clickhouse.query(text, parameters, bounds)))),
      )
    }
    cells[name] = `${(times.sort((a, b) => a - b)[Math.floor(TIMES / 2)] ?? 0).toFixed(0)} ms`
  }
  const erase = 'ALTER TABLE events DELETE WHERE tenant_id = {tenant_id: UUID} AND owner_id IN {owners: Array(UUID)}'
  const ms = await processorMs(() => clickhouse.command(`${erase} SETTINGS mutations_sync = 1`, parameters))
  return { ...cells, 'erasing a person': `${(ms / 1_000).toFixed(1)} s` }
}

function print(): void {
  console.log(`\n| | ${columns.map(({ title }) => title).join(' | ')} |`)
  for (const name of Object.keys(columns[0]?.cells ?? {})) {
    console.log(`| ${name} | ${columns.map(({ cells }) => cells[name] ?? '').join(' | ')} |`)
  }
}
