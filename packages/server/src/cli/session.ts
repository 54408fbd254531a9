import { readFile } from 'node:fs/promises'
import { resolve } from 'node:path'
import type { Pool } from 'pg'
import { closedTenants } from '../access/closed-tenants.ts'
import { readIgnoredIds } from '../access/identification-settings.ts'
import { cacheReacting } from '../agents/triggers/append.ts'
import { createAppend, inOneStatement, prepareConsequences } from '../assembly/append.ts'
import { ADDRESS_FILE, openEngines } from '../assembly/engines.ts'
import { requireKnownPostgres } from '../assembly/known-tables.ts'
import { TABLES } from '../assembly/tables.ts'
import { keepCompany } from '../companies/write.ts'
import { createComputedChecks, prepareChecks } from '../computed/checks.ts'
import { readComputed } from '../computed/definitions.ts'
import type { Config } from '../config.ts'
import { createOutbox } from '../connectors/write-back/outbox.ts'
import { visitorStatements } from '../contacts/visitors/flush.ts'
import type { SegmentFollower } from '../contacts/writing/transaction.ts'
import { createWriter, type WriteServices } from '../contacts/writing/writer.ts'
import { duplicateChecks } from '../duplicates/checks.ts'
import { createEnrichment } from '../enrichment/enrich.ts'
import { providerInputs } from '../enrichment/providers/providers.ts'
import { createProviderOutbox } from '../enrichment/providers/queue.ts'
import { readEnrichmentSettings } from '../enrichment/settings.ts'
import { createGroupCommit, type GroupCommit, type PreparePart } from '../journal/group-commit.ts'
import type { Projector } from '../journal/projector.ts'
import { ServiceError } from '../platform/errors.ts'
import { createLog } from '../platform/log.ts'
import { createMetrics } from '../platform/metrics.ts'
import type { PostgresAddress } from '../platform/postgres/address.ts'
import { connectPostgres } from '../platform/postgres/connect.ts'
import type { DB } from '../platform/postgres/generated/tables.ts'
import { say } from '../platform/progress.ts'
import { createReadLanes } from '../platform/read-lanes.ts'
import { openTenant, type Stores, type Tenant } from '../platform/tenant.ts'
import { systemClock } from '../platform/time.ts'
import { cacheDefinitions } from '../segments/definitions.ts'
import { createFollower } from '../segments/follow.ts'
import { otherPostgres, refuseOtherData, requireEmbeddedData, requireTables } from './data-of-service.ts'

/** The services that commands use. */
export interface Session {
  /** ClickHouse is unavailable while a service runs on the same data directory: only that process can open the embedded one. */
  stores: Stores
  serviceRuns: boolean
  /** PostgreSQL's address, for the job queue. */
  address: PostgresAddress
  config: Config
  tenant(tenantId: string): Tenant
  /** Services for changes of contacts. */
  writing(): WriteServices
  /**
   * Records events, which the service that runs, or this session, projects. @param preparePart what is written with
   * them; default: what they cause.
   */
  groupCommit(preparePart?: PreparePart): Pick<GroupCommit, 'record'>
  close(): Promise<void>
}

/**
 * Opens the databases of the service like the service does. If a service is already running on the embedded ones, the session uses its
 * PostgreSQL, and that service projects what commands append to the journal.
 * @param mayCreate whether to create databases that are missing.
 * @throws ServiceError 503 `no_data`, `other_data`; then nothing has changed.
 */
export async function openSession(config: Config, { mayCreate }: { mayCreate: boolean }): Promise<Session> {
  if (!mayCreate) await requireEmbeddedData(config)
  try {
    const { stores, postgres, projector, close } = await openEngines({
      config,
      log,
      onProgress: say,
      beforeChange: async (database) => {
        if (mayCreate) return
        await requireTables(database, config)
        await refuseOtherData(config)
      },
    })
    const known = { ...stores, closed: await closedTenants(stores.database) }
    return {
      stores: known,
      serviceRuns: false,
      address: postgres.address,
      config,
      tenant: (tenantId) => openTenant(known, tenantId),
      writing: openWriting,
      groupCommit: (preparePart) => openGroupCommit(known, postgres.pool, { projector, preparePart }),
      close: async () => {
        await projector.drain()
        await close()
      },
    }
  } catch (error) {
    if ((error as { code?: string }).code !== 'data_directory_in_use') throw error
    return sessionBesideService(config)
  }
}

