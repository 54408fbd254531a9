/**
 * Loads a tenant of the benchmark and measures ClickHouse alone, in a separate process, because the embedded engine belongs
 * to one process at a time. Writes the results to RAW_FILE.
 */

import { writeFileSync } from 'node:fs'
import { CompiledQuery } from 'kysely'
import { createApiKey } from '../packages/server/src/access/api-keys.ts'
import { addVerifiedDomain } from '../packages/server/src/access/domains-of-tenant.ts'
import { createTenant } from '../packages/server/src/access/tenants.ts'
import { createTenantUser } from '../packages/server/src/access/users.ts'
import { openEngines } from '../packages/server/src/assembly/engines.ts'
import { readConfig } from '../packages/server/src/config.ts'
import { type EventRecord, JOURNAL_FORMAT, serializeEvents } from '../packages/server/src/journal/event-record.ts'
import { newId } from '../packages/server/src/platform/ids.ts'
import { createLog } from '../packages/server/src/platform/log.ts'
import { openTenant } from '../packages/server/src/platform/tenant.ts'
import { sampleSession, sampleVisitor } from '../packages/server/src/seed/journeys.ts'
import { createRandom } from '../packages/server/src/seed/random.ts'
import { loadContacts, loadEvents, mergeParts } from './bulk.ts'
import { rowOf } from './event-file.ts'
import { pick } from './load.ts'
import type { Group } from './options.ts'
import { ownersOfContacts, populationOf, someContacts } from './people.ts'
import { GROUPINGS, INSIGHTS, MANY_AT_ONCE, ONE_AT_A_TIME, SUMMED_UP } from './queries.ts'
import { type Load, repeat } from './repeat.ts'

export interface Raw {
  tenantId: string
  apiKey: string
  /** A person who can sign in to the dashboard. */
  person: { email: string; password: string }
  /** Contacts of any kind. */
  contactIds: string[]
  eventIds: string[]
  /** The cheapest possible query, one at a time. */
  selectOne: Load
  /** The bare queries, one at a time and concurrently, by the name of the row. */
  byOne: Record<string, Load>
  byMany: Record<string, Load>
  /** Statements of 1,000 rows, and of 64: the most that 64 waiting connections can fill. */
  inserts: { rows: number; load: Load }[]
  /** Events a second in large statements, the same as `cdsctl import events` imports; 0 if it is not measured. */
  eventsPerSecond: number
  loadSeconds: { contacts: number; events: number }
}

const [contacts = 0, events = 0, seconds = 3] = process.argv.slice(2, 5).map(Number)
const groups = (process.argv[5]?.split(',') ?? []) as Group[]
const [site = '', tenantName = ''] = process.argv.slice(6)
const MANY = 16
/** For queries that read all events. */
const MANY_HEAVY = 4
/** The number of samples that queries choose from. */
const SAMPLE = 2_000

const { stores, close } = await openEngines({ config: readConfig(process.env), log: createLog('silent') })
const { database, clickhouse } = stores
const now = new Date()
const tenantId = await createTenant(stores, { name: tenantName }, { kind: 'command_line' }, now)
const tenant = openTenant(stores, tenantId)
const { apiKey } = await createApiKey(tenant, { name: 'bench', scopes: ['all'] }, now)
await addVerifiedDomain(tenant, site, now)
const person = { email: `owner@${site}`, password: newId() }
await createTenantUser(stores, tenantId, { ...person, role: 'owner' }, { kind: 'command_line' }, now)

const population = populationOf({ contacts, events })
const loadSeconds = {
  contacts: await timed(() => loadContacts(database, tenantId, contacts)),
  events: await timed(() => loadEvents(stores, tenantId, population, events)),
}
await mergeParts(stores)

const contactIds = (
  await database.selectFrom('contacts').select('contact_id').where('tenant_id', '=', tenantId).limit(SAMPLE).execute()
).map((row) => row.contact_id)
const eventIds = (
  await clickhouse.query<{ event_id: string }>(
    `SELECT event_id FROM events WHERE tenant_id = {t: UUID} AND is_system = 0 ORDER BY rand() LIMIT ${SAMPLE}`,
    { t: tenantId },
  )
).map((row) => row.event_id)
const owners = ownersOfContacts(tenantId, population)
const ownersOf = (contactId: string) => owners.get(contactId) ?? []

