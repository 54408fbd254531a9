/**
 * Loads the data of the benchmark and measures the engines alone: run in a process of its own, because the embedded
 * ClickHouse belongs to one process at a time. Writes what it found to RAW_FILE.
 */
import { writeFileSync } from 'node:fs'
import { setTimeout as sleep } from 'node:timers/promises'
import { sql } from 'kysely'
import { readConfig } from '../packages/server/src/config.ts'
import { openEngines } from '../packages/server/src/engines.ts'
import {
  type EventRecord,
  JOURNAL_FORMAT,
  NO_CONTACT,
  serializeEvents,
} from '../packages/server/src/journal/event-record.ts'
import { newId } from '../packages/server/src/platform/ids.ts'
import { createLog } from '../packages/server/src/platform/log.ts'
import { sampleSession, sampleVisitor } from '../packages/server/src/seed/journeys.ts'
import { createRandom } from '../packages/server/src/seed/random.ts'
import { createApiKey } from '../packages/server/src/tenants/api-keys.ts'
import { addDomain } from '../packages/server/src/tenants/domains.ts'
import { createTenant } from '../packages/server/src/tenants/tenants.ts'
import { loadContacts, loadEvents } from './bulk.ts'
import { SOURCE_CONNECTIONS, sourceRecords } from './load.ts'
import { CLICKHOUSE_QUERIES, HEAVY_QUERIES, OF_THESE, POSTGRES_QUERIES, WHO_DID } from './queries.ts'
import { siteOf } from './report.ts'

export interface Raw {
  tenantId: string
  /** How many there are. */
  contacts: number
  apiKey: string
  contactIds: string[]
  /** Contacts that have events. */
  activeContactIds: string[]
  eventIds: string[]
  /** With 1,000 rows a statement. */
  insertRowsPerSecond: number
  /** With 64 rows a statement: what 64 connections that wait for their answer can fill. */
  smallInsertRowsPerSecond: number
  /** Upserts of contacts with 100 rows a statement. */
  upsertRowsPerSecond: number
  /** Updates of the events of one visitor each. */
  movesPerSecond: number
  /** Answers a second, by the name of the row. */
  queriesPerSecond: Record<string, number>
  loadSeconds: { contacts: number; events: number }
}

const [contacts = 0, events = 0, seconds = 3] = process.argv.slice(2).map(Number)
const CONCURRENCY = 16
/** Of queries that read all events. */
const HEAVY_CONCURRENCY = 4

const config = readConfig(process.env)
const { stores, postgres, close } = await openEngines({ config, log: createLog('silent') })
const { database, clickhouse } = stores
const now = new Date()
const tenantId = await createTenant(database, 'Bench', now)
const { apiKey } = await createApiKey(database, tenantId, { name: 'bench', scopes: ['all'] }, now)
await addDomain(database, tenantId, siteOf(contacts), true, now)

const loadSeconds = {
  contacts: await timed(() => loadContacts(database, tenantId, contacts)),
  events: await timed(() => loadEvents(clickhouse, tenantId, events)),
}
await sql`VACUUM ANALYZE`.execute(database)
// What loading left to merge would otherwise be measured too.
await sleep(events > 1_000_000 ? 10_000 : 1_000)

const contactIds = (
  await database.selectFrom('contacts').select('contact_id').where('tenant_id', '=', tenantId).limit(2_000).execute()
).map((row) => row.contact_id)
const eventIds = (
  await clickhouse.query<{ event_id: string }>(
    `SELECT event_id FROM events WHERE tenant_id = {t: UUID} AND is_system = 0 AND rand() % 50 = 0 LIMIT 2000`,
    { t: tenantId },
  )
).map((row) => row.event_id)

const activeContactIds = (
  await clickhouse.query<{ contact_id: string }>(
    `SELECT DISTINCT contact_id FROM events WHERE tenant_id = {t: UUID} AND contact_id != toUUID('${NO_CONTACT}') LIMIT 2000`,
    { t: tenantId },
  )
).map((row) => row.contact_id)

