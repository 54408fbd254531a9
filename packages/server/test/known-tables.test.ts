import { rm } from 'node:fs/promises'
import pg from 'pg'
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from 'vitest'
import { CLICKHOUSE_TABLES, POSTGRES_OBJECTS, requireAllOfPostgres } from '../src/assembly/known-tables.ts'
import { MIGRATIONS, SCHEMA } from '../src/assembly/migrations.ts'
import { explain } from '../src/assembly/process.ts'
import { EVENTS_TABLE } from '../src/events/table.ts'
import { createTableStatements, earlierVersion } from '../src/platform/clickhouse/tables.ts'
import { startEmbeddedPostgres } from '../src/platform/embedded/postgres.ts'
import { newId } from '../src/platform/ids.ts'
import { connectPostgres } from '../src/platform/postgres/connect.ts'
import { migratePostgres } from '../src/platform/postgres/migrate.ts'
import { schemaOf } from '../src/platform/postgres/schema.ts'
import { CommandLine } from './command-line.ts'
import { createDatabase, databaseUrl } from './databases.ts'
import { MAIN, openDirectory, RUNNING, type Started, startProcess } from './process.ts'
import { call, startTestService, type TestService } from './service.ts'

/** The service runs on the tables that it would create itself, and on no others. */

const cleanup: (() => Promise<unknown>)[] = []
afterEach(async () => {
  for (const undo of cleanup.splice(0).reverse()) await undo()
})

let commandLine: CommandLine
beforeAll(() => {
  commandLine = new CommandLine({})
})
afterAll(() => commandLine.close())

async function execute(connectionString: string, statement: string) {
  const client = new pg.Client({ connectionString })
  await client.connect()
  try {
    return (await client.query(statement)).rows
  } finally {
    await client.end()
  }
}

/** Starts the service, which must refuse. @returns what the program prints then. */
async function refused(environment: Record<string, string>): Promise<string> {
  return startTestService(environment).then(async (service) => {
    await service.close()
    throw new Error('It started.')
  }, explain)
}

const tablesOf = (database: string) =>
  execute(
    database,
    "SELECT table_name, column_name FROM information_schema.columns WHERE table_schema = 'public' ORDER BY 1, 2",
  )

/** Databases that this version did not create, and how they came about. */
const STRANGERS: [string, () => Promise<string>][] = [
  ['whose tables an earlier version created', async () => changed('DROP TABLE schema_fingerprint')],
  ['whose tables other statements created', async () => changed("UPDATE schema_fingerprint SET fingerprint = 'x'")],
  ['whose fingerprint is lost', async () => changed('DELETE FROM schema_fingerprint')],
  ['of another application', async () => emptyWith('CREATE TABLE users (id text)')],
]

async function changed(statement: string): Promise<string> {
  const database = await createDatabase()
  await execute(database, statement)
  return database
}

async function emptyWith(statement: string): Promise<string> {
  const name = `empty_${process.pid}_${Math.random().toString(36).slice(2, 10)}`
  await execute(databaseUrl('postgres'), `CREATE DATABASE ${name} TEMPLATE template0`)
  await execute(databaseUrl(name), statement)
  return databaseUrl(name)
}

test.each(STRANGERS)('a PostgreSQL database %s is refused and stays as it is', async (_what, create) => {
  const DATABASE_URL = await create()
  const before = await tablesOf(DATABASE_URL)
  await expect(startTestService({ DATABASE_URL })).rejects.toMatchObject({
    code: 'unknown_tables',
    message: expect.stringMatching(
      /^The PostgreSQL database in DATABASE_URL has .* set DATABASE_URL to an empty database\.$/,
    ),
  })
  expect(await tablesOf(DATABASE_URL)).toEqual(before)
})

