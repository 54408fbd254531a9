import type { Kysely } from 'kysely'
import { ServiceError } from '../errors.ts'
import { newId } from '../ids.ts'
import type { DB } from '../postgres/generated/tables.ts'
import type { ClickHouse } from './connect.ts'
import { addColumns, createMissingTables, describePart, missingTables, type TableDefinition } from './tables.ts'

/** The ids of the installations whose events are in this ClickHouse. One row, unless a loss was accepted. */
export const INSTALLATION_TABLE: TableDefinition = {
  name: 'installation',
  elements: ['installation_id UUID'],
  orderBy: 'installation_id',
  shardingKey: 'cityHash64(installation_id)',
  settings: { fsync_after_insert: 1 },
}

/** 503: ClickHouse responds, but does not have this database's events. */
export class EventsMissing extends ServiceError {
  /** What happened and what to do, for the operator. */
  readonly advice: string

  constructor(advice: string) {
    const message =
      "ClickHouse does not have this installation's events. New events are kept in PostgreSQL. The operator must restore the ClickHouse data: the service's log says how."
    super(503, 'events_missing', message, { retryAfterSeconds: 60 })
    this.advice = advice
  }
}

interface Check {
  database: Kysely<DB>
  clickhouse: ClickHouse
  /** All tables of the service, which this creates for a new installation. */
  tables: readonly TableDefinition[]
  cluster: string | null
  /** The installation whose events the operator accepts as lost; it starts again without events. */
  acceptLostEvents: string | null
}

/**
 * Checks that PostgreSQL and ClickHouse belong together, by an id that both store: otherwise a missing directory, or
 * one of another database, would look like a service without events. Creates ClickHouse's tables for a new
 * installation only, but those whose rows expire: another that is created again would hide that its rows are lost. Call it under the migration lock.
 * @throws EventsMissing if they do not belong together, ServiceError 503 `missing_tables` if a table or a part of one is gone.
 */
export async function checkInstallation(check: Check): Promise<void> {
  const { database, clickhouse, tables, cluster, acceptLostEvents } = check
  const row = await database.selectFrom('installation').select('installation_id').executeTakeFirst()
  const wanted = row?.installation_id ?? null
  const present = await installationsIn(clickhouse)
  if (wanted !== null && present.includes(wanted)) {
    const temporary = tables.filter(({ expiresAt }) => expiresAt !== undefined)
    await createMissingTables(clickhouse, temporary, cluster)
    await addColumns(clickhouse, tables, cluster)
    const missing = await missingTables(clickhouse, tables, cluster)
    if (missing.length === 0) return
    const named = missing.map(describePart).join(', ')
    // Only whole tables are created again: accepting a loss would not bring back a column or an index.
    if (missing.some(({ kind }) => kind !== 'table')) throw partsGone(named)
    if (acceptLostEvents !== wanted) throw tablesGone(named, wanted)
    return write(check, newId())
  }
  if (wanted === null) {
    const [known] = present
    if (known !== undefined && (await hasEvents(clickhouse))) throw new EventsMissing(adviceForStranger())
    return write(check, known ?? newId())
  }
  if (acceptLostEvents !== wanted) throw new EventsMissing(adviceFor(wanted, present.length > 0))
  // With a new id, the setting accepts no later loss if it is left in place.
  await write(check, newId())
}

async function installationsIn(clickhouse: ClickHouse): Promise<string[]> {
  if (!(await hasTable(clickhouse, INSTALLATION_TABLE.name))) return []
  const rows = await clickhouse.query<{ installation_id: string }>('SELECT installation_id FROM installation')
  return rows.map(({ installation_id }) => installation_id)
}

async function hasEvents(clickhouse: ClickHouse): Promise<boolean> {
  if (!(await hasTable(clickhouse, 'events'))) return false
  return (await clickhouse.query('SELECT 1 FROM events LIMIT 1')).length > 0
}

async function hasTable(clickhouse: ClickHouse, name: string): Promise<boolean> {
  const tables = 'SELECT 1 FROM system.tables WHERE database = currentDatabase() AND name = {name: String}'
  return (await clickhouse.query(tables, { name })).length > 0
}

/**
 * First the tables, then the id in ClickHouse, at last in PostgreSQL: a start that ends in between left a new installation,
 * which the next one completes, with the same id.
 */
async function write({ database, clickhouse, tables, cluster }: Check, installationId: string): Promise<void> {
  await createMissingTables(clickhouse, tables, cluster)
  const present = await installationsIn(clickhouse)
  const row = JSON.stringify({ installation_id: installationId })
  if (!present.includes(installationId)) {
    await clickhouse.insert(INSTALLATION_TABLE.name, 'JSONEachRow', row, installationId)
  }
  await database
    .insertInto('installation')
    .values({ installation_id: installationId })
    .onConflict((single) => single.column('single').doUpdateSet({ installation_id: installationId }))
    .execute()
}

function partsGone(missing: string): ServiceError {
  const message = `ClickHouse lacks ${missing}, so the service does not start. Nothing was changed. Restore ClickHouse from a backup, or create what is missing again, and start again.`
  return new ServiceError(503, 'missing_tables', message)
}

function tablesGone(missing: string, installationId: string): ServiceError {
  const message = `ClickHouse lacks ${missing}, which it had before, so events are lost; nothing was changed. Restore ClickHouse from a backup and start again. If that is impossible, start once with CDS_ACCEPT_LOST_EVENTS=${installationId} to continue without what is lost.`
  return new ServiceError(503, 'missing_tables', message)
}

function adviceFor(wanted: string, isAnothers: boolean): string {
  const found = isAnothers ? 'has the events of another installation' : 'is new and empty'
  return `The events of this PostgreSQL database were written to another ClickHouse: this one ${found}. Until that is fixed, events are accepted and wait in PostgreSQL, and reading events returns 503. Stop the service, restore the ClickHouse data to its place (the folder clickhouse in CDS_DATA_DIR, or the server and database in CLICKHOUSE_URL), and start again. Several processes on one DATABASE_URL need one ClickHouse server: set CLICKHOUSE_URL for each. If the events cannot be restored, start once with CDS_ACCEPT_LOST_EVENTS=${wanted} to continue without them.`
}

function adviceForStranger(): string {
  return 'This ClickHouse has the events of another installation, and this PostgreSQL database has none yet. Until that is fixed, events are accepted and wait in PostgreSQL, and reading events returns 503. Stop the service and start it with the PostgreSQL database of these events, or with an empty ClickHouse: another database in CLICKHOUSE_URL, or another CDS_DATA_DIR.'
}