const log = createLog('silent')
/** A cache would not pay, because a command ends with one request. */
const UNCACHED = { listening: false, onChange: () => {} }
/** Commands have no live feed. */
const UNWATCHED = { onRecorded: () => {} }

/**
 * A command returns once its events are in the journal. Without `preparePart`, it looks up what the events of each flush cause.
 */
export function openGroupCommit(
  stores: Stores,
  pool: Pool,
  {
    projector = { add: () => {} },
    preparePart,
  }: { projector?: Pick<Projector, 'add'>; preparePart?: PreparePart | undefined } = {},
): Pick<GroupCommit, 'record'> {
  const prepared = preparePart
    ? // What is imported happened long ago: it counts for computed properties, but causes nothing else.
      inOneStatement([preparePart, prepareChecks(stores, readComputed)])
    : prepareConsequences(stores, UNCACHED, { findReacting: cacheReacting(UNCACHED), findComputed: readComputed })
  const counts = () => ({ waiting: 0, setAside: 0, failures: 0 })
  const metrics = createMetrics(pool, stores.reads, counts)
  return createGroupCommit({
    pool,
    projector,
    visitorStatements,
    preparePart: prepared,
    clock: systemClock,
    log,
    metrics,
  })
}

/** Few, because the service uses the same server: a command works on one thing. */
const CONNECTIONS = 5

function openWriting(): WriteServices {
  const outboxes = [
    createOutbox(UNCACHED, systemClock),
    duplicateChecks,
    createComputedChecks(readComputed),
    createProviderOutbox(providerInputs, systemClock),
  ]
  const changing = {
    clock: systemClock,
    segments: follower(),
    outboxes,
    enrich: createEnrichment(readEnrichmentSettings),
    append: createAppend({ findReacting: cacheReacting(UNCACHED), findComputed: readComputed }),
    tables: TABLES,
    findIgnoredIds: readIgnoredIds,
    findComputedNames: async (tenant: Tenant) => (await readComputed(tenant)).names,
    keepCompany,
    live: UNWATCHED,
    log,
  }
  return { ...changing, writer: createWriter(changing) }
}

/** Event conditions of segments that cannot be evaluated here, without ClickHouse, are evaluated later by the service. */
function follower(): SegmentFollower {
  return createFollower(cacheDefinitions(), systemClock)
}

async function sessionBesideService(config: Config): Promise<Session> {
  const address = await addressOfRunningService(config)
  const postgres = connectPostgres<DB>(address, CONNECTIONS)
  await requireKnownPostgres(postgres.db, config).catch(async (error: unknown) => {
    await postgres.close()
    throw error
  })
  const unavailable = () => {
    const message =
      'Only the running service can read events in its embedded ClickHouse. Call its API, or stop it first.'
    throw new ServiceError(503, 'clickhouse_in_use', message)
  }
  const stores: Stores = {
    database: postgres.db,
    clickhouse: {
      query: unavailable,
      stream: unavailable,
      parquet: unavailable,
      command: unavailable,
      insert: unavailable,
      ping: unavailable,
      cores: unavailable,
      close: unavailable,
    },
    reads: createReadLanes({ cores: 1, memoryBytes: 0, postgresConnections: CONNECTIONS }),
    barrier: unavailable,
    closed: await closedTenants(postgres.db),
  }
  return {
    stores,
    serviceRuns: true,
    address,
    config,
    tenant: (tenantId) => openTenant(stores, tenantId),
    writing: openWriting,
    groupCommit: (preparePart) => openGroupCommit(stores, postgres.pool, { preparePart }),
    close: () => postgres.close(),
  }
}

/** @throws ServiceError 503 `other_data` if the service has another PostgreSQL than this command. */
async function addressOfRunningService(config: Config): Promise<PostgresAddress> {
  const { databaseUrl, dataDirectory } = config
  const text = await readFile(resolve(dataDirectory, ADDRESS_FILE), 'utf8').catch(() => null)
  if ((text === null) === (databaseUrl === null)) throw otherPostgres(config)
  return text === null ? { connectionString: databaseUrl ?? '' } : (JSON.parse(text) as PostgresAddress)
}