test('the refusal is one sentence after another on standard error, and commands have the same', async () => {
  const DATABASE_URL = await changed('DROP TABLE schema_fingerprint')
  const CDS_DATA_DIR = await openDirectory()
  cleanup.push(() => rm(CDS_DATA_DIR, { recursive: true, force: true }))
  const environment = { DATABASE_URL, CDS_DATA_DIR, PORT: '0', HOST: '127.0.0.1', CDS_LOG_LEVEL: 'warn' }
  const output = await startProcess(MAIN, [], environment, RUNNING).then(
    async (service) => {
      await service.end('SIGKILL')
      return 'It started.'
    },
    ({ message }: Error) => message,
  )
  expect(output).toMatch(
    /ended with 1:\nThe service could not start: The PostgreSQL database in DATABASE_URL has .*\n$/,
  )
  for (const command of ['migrate', 'doctor']) {
    const { exit, stdout } = await commandLine.run([command], { DATABASE_URL, CDS_DATA_DIR })
    expect([exit, JSON.parse(stdout).error.code]).toEqual([1, 'unknown_tables'])
  }
})

test('embedded data of an earlier version is refused with what to do, by the commands too', async () => {
  const CDS_DATA_DIR = await openDirectory()
  cleanup.push(() => rm(CDS_DATA_DIR, { recursive: true, force: true }))
  const embedded = { DATABASE_URL: '', CDS_DATA_DIR }
  await (await startTestService(embedded)).close()
  // The tables of last week: made before fingerprints, and with a column less.
  const server = await startEmbeddedPostgres({ dataDirectory: CDS_DATA_DIR })
  const postgres = connectPostgres<object>(server.connection, 1)
  await postgres.pool.query('DROP TABLE schema_fingerprint; ALTER TABLE tenants DROP COLUMN personal_properties')
  await postgres.close()
  await server.stop()

  const output = await refused(embedded)
  expect(output).toContain(`The data in ${CDS_DATA_DIR} was written by another version of the service`)
  expect(output).toContain('move the directory away or delete it')
  expect(output).not.toContain('\n')
  const { exit, stdout } = await commandLine.run(['tenant', 'create', '--name', 'x'], embedded)
  expect([exit, JSON.parse(stdout).error]).toEqual([
    1,
    { code: 'unknown_tables', message: expect.stringContaining('Run the version that wrote it.') },
  ])
})

const FRONT = 'packages/server/test/clickhouse-front.ts'
const SECRET_KEY = Buffer.alloc(32, 7).toString('base64')