const queriesPerSecond: Record<string, number> = {}
for (const { name, statements } of POSTGRES_QUERIES) {
  queriesPerSecond[name] = await rate(async () => {
    const id = pick(contactIds)
    const values = (text: string) => (text.includes('$2') ? [tenantId, id] : [tenantId])
    await Promise.all(statements.map((text) => postgres.pool.query(text, values(text))))
  })
}
for (const { name, statements } of CLICKHOUSE_QUERIES) {
  queriesPerSecond[name] = await rate(async () => {
    const parameters = {
      tenant_id: tenantId,
      contact_id: pick(contactIds),
      event_id: pick(eventIds),
      active_id: pick(activeContactIds),
      contact_ids: Array.from({ length: 25 }, () => pick(activeContactIds)),
    }
    await Promise.all(statements.map((text) => clickhouse.query(text, parameters)))
  })
}
queriesPerSecond['contacts who did something'] = await rate(async () => {
  const found = await clickhouse.query<{ contact_id: string }>(WHO_DID, { tenant_id: tenantId })
  const ids = found.map(({ contact_id }) => contact_id)
  await Promise.all(OF_THESE.map((text) => postgres.pool.query(text, [tenantId, ids])))
})
for (const { name, statements } of HEAVY_QUERIES) {
  queriesPerSecond[name] = await rate(async () => {
    await Promise.all(statements.map((text) => clickhouse.query(text, { tenant_id: tenantId })))
  }, HEAVY_CONCURRENCY)
}
const insertRowsPerSecond = await measureInserts(1_000)
const smallInsertRowsPerSecond = await measureInserts(64)
const upsertRowsPerSecond = await measureUpserts()
const movesPerSecond = await measureMoves()
await close()
const raw: Raw = {
  tenantId,
  contacts,
  apiKey,
  contactIds,
  activeContactIds,
  eventIds,
  insertRowsPerSecond,
  smallInsertRowsPerSecond,
  upsertRowsPerSecond,
  movesPerSecond,
  queriesPerSecond,
  loadSeconds,
}
writeFileSync(process.env.RAW_FILE ?? 'raw.json', JSON.stringify(raw))
process.exit(0)

/** One visitor's anonymous events onto a contact, one visitor after the other. */
async function measureMoves(): Promise<number> {
  const move = `UPDATE events SET contact_id = {contact: UUID}
    WHERE tenant_id = {tenant_id: UUID} AND contact_id = toUUID('${NO_CONTACT}') AND visitor_id = {visitor: String}`
  const perSecond = await rate(async () => {
    const visitor = String(3 + 5 * Math.floor(Math.random() * 40_000))
    await clickhouse.command(move, { tenant_id: tenantId, contact: newId(), visitor })
  }, 1)
  // As the service does in the background: what follows must find the table as it was.
  await clickhouse.command('ALTER TABLE events APPLY PATCHES SETTINGS mutations_sync = 1')
  return perSecond
}

async function measureInserts(rowsAStatement: number): Promise<number> {
  const random = createRandom(7)
  const other = newId()
  const bodies = Array.from({ length: 30 }, () => {
    const rows: EventRecord[] = []
    while (rows.length < rowsAStatement) {
      rows.push(...sampleSession(random, other, 'bench.example', sampleVisitor(random, null), Date.now() - 1_000_000))
    }
    return serializeEvents(rows.slice(0, rowsAStatement))
  })
  let rows = 0
  const startedAt = performance.now()
  // Two at a time, as the service does.
  await Promise.all(
    [0, 1].map(async (lane) => {
      for (let n = lane; performance.now() - startedAt < seconds * 1000; n++) {
        await clickhouse.insert('events', JOURNAL_FORMAT, bodies[n % bodies.length] ?? '', newId())
        rows += rowsAStatement
      }
    }),
  )
  return (rows / (performance.now() - startedAt)) * 1000
}

/** What a program that keeps the contacts alone, without sources, provenance and events, would ask for the same records. */
async function measureUpserts(): Promise<number> {
  const rows = 100
  const values = Array.from(
    { length: rows },
    (_, n) => `($1, $${3 * n + 2}, $${3 * n + 3}, $${3 * n + 4}, 'crm', now(), now(), now())`,
  )
  const statement = `INSERT INTO contacts
    (tenant_id, contact_id, email, properties, creation_source, first_seen_at, created_at, updated_at)
    VALUES ${values.join(', ')}
    ON CONFLICT (tenant_id, email) DO UPDATE SET properties = contacts.properties || excluded.properties, updated_at = now()`
  const perSecond = await rate(async () => {
    const parameters = sourceRecords(contacts, rows).flatMap(({ email, properties }) => [
      newId(),
      email,
      JSON.stringify(properties),
    ])
    await postgres.pool.query(statement, [tenantId, ...parameters])
  }, SOURCE_CONNECTIONS)
  return perSecond * rows
}

async function rate(work: () => Promise<void>, concurrency = CONCURRENCY): Promise<number> {
  let done = 0
  const startedAt = performance.now()
  await Promise.all(
    Array.from({ length: concurrency }, async () => {
      while (performance.now() - startedAt < seconds * 1000) {
        await work()
        done++
      }
    }),
  )
  return (done / (performance.now() - startedAt)) * 1000
}

async function timed(work: () => Promise<void>): Promise<number> {
  const startedAt = performance.now()
  await work()
  return (performance.now() - startedAt) / 1000
}

function pick(ids: string[]): string {
  return ids[Math.floor(Math.random() * ids.length)] ?? newId()
}
