/**
 * `node bench/table-choices.ts [EVENTS]` prints what each choice of the table `events` costs: insertions, merges, disk and
 * queries, with that choice made differently. For docs/decisions/0002-events-table.md.
 */
import { mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { EVENT_ID_ORDER, EVENTS_TABLE, VISITORS_STATE } from '../packages/server/src/events/table.ts'
import { type EventRecord, JOURNAL_FORMAT, serializeEvents } from '../packages/server/src/journal/event-record.ts'
import { connectClickHouse } from '../packages/server/src/platform/clickhouse/connect.ts'
import { createTableStatements, type TableDefinition } from '../packages/server/src/platform/clickhouse/tables.ts'
import { newId } from '../packages/server/src/platform/ids.ts'
import { sampleSession, sampleVisitor } from '../packages/server/src/seed/journeys.ts'
import { createRandom } from '../packages/server/src/seed/random.ts'
import { episodeSql, type Generated, insertEvents, processorMs } from './generated-events.ts'
import { COMPACT, EVENT, NEWEST, OWN } from './queries.ts'

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

interface Query {
  name: string
  statements: string[]
  isByProjection?: boolean
}
const OF_OWNERS = `${OWN} AND owner_id IN {owners: Array(UUID)}`
const OF_SEVERAL = `${OWN} AND owner_id IN {several_owners: Array(UUID)}`
const OF_BUSY = `${OWN} AND owner_id IN {busy_owners: Array(UUID)}`
const AT = "fromUnixTimestamp64Milli({at_ms: Int64}, 'UTC')"
const NEAR = `AND is_system IN (0, 1) AND timestamp BETWEEN ${AT} - INTERVAL 10 SECOND AND ${AT} + INTERVAL 10 SECOND`
const ONE = `SELECT ${EVENT} FROM events WHERE tenant_id = {tenant_id: UUID} AND event_id = {event_id: UUID}`
/** Shaped as the service's. Each round asks for others, because ClickHouse remembers which granules match a condition. */
const QUERIES: Query[] = [
  { name: 'SELECT 1', statements: ['SELECT 1'] },
  { name: 'newest 20 of the tenant', statements: [`SELECT ${EVENT} ${OWN} ${NEWEST} LIMIT 20`] },
  {
    name: 'newest 20 of a contact, and their count',
    statements: [`SELECT ${EVENT} ${OF_OWNERS} ${NEWEST} LIMIT 20`, `SELECT count() ${OF_OWNERS}`],
    isByProjection: true,
  },
  {
    name: '1,000 events of a contact',
    statements: [`SELECT ${EVENT} ${OF_BUSY} ${NEWEST} LIMIT 1000`],
    isByProjection: true,
  },
  {
    name: 'activity of 25 contacts',
    statements: [`SELECT owner_id, ${COMPACT} ${OF_SEVERAL} ${NEWEST} LIMIT 5 BY owner_id`],
    isByProjection: true,
  },
  { name: 'one event, by an id of the service', statements: [`${ONE} ${NEAR} LIMIT 1`] },
  { name: 'one event, by another id', statements: [`${ONE} LIMIT 1`] },
  {
    name: 'newest 20 of a visitor',
    statements: [`SELECT ${EVENT} ${OWN} AND visitor_id = {visitor: String} ${NEWEST} LIMIT 20`],
  },
  {
    name: 'events of a session',
    statements: [`SELECT ${EVENT} ${OWN} AND session_id = {session: String} ${NEWEST} LIMIT 20`],
  },
  { name: 'names of events', statements: [`SELECT event, count() ${OWN} GROUP BY event`], isByProjection: true },
  {
    name: 'events by day and type',
    statements: [`SELECT toDate(timestamp) AS day, event, count() ${OWN} GROUP BY day, event`],
    isByProjection: true,
  },
  {
    name: 'visitors by day',
    statements: [
      `SELECT day, uniqMerge(visitors) FROM (SELECT toDate(timestamp) AS day, ${VISITORS_STATE} AS visitors ${OWN} GROUP BY day) GROUP BY day`,
    ],
    isByProjection: true,
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
  for (let round = 0; round <= ROUNDS.queries; round++) {
    const parameters = await parametersOf(round)
    for (const { table, measured } of choices) {
      for (const { name, statements, isByProjection: usesProjections = false } of QUERIES) {
        const texts = statements.map((text) => text.replaceAll('FROM events', `FROM ${table}`))
        const bounds = { usesProjections, secondsMax: 60 }
        const ms = await processorMs(() => Promise.all(texts.map((text) => clickhouse.query(text, parameters, bounds))))
        // The first round fills the caches.
        if (round > 0) measured.queries.set(name, [...(measured.queries.get(name) ?? []), ms])
      }
    }
  }
}

/** An event of the middle, its visitor, one with 1,000 events, and 25 others. */
async function parametersOf(round: number) {
  const [event] = await clickhouse.query<{ tenant_id: string; event_id: string; at_ms: string; session_id: string }>(
    `SELECT tenant_id, event_id, toUnixTimestamp64Milli(timestamp) AS at_ms, session_id FROM choice_0
     LIMIT 1 OFFSET ${Math.round(EVENTS * (0.3 + round / 100))}`,
  )
  const ordinary = Array.from({ length: 25 }, (_, index) => Math.round(EVENTS * (0.03 + round / 1_000)) + index * 37)
  const owners = await clickhouse.query<{ id: string }>(
    `SELECT ${episodeSql('number')} AS id FROM (SELECT arrayJoin([${[...ordinary, round].join(', ')}]) AS number)`,
  )
  const ids = owners.map(({ id }) => id)
  return {
    tenant_id: event?.tenant_id ?? '',
    event_id: event?.event_id ?? '',
    at_ms: Number(event?.at_ms),
    session: event?.session_id ?? '',
    visitor: `visitor-${ordinary[0]}`,
    owners: ids.slice(1, 2),
    several_owners: ids.slice(0, -1),
    busy_owners: ids.slice(-1),
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