describe('a ClickHouse server', () => {
  let directory: string
  let front: Started
  let url: string
  /** Of a PostgreSQL database that is empty, as ClickHouse is, before each test. */
  let environment: { DATABASE_URL: string; CLICKHOUSE_URL: string; CDS_SECRET_KEY: string }

  beforeAll(async () => {
    directory = await openDirectory()
    front = await startProcess(FRONT, [directory, '0'], {}, /ready \d+/)
    url = `http://127.0.0.1:${/ready (\d+)/.exec(front.output())?.[1]}`
  })
  afterAll(async () => {
    await front?.end('SIGKILL')
    await rm(directory, { recursive: true, force: true })
  })
  beforeEach(async () => {
    for (const { name } of CLICKHOUSE_TABLES) await query(`DROP TABLE IF EXISTS ${name} SYNC`)
    environment = { DATABASE_URL: await emptyWith('SELECT 1'), CLICKHOUSE_URL: url, CDS_SECRET_KEY: SECRET_KEY }
  })

  const query = async (statement: string) =>
    expect((await fetch(url, { method: 'POST', body: statement })).status).toBe(200)

  /** Starts a service, which must be able to, and stops it. */
  const start = async (more: Record<string, string> = {}) => {
    await (await startTestService({ ...environment, ...more })).close()
  }

  test('with tables of another version is refused; two processes may create them at once', async () => {
    await Promise.all([start(), start()])
    // Earlier versions created their tables without a comment.
    for (const comment of ['Customer Data Service of last week', '']) {
      await query(`ALTER TABLE events MODIFY COMMENT '${comment}'`)
      const output = await refused(environment)
      expect(output).toMatch(/^The service could not start: The ClickHouse database in CLICKHOUSE_URL has .*$/)
    }
  })

  test('with the tables of an earlier version gets the columns that they lack', async () => {
    await start()
    await query('DROP TABLE events SYNC')
    for (const statement of createTableStatements(earlierVersion(EVENTS_TABLE), null)) await query(statement)
    await start()
    await query('SELECT utm_source, country FROM events')
    await start()
  })

  test('that has lost a table is refused, and continues only if its events are accepted as lost', async () => {
    await start()
    await query('DROP TABLE events')
    const output = await refused(environment)
    expect(output).toMatch(/^The service could not start: ClickHouse lacks the table events, [^\n]*$/)
    expect(output).toContain('Restore ClickHouse from a backup')
    // Nothing was created, so it is refused again; the id of another loss accepts nothing.
    expect(await refused({ ...environment, CDS_ACCEPT_LOST_EVENTS: newId() })).toContain('lacks the table events')
    const CDS_ACCEPT_LOST_EVENTS = /CDS_ACCEPT_LOST_EVENTS=([\da-f-]{36})/.exec(output)?.[1] ?? ''
    await start({ CDS_ACCEPT_LOST_EVENTS })
    // The setting has accepted that loss alone.
    await query('DROP TABLE owner_links')
    expect(await refused({ ...environment, CDS_ACCEPT_LOST_EVENTS })).toContain('lacks the table owner_links')
  })

  test('that lacks the table of contact sets gets it: its rows are copies, so nothing is lost', async () => {
    await start()
    await query('DROP TABLE contact_sets SYNC')
    await start()
    await query('SELECT * FROM contact_sets')
  })

  test('that has lost an index is refused, and no loss of events is offered or accepted for it', async () => {
    await start()
    const [installation] = await execute(environment.DATABASE_URL, 'SELECT installation_id FROM installation')
    await query('ALTER TABLE events DROP INDEX by_event')
    const accepting = { ...environment, CDS_ACCEPT_LOST_EVENTS: installation.installation_id }
    for (const each of [environment, accepting]) {
      const output = await refused(each)
      expect(output).toMatch(/^The service could not start: ClickHouse lacks the index events\.by_event, /)
      expect(output).not.toMatch(/lost|CDS_ACCEPT_LOST_EVENTS/)
    }
    await query('ALTER TABLE events ADD INDEX by_event event_id TYPE bloom_filter(0.001) GRANULARITY 8')
    await start()
  })

  /** What a first start leaves behind that is killed: PostgreSQL is made first, then ClickHouse's tables, then both ids. */
  test.each([
    ['between the two ids'],
    ['before it wrote an id', 'TRUNCATE TABLE installation'],
    ['between the tables', 'DROP TABLE owner_links', 'TRUNCATE TABLE installation'],
    ['before the tables', 'DROP TABLE events', 'DROP TABLE owner_links', 'DROP TABLE installation'],
  ])('belongs to a new installation whose first start was killed %s', async (_, ...statements) => {
    await start()
    await execute(environment.DATABASE_URL, 'DELETE FROM installation')
    for (const statement of statements) await query(statement)
    await start()
  })
})

test('a table that is missing at the start is named', async () => {
  const DATABASE_URL = await changed('DROP TABLE saved_views')
  await expect(startTestService({ DATABASE_URL })).rejects.toMatchObject({
    code: 'missing_tables',
    message: expect.stringContaining('PostgreSQL lacks the table saved_views. Restore PostgreSQL from a backup.'),
  })
})

