import { rm, writeFile } from 'node:fs/promises'
import { dirname, join, relative, resolve } from 'node:path'
import type { Kysely } from 'kysely'
import type { Config } from '../config.ts'
import { type Projector, startProjector } from '../journal/projector.ts'
import { type ClickHouse, connectClickHouse } from '../platform/clickhouse/connect.ts'
import { checkInstallation, EventsMissing } from '../platform/clickhouse/installation.ts'
import { refusingClickHouse } from '../platform/clickhouse/refusing.ts'
import { requireVersion } from '../platform/clickhouse/version.ts'
import { explainFileError, openDataDirectory } from '../platform/embedded/data-directory.ts'
import { type EmbeddedPostgres, startEmbeddedPostgres } from '../platform/embedded/postgres.ts'
import { serverUser } from '../platform/embedded/unprivileged-user.ts'
import { type Cleanup, undoAll } from '../platform/every.ts'
import type { Logger } from '../platform/log.ts'
import { connectPostgres, openPool, type Postgres } from '../platform/postgres/connect.ts'
import type { DB } from '../platform/postgres/generated/tables.ts'
import { withSessionLock } from '../platform/postgres/locks.ts'
import { migratePostgres } from '../platform/postgres/migrate.ts'
import { openReadLanes } from '../platform/read-lanes.ts'
import type { Stores } from '../platform/tenant.ts'
import {
  CLICKHOUSE_TABLES,
  requireAllOfPostgres,
  requireKnownClickHouse,
  requireKnownPostgres,
} from './known-tables.ts'
import { MIGRATIONS } from './migrations.ts'

export interface EngineOptions {
  config: Config
  log: Logger
  /**
   * A connection to use instead of the configured ClickHouse, closed with the engines; for tests, which share one.
   */
  clickhouse?: ClickHouse
  /** Called once both databases are connected and before anything in them changes: they may still be empty. */
  beforeChange?: (database: Kysely<DB>, config: Config) => Promise<void>
  /** Of the embedded PostgreSQL, if more than the service needs; for benchmarks, which connect beside it. */
  postgresConnections?: number
  /** How long a database may send nothing before it counts as down; for tests, which wait for it. */
  silentAfterMs?: number
  /** Called with a description of each long step. */
  onProgress?: (message: string) => void
}

/** Both databases, connected and migrated. */
export interface Engines {
  stores: Stores
  /** The set of the stores, for what keeps it up to date. */
  closed: Set<string>
  postgres: Postgres<DB>
  projector: Projector
  /** Directories that the embedded databases write to: their disks must not run full. */
  directories: string[]
  /** The embedded PostgreSQL's data, if it is outside the data directory. */
  outsideCluster: string | null
  close(): Promise<void>
}

/** One locks a batch, one polls for waiting rows, one retries rejected batches. */
const PROJECTOR_CONNECTIONS = 3
/**
 * A process that is frozen, or whose machine lost power, does not close its connection: after this time, PostgreSQL
 * releases the locks of its batch. An insertion, during which PostgreSQL receives nothing, has failed by then.
 */
const BATCH_LOCK_MS_MAX = 40_000

/** File in the data directory with the address of the running service's PostgreSQL. */
export const ADDRESS_FILE = 'postgres-address.json'

/**
 * Starts or connects both databases and migrates them.
 * @throws Error if the data directory is in use or a database is unreachable; then nothing is left running.
 */
export async function openEngines(options: EngineOptions): Promise<Engines> {
  const { config } = options
  const cleanup: Cleanup = []
  const dataDirectory = resolve(config.dataDirectory)
  try {
    return await open(options, dataDirectory, cleanup)
  } catch (error) {
    await undoAll(cleanup).catch(() => {})
    throw await explainFileError(error, dataDirectory)
  }
}

