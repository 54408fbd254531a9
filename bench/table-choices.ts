/**
 * `node bench/table-choices.ts [EVENTS]` prints what each choice of the table `events` costs: insertions, merges, disk and
 * queries, with that choice made differently. For docs/decisions/0002-events-table.md.
 */
import { mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { EVENT_ID_ORDER, EVENTS_TABLE, OWNER_LINKS_TABLE, VISITORS_STATE } from '../packages/server/src/events/table.ts'
import { type EventRecord, JOURNAL_FORMAT, serializeEvents } from '../packages/server/src/journal/event-record.ts'
import { connectClickHouse } from '../packages/server/src/platform/clickhouse/connect.ts'
import { createTableStatements, type TableDefinition } from '../packages/server/src/platform/clickhouse/tables.ts'
import { newId } from '../packages/server/src/platform/ids.ts'
import { sampleSession, sampleVisitor } from '../packages/server/src/seed/journeys.ts'
import { createRandom } from '../packages/server/src/seed/random.ts'
import { episodeSql, type Generated, insertEvents, insertLinks, processorMs, tenantSql } from './generated-events.ts'
import { ONE_AT_A_TIME } from './queries.ts'

const EVENTS = Number(process.argv[2] ?? 10_000_000)
const GENERATED: Generated = { tenants: 1, events: EVENTS }
const ROWS_A_STATEMENT = 1_000_000
/** A million rows that are merged into one part. */
const [PARTS, ROWS_A_PART] = [20, 50_000]
/**
 * The machine's speed changes within seconds, so everything is measured in rounds, in each of which every choice has its
 * turn.
 */
const ROUNDS = { inserts: 40, merges: 3, queries: 9 }

const { elements, settings } = EVENTS_TABLE
const without = (...starts: string[]) => elements.filter((each) => !starts.some((start) => each.startsWith(start)))
const instead = (from: string, to: string) => elements.map((each) => each.replace(from, to))
const BLOOM_FILTERS = ['INDEX by_event', 'INDEX by_visitor', 'INDEX by_session']
const ONE_FILE = ', min_bytes_for_wide_part = 1000000000000'

const CHOICES: Record<string, Partial<TableDefinition>> = {
  'the table': {},
  'granules of 8,192 rows': { settings: { ...settings, index_granularity: 8_192 } },
  'granules of 8,192 rows in `by_owner`': { elements: instead('index_granularity = 512', 'index_granularity = 8192') },
  '`by_owner` with a file for each column': { elements: instead(ONE_FILE, '') },
  'without `by_owner`': { elements: without('PROJECTION by_owner') },
  'without `names`, `by_day`, `devices`': {
    elements: without('PROJECTION names', 'PROJECTION by_day', 'PROJECTION devices'),
  },
  'without `visitors`': { elements: without('PROJECTION visitors') },
  'without bloom filters': { elements: without(...BLOOM_FILTERS) },
  'with a projection by id, `_part_offset`': {
    elements: [...elements, 'PROJECTION by_id (SELECT event_id, _part_offset ORDER BY event_id)'],
  },
  'sorted by owner, narrow projection by time': {
    elements: [
      ...without('PROJECTION by_owner'),
      `PROJECTION by_time (SELECT tenant_id, is_system, timestamp, event_id, owner_id
        ORDER BY tenant_id, is_system, timestamp, ${EVENT_ID_ORDER})`,
    ],
    orderBy: `(tenant_id, owner_id, timestamp, ${EVENT_ID_ORDER})`,
  },
  'without projections and indexes': { elements: without('PROJECTION', 'INDEX') },
}

/** Beside the benchmark's: what the sums by day answer. */
const QUERIES = [
  { name: 'SELECT 1', statements: ['SELECT 1'], isByOwner: false },
  ...ONE_AT_A_TIME.map((query) => ({ ...query, isByOwner: query.isByOwner ?? query.name === 'names of events' })),
  {
    name: 'events by day and type',
    isByOwner: true,
    statements: [
      `SELECT toDate(timestamp) AS day, event, count() FROM events WHERE tenant_id = {tenant_id: UUID} AND is_system = 0 GROUP BY day, event`,
    ],
  },
  {
    name: 'visitors by day',
    isByOwner: true,
    statements: [
      `SELECT day, uniqMerge(visitors) FROM (
         SELECT toDate(timestamp) AS day, ${VISITORS_STATE} AS visitors FROM events
         WHERE tenant_id = {tenant_id: UUID} AND is_system = 0 GROUP BY day)
       GROUP BY day`,
    ],
  },
]

interface Choice {
  name: string
  table: string
  measured: Measured
}
/** Processor times in milliseconds, bytes written by a merge, and what the rows take on disk. */
interface Measured {
  insertOne: number[]
  insertThousand: number[]
  merge: number[]
  written: number[]
  disk: number
  queries: Map<string, number[]>
}

const directory = mkdtempSync(join(tmpdir(), 'cds-table-'))
const clickhouse = await connectClickHouse({ path: directory })
try {
  for (const statement of createTableStatements(OWNER_LINKS_TABLE, null)) await clickhouse.command(statement)
  await insertLinks(clickhouse, GENERATED)
  const choices: Choice[] = Object.keys(CHOICES).map((name, index) => ({
    name,
    table: `choice_${index}`,
    measured: { insertOne: [], insertThousand: [], merge: [], written: [], disk: 0, queries: new Map() },
  }))
  for (const { table } of choices) await create(table)
  await measureInserts(choices)
  for (let round = 0; round < ROUNDS.merges; round++) for (const choice of choices) await measureMerge(choice)
  for (const choice of choices) await loadAll(choice)
  await measureQueries(choices)
  print(choices)
  await printSizes(choices)
} finally {
  await clickhouse.close()
  rmSync(directory, { recursive: true, force: true })
}
process.exit(0)

async function create(table: string): Promise<void> {
  const differences = Object.values(CHOICES)[Number(table.slice('choice_'.length))]
  const statements = createTableStatements({ ...EVENTS_TABLE, ...differences, name: table }, null)
  for (const statement of statements) await clickhouse.command(statement)
}

async function measureInserts(choices: readonly Choice[]): Promise<void> {
  for (const { table } of choices) await clickhouse.command(`SYSTEM STOP MERGES ${table}`)
  const [one, thousand] = [bodyOf(1), bodyOf(1_000)]
  const insert = (table: string, body: string) =>
    processorMs(() => clickhouse.insert(table, JOURNAL_FORMAT, body, newId()))
  for (let round = 0; round < ROUNDS.inserts; round++) {
    for (const { table, measured } of choices) {
      measured.insertOne.push(await insert(table, one))
      measured.insertThousand.push(await insert(table, thousand))
    }
  }
}

/** A statement's rows, as the service sends them. */
function bodyOf(rows: number): string {
  const random = createRandom(7)
  const records: EventRecord[] = []
  while (records.length < rows) {
    const visitor = sampleVisitor(random, null)
    records.push(...sampleSession(random, newId(), 'bench.example', visitor, Date.now() - 1_000_000))
  }
  return serializeEvents(records.slice(0, rows))
}

async function measureMerge({ table, measured }: Choice): Promise<void> {
  await clickhouse.command(`TRUNCATE TABLE ${table}`)
  await clickhouse.command(`SYSTEM STOP MERGES ${table}`)
  for (let part = 0; part < PARTS; part++) {
    await insertEvents(clickhouse, table, GENERATED, part * ROWS_A_PART, ROWS_A_PART)
  }
  await clickhouse.command(`SYSTEM START MERGES ${table}`)
  const before = writtenBytes()
  measured.merge.push(await processorMs(() => mergeAll(table)))
  measured.written.push(writtenBytes() - before)
}

async function loadAll({ table, measured }: Choice): Promise<void> {
  await clickhouse.command(`TRUNCATE TABLE ${table}`)
  for (let from = 0; from < EVENTS; from += ROWS_A_STATEMENT) {
    await insertEvents(clickhouse, table, GENERATED, from, Math.min(ROWS_A_STATEMENT, EVENTS - from))
  }
  await mergeAll(table)
  const [disk] = await clickhouse.query<{ bytes: number }>(
    `SELECT sum(bytes_on_disk) AS bytes FROM system.parts WHERE active AND table = '${table}'`,
  )
  measured.disk = Number(disk?.bytes)
}

async function mergeAll(table: string): Promise<void> {
  for (;;) {
    await clickhouse.command(`OPTIMIZE TABLE ${table} FINAL`)
    const [row] = await clickhouse.query<{ parts: number }>(
      `SELECT count() AS parts FROM system.parts WHERE active AND table = '${table}'`,
    )
    if (Number(row?.parts) <= 1) return
  }
}

async function measureQueries(choices: readonly Choice[]): Promise<void> {
  const [tenant] = await clickhouse.query<{ id: string }>(`SELECT ${tenantSql(0)} AS id`)
  const owners = async (visitors: number[]) =>
    (
      await clickhouse.query<{ id: string }>(
        `SELECT ${episodeSql('number')} AS id FROM (SELECT arrayJoin([${visitors.join(', ')}]) AS number)`,
      )
    ).map(({ id }) => id)
  const ordinary = Array.from({ length: 25 }, (_, index) => Math.round(EVENTS / 20) + index * 37)
  const parameters = {
    tenant_id: tenant?.id ?? '',
    owners: await owners(ordinary.slice(0, 1)),
    // One of the visitors with 1,000 events.
    busy_owners: await owners([7]),
    some_owners: await owners(ordinary),
  }
  for (let round = 0; round <= ROUNDS.queries; round++) {
    for (const { table, measured } of choices) {
      const [event] = await clickhouse.query<{ id: string }>(
        `SELECT event_id AS id FROM ${table} WHERE tenant_id = {tenant: UUID} LIMIT 1 OFFSET ${Math.round(EVENTS / 3)}`,
        { tenant: parameters.tenant_id },
      )
      for (const { name, statements, isByOwner } of QUERIES) {
        const ask = () =>
          Promise.all(
            statements.map((text) =>
              clickhouse.query(
                text.replaceAll('FROM events', `FROM ${table}`),
                { ...parameters, event_id: event?.id ?? '' },
                { usesProjections: isByOwner, secondsMax: 60 },
              ),
            ),
          )
        const ms = await processorMs(ask)
        // The first round fills the caches.
        if (round > 0) measured.queries.set(name, [...(measured.queries.get(name) ?? []), ms])
      }
    }
  }
}

function print(choices: readonly Choice[]): void {
  const names = choices.map(({ name }) => name)
  const row = (what: string, value: (measured: Measured) => string) =>
    console.log(`| ${[what, ...choices.map(({ measured }) => value(measured))].join(' | ')} |`)
  console.log(`| processor time, ms | ${names.join(' | ')} |`)
  row('insert 1 row', ({ insertOne }) => median(insertOne).toFixed(0))
  row('insert 1,000 rows', ({ insertThousand }) => median(insertThousand).toFixed(0))
  row('merge 1 million rows', ({ merge }) => median(merge).toFixed(0))
  row('written by that, MB', ({ written }) => (median(written) / 1e6).toFixed(0))
  row('disk of all, MB', ({ disk }) => (disk / 1e6).toFixed(0))
  for (const { name } of QUERIES) row(name, ({ queries }) => median(queries.get(name) ?? []).toFixed(1))
}

function median(values: readonly number[]): number {
  return values.toSorted((a, b) => a - b)[Math.floor(values.length / 2)] ?? 0
}

/** What each projection and index of the first choice takes on disk. */
async function printSizes([first]: readonly Choice[]): Promise<void> {
  console.log(
    await clickhouse.query(
      `SELECT name, sum(bytes_on_disk) AS bytes FROM system.projection_parts WHERE active AND table = '${first?.table}' GROUP BY name
       UNION ALL SELECT name, data_compressed_bytes FROM system.data_skipping_indices WHERE table = '${first?.table}'`,
    ),
  )
}

/** What this process has written to files. */
function writtenBytes(): number {
  return Number(/^wchar: (\d+)$/m.exec(readFileSync('/proc/self/io', 'utf8'))?.[1] ?? 0)
}