describe('readiness', () => {
  let service: TestService
  beforeAll(async () => {
    service = await startTestService()
  })
  afterAll(() => service?.close())

  const ready = async () => {
    const { status, body } = await call(service, 'GET', '/health/ready')
    return status === 200 ? 'ok' : `${status} ${body.error.message}`
  }
  const renaming = (schema: string, kind: string, name: string, to: string) =>
    kind === 'function'
      ? `DO $$ BEGIN EXECUTE (SELECT format('ALTER FUNCTION %s RENAME TO ${to}', oid::regprocedure) FROM pg_proc WHERE proname = '${name}'); END $$`
      : `ALTER ${kind} ${schema}.${name} RENAME TO ${to}`

  /** Each is missing in a transaction that is rolled back; readiness is asked while the first one is missing. */
  async function expectEachIsMissed(schema: string, objects: readonly { kind: string; name: string }[], prefix = '') {
    const [first] = objects
    if (!first) throw new Error('there is nothing')
    const { pool } = service.postgres
    await pool.query(renaming(schema, first.kind, first.name, 'away'))
    expect(await ready()).toContain(`503 PostgreSQL lacks the ${first.kind} ${prefix}${first.name}.`)
    await pool.query(renaming(schema, first.kind, 'away', first.name))
    expect(await ready()).toBe('ok')
    const client = await pool.connect()
    try {
      for (const { kind, name } of objects) {
        await client.query('BEGIN')
        await client.query(renaming(schema, kind, name, 'away'))
        await expect(requireAllOfPostgres((text) => client.query(text), POSTGRES_OBJECTS)).rejects.toMatchObject({
          code: 'missing_tables',
          message: expect.stringContaining(`PostgreSQL lacks the ${kind} ${prefix}${name}.`),
        })
        await client.query('ROLLBACK')
      }
      await requireAllOfPostgres((text) => client.query(text), POSTGRES_OBJECTS)
    } finally {
      client.release()
    }
  }

  test('fails while any table, sequence or function is missing, and recovers', async () => {
    const objects = SCHEMA.objects.filter(({ kind }) => kind !== 'trigger' && kind !== 'extension')
    expect(objects.length).toBeGreaterThan(100)
    await expectEachIsMissed('public', objects)
  })

  test('fails while a table or function of the job queue is missing, and recovers', async () => {
    const inQueue = await execute(
      service.config.databaseUrl ?? '',
      `SELECT 'table' AS kind, relname AS name FROM pg_class
       WHERE relnamespace = 'pgboss'::regnamespace AND relkind IN ('r', 'p') AND relname !~ '_[0-9]{8}$'
       UNION ALL SELECT 'function', proname FROM pg_proc WHERE pronamespace = 'pgboss'::regnamespace`,
    )
    expect(inQueue.length).toBeGreaterThan(10)
    await expectEachIsMissed('pgboss', inQueue, 'pgboss.')
  })

  test('fails while a trigger is missing, and names at most five things', async () => {
    const database = service.config.databaseUrl ?? ''
    await execute(database, 'ALTER TRIGGER audit_log_append_only ON audit_log RENAME TO away')
    expect(await ready()).toContain('the trigger audit_log_append_only')
    await execute(database, 'ALTER TRIGGER away ON audit_log RENAME TO audit_log_append_only')
    await execute(database, 'ALTER SCHEMA public RENAME TO away')
    const named = await ready()
    await execute(database, 'ALTER SCHEMA away RENAME TO public')
    expect(named).toMatch(/lacks (the \w+ \w+, ){4}the \w+ \w+ and \d+ more\./)
    expect(await ready()).toBe('ok')
  })

  test.each([
    [
      'the column contacts.properties',
      'ALTER TABLE contacts RENAME COLUMN properties TO x',
      'ALTER TABLE contacts RENAME COLUMN x TO properties',
    ],
    [
      'the column contacts.creation_source as this version creates it',
      'ALTER TABLE contacts ALTER creation_source DROP NOT NULL',
      'ALTER TABLE contacts ALTER creation_source SET NOT NULL',
    ],
    [
      'the column tenants.name as this version creates it',
      'ALTER TABLE tenants ALTER name TYPE varchar(300)',
      'ALTER TABLE tenants ALTER name TYPE text',
    ],
    [
      'the index audit_log_newest',
      'ALTER INDEX audit_log_newest RENAME TO away',
      'ALTER INDEX away RENAME TO audit_log_newest',
    ],
    [
      'the trigger audit_log_append_only as this version creates it',
      'ALTER TABLE audit_log DISABLE TRIGGER audit_log_append_only',
      'ALTER TABLE audit_log ENABLE TRIGGER audit_log_append_only',
    ],
    [
      'the constraint schema_fingerprint_single_check',
      'ALTER TABLE schema_fingerprint DROP CONSTRAINT schema_fingerprint_single_check',
      'ALTER TABLE schema_fingerprint ADD CHECK (single)',
    ],
    [
      'the function readable_domain as this version creates it',
      'ALTER FUNCTION readable_domain VOLATILE',
      'ALTER FUNCTION readable_domain IMMUTABLE',
    ],
  ])('fails while PostgreSQL lacks %s, and a start refuses it', async (what, change, undo) => {
    const database = service.config.databaseUrl ?? ''
    await execute(database, change)
    expect(await ready()).toBe(`503 PostgreSQL lacks ${what}. Restore PostgreSQL from a backup.`)
    await expect(startTestService({ DATABASE_URL: database })).rejects.toMatchObject({
      code: 'missing_tables',
      message: expect.stringContaining(`PostgreSQL lacks ${what}. Restore PostgreSQL from a backup.`),
    })
    await execute(database, undo)
    expect(await ready()).toBe('ok')
  })

  test('more than this version creates does not count', async () => {
    const database = service.config.databaseUrl ?? ''
    await execute(
      database,
      'CREATE INDEX more ON audit_log (at); ALTER TABLE audit_log ADD COLUMN ours text; CREATE TABLE ours ()',
    )
    expect(await ready()).toBe('ok')
    await execute(database, 'DROP INDEX more; ALTER TABLE audit_log DROP COLUMN ours; DROP TABLE ours')
  })

  test("fails while one of ClickHouse's tables is missing, and recovers", async () => {
    const { command } = service.stores.clickhouse
    for (const { name } of CLICKHOUSE_TABLES) {
      await command(`RENAME TABLE ${name} TO away`)
      expect(await ready()).toContain(`503 ClickHouse lacks the table ${name}.`)
      await command(`RENAME TABLE away TO ${name}`)
    }
    expect(await ready()).toBe('ok')
  })

  test.each([
    ['column events.title', 'RENAME COLUMN title TO away', 'RENAME COLUMN away TO title'],
    [
      'index events.by_event',
      'DROP INDEX by_event',
      'ADD INDEX by_event event_id TYPE bloom_filter(0.001) GRANULARITY 8',
    ],
    [
      'projection events.names',
      'DROP PROJECTION names',
      'ADD PROJECTION names (SELECT tenant_id, is_system, event, count() GROUP BY tenant_id, is_system, event)',
    ],
  ])('fails while ClickHouse lacks the %s', async (what, change, undo) => {
    const { command } = service.stores.clickhouse
    // A column of a projection cannot be renamed.
    if (what.startsWith('column')) await command('ALTER TABLE events DROP PROJECTION by_owner')
    await command(`ALTER TABLE events ${change}`)
    expect(await ready()).toContain(`the ${what}`)
    await command(`ALTER TABLE events ${undo}`)
    expect(await ready()).not.toContain(`the ${what}`)
  })
})