async function open(options: EngineOptions, dataDirectory: string, cleanup: Cleanup): Promise<Engines> {
  const { config } = options
  const directories: string[] = []
  if (config.databaseUrl === null || config.clickhouseUrl === null) {
    directories.push(dataDirectory)
    const lock = await openDataDirectory(dataDirectory, config.databaseUrl === null ? serverUser() : null)
    cleanup.push(() => lock.release())
    // A file left by a killed run, or copied from another directory, would send the command line to the wrong server.
    await rm(join(dataDirectory, ADDRESS_FILE), { force: true })
  }
  const [embedded, found] = await both(
    config.databaseUrl === null ? startPostgres(options, dataDirectory, cleanup) : null,
    openClickHouse(options, dataDirectory, cleanup),
  )
  if (embedded) directories.push(dirname(embedded.cluster))
  const isOutside = embedded !== null && relative(dataDirectory, embedded.cluster).startsWith('..')
  const server = embedded?.connection ?? { connectionString: config.databaseUrl ?? '' }
  const postgres = connectPostgres<DB>(server, config.postgresPoolSize, options.log, options.silentAfterMs)
  cleanup.push(() => postgres.close())
  const clickhouse = await withSessionLock(postgres.db, 'migration', async () => {
    await requireKnownPostgres(postgres.db, config)
    await requireKnownClickHouse(found, config)
    await options.beforeChange?.(postgres.db, config)
    await migratePostgres(postgres.db, MIGRATIONS)
    await requireAllOfPostgres((text) => postgres.pool.query(text))
    return migrateClickHouse(postgres, found, options)
  })
  const reads = await openReadLanes(found, config)
  const { db: database } = openPool<DB>(postgres.address, PROJECTOR_CONNECTIONS, BATCH_LOCK_MS_MAX)
  cleanup.push(() => database.destroy())
  const projector = startProjector({ database, clickhouse, cluster: config.clickhouseCluster, log: options.log })
  cleanup.push(() => projector.stop())
  const closed = new Set<string>()
  const stores = { database: postgres.db, clickhouse, reads, barrier: projector.barrier, closed }
  const outsideCluster = isOutside ? embedded.cluster : null
  return { stores, closed, postgres, projector, directories, outsideCluster, close: () => undoAll(cleanup) }
}

/** Waits for both even if one fails, so that nothing starts during the cleanup. */
async function both<First, Second>(
  first: Promise<First> | null,
  second: Promise<Second>,
): Promise<[First | null, Second]> {
  await Promise.allSettled([first, second])
  return Promise.all([first, second])
}

async function startPostgres(
  { onProgress, postgresConnections: maxConnections }: EngineOptions,
  dataDirectory: string,
  cleanup: Cleanup,
): Promise<EmbeddedPostgres> {
  const embedded = await startEmbeddedPostgres({
    dataDirectory,
    ...(maxConnections === undefined ? {} : { maxConnections }),
    ...(onProgress ? { onProgress } : {}),
  })
  cleanup.push(() => embedded.stop())
  // The command line reaches the PostgreSQL of a running service through this file.
  const addressFile = join(dataDirectory, ADDRESS_FILE)
  await writeFile(addressFile, JSON.stringify(embedded.connection), { mode: 0o600 })
  cleanup.push(() => rm(addressFile, { force: true }))
  return embedded
}

async function openClickHouse(
  { config, log, clickhouse: shared, silentAfterMs }: EngineOptions,
  dataDirectory: string,
  cleanup: Cleanup,
): Promise<ClickHouse> {
  const { clickhouseUrl: url, clickhouseCluster: cluster } = config
  const address = url === null ? { path: join(dataDirectory, 'clickhouse') } : { url, cluster }
  const clickhouse = shared ?? (await connectClickHouse(address, log, silentAfterMs))
  cleanup.push(() => clickhouse.close())
  await requireVersion(clickhouse)
  return clickhouse
}

/** @returns the ClickHouse to use; one that lacks this installation's events is neither written nor read. */
async function migrateClickHouse(
  postgres: Postgres<DB>,
  clickhouse: ClickHouse,
  { config, log, onProgress }: EngineOptions,
): Promise<ClickHouse> {
  const { clickhouseCluster, acceptLostEvents } = config
  try {
    const [tables, cluster] = [CLICKHOUSE_TABLES, clickhouseCluster]
    await checkInstallation({ database: postgres.db, clickhouse, tables, cluster, acceptLostEvents })
  } catch (error) {
    if (!(error instanceof EventsMissing)) throw error
    log.error(error.advice)
    onProgress?.(error.advice)
    return refusingClickHouse(error, clickhouse.close)
  }
  return clickhouse
}