const selectOne = await repeat(1, seconds, () => clickhouse.query('SELECT 1'))
const byOne: Record<string, Load> = {}
const byMany: Record<string, Load> = {}
if (groups.includes('reads')) {
  for (const row of ONE_AT_A_TIME) byOne[row.name] = await repeat(1, seconds, () => ask(row))
}
if (groups.includes('lists')) {
  for (const row of MANY_AT_ONCE) byMany[row.name] = await repeat(MANY, seconds, () => ask(row))
}
if (groups.includes('grouping')) {
  for (const row of GROUPINGS) byMany[row.name] = await repeat(MANY_HEAVY, seconds, () => ask(row))
  for (const row of SUMMED_UP) byOne[row.name] = await repeat(1, seconds, () => ask(row))
}
if (groups.includes('insights')) {
  for (const row of INSIGHTS) byOne[row.name] = await repeat(1, seconds, () => ask(row))
}
const inserts: Raw['inserts'] = []
if (groups.some((group) => ['track', 'server-events', 'sdks'].includes(group))) {
  for (const rows of [1_000, 64]) inserts.push({ rows, load: await measureInserts(rows) })
}
const eventsPerSecond = groups.includes('import') ? await measureLargeInserts() : 0
await close()
const raw: Raw = {
  tenantId,
  apiKey,
  person,
  contactIds,
  eventIds,
  selectOne,
  byOne,
  byMany,
  inserts,
  eventsPerSecond,
  loadSeconds,
}
writeFileSync(process.env.RAW_FILE ?? 'raw.json', JSON.stringify(raw))
process.exit(0)

async function ask({
  statements,
  ofContacts,
  isByOwner: usesProjections = false,
}: Omit<(typeof ONE_AT_A_TIME)[number], 'asks'>): Promise<void> {
  const parameters = {
    tenant_id: tenantId,
    event_id: pick(eventIds),
    owners: ownersOf(pick(population.ordinary)),
    busy_owners: ownersOf(pick(population.busy)),
    some_owners: someContacts(population).flatMap(ownersOf),
  }
  const [found = []] = await Promise.all(
    statements.map((text) => clickhouse.query<{ key: string }>(text, parameters, { usesProjections })),
  )
  if (!ofContacts) return
  const contactIds = found.map(({ key }) => key)
  await database.executeQuery(CompiledQuery.raw(ofContacts, [tenantId, contactIds]))
}

async function measureInserts(rowsAStatement: number): Promise<Load> {
  const random = createRandom(7)
  const other = newId()
  const bodies = Array.from({ length: 30 }, () => {
    const rows: EventRecord[] = []
    while (rows.length < rowsAStatement) {
      rows.push(...sampleSession(random, other, 'bench.example', sampleVisitor(random, null), Date.now() - 1_000_000))
    }
    return serializeEvents(rows.slice(0, rowsAStatement))
  })
  // Into a copy, because merging its parts would disturb the reads.
  await clickhouse.command('CREATE TABLE bench_events AS events')
  // Two at a time use both processors.
  const load = await repeat(2, seconds, () => clickhouse.insert('bench_events', JOURNAL_FORMAT, pick(bodies), newId()))
  await clickhouse.command('DROP TABLE bench_events')
  return load
}

async function measureLargeInserts(): Promise<number> {
  const rowsAStatement = 20_000
  const body = serializeEvents(Array.from({ length: rowsAStatement }, (_, n) => rowOf(newId(), n)))
  await clickhouse.command('CREATE TABLE bench_events AS events')
  const load = await repeat(1, seconds, () => clickhouse.insert('bench_events', JOURNAL_FORMAT, body, newId()))
  await clickhouse.command('DROP TABLE bench_events')
  return load.perSecond * rowsAStatement
}

async function timed(work: () => Promise<void>): Promise<number> {
  const startedAt = performance.now()
  await work()
  return (performance.now() - startedAt) / 1000
}