test('the fingerprint is of what the statements create: comments do not count', async () => {
  const statements = '-- A table.\nCREATE TABLE a (\n  -- Its key.\n  b int\n);\n'
  const { fingerprint } = schemaOf(statements)
  expect(schemaOf('CREATE TABLE a (\n  b int\n);\n').fingerprint).toBe(fingerprint)
  for (const other of ['b bigint', 'b int, c int', 'c int']) {
    expect(schemaOf(`CREATE TABLE a (\n  ${other}\n);\n`).fingerprint).not.toBe(fingerprint)
  }
})

test('what the sources name is what an empty database gets', async () => {
  const connectionString = await emptyWith('SELECT 1')
  const postgres = connectPostgres<object>({ connectionString }, 1)
  await migratePostgres(postgres.db, MIGRATIONS)
  await postgres.close()
  const created = await execute(
    connectionString,
    `SELECT CASE relkind WHEN 'S' THEN 'sequence' ELSE 'table' END AS kind, relname AS name FROM pg_class
     WHERE relnamespace = 'public'::regnamespace AND relkind IN ('r', 'p', 'v', 'm', 'S') AND relname NOT LIKE 'kysely_%'
       AND NOT EXISTS (SELECT FROM pg_depend WHERE objid = pg_class.oid AND relkind = 'S' AND deptype IN ('a', 'i'))
     UNION ALL SELECT 'trigger', tgname FROM pg_trigger WHERE NOT tgisinternal
     UNION ALL SELECT 'function', proname FROM pg_proc WHERE pronamespace = 'public'::regnamespace AND NOT EXISTS
       (SELECT FROM pg_depend WHERE objid = pg_proc.oid AND deptype = 'e')
     UNION ALL SELECT 'extension', extname FROM pg_extension WHERE extname <> 'plpgsql'`,
  )
  const names = (objects: readonly { kind: string; name: string }[]) =>
    objects.map(({ kind, name }) => `${kind} ${name}`)
  expect(names(SCHEMA.objects).sort()).toEqual(names(created).sort())
})
