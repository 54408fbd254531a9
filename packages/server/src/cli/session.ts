import { readFile } from 'node:fs/promises'
import { resolve } from 'node:path'
import { ADDRESS_FILE, openEngines } from '../assembly/engines.ts'
import type { Config } from '../config.ts'
import type { SegmentFollower, WriteDependencies } from '../contacts/change-log.ts'
import { forgetConversations } from '../conversations/forget.ts'
import { ServiceError } from '../platform/errors.ts'
import { createLog } from '../platform/log.ts'
import type { PostgresAddress } from '../platform/postgres/address.ts'
import { connectPostgres } from '../platform/postgres/connect.ts'
import type { DB } from '../platform/postgres/generated/tables.ts'
import { createReadTurns } from '../platform/read-turns.ts'
import { openTenant, type Stores, type Tenant } from '../platform/tenant.ts'
import { systemClock } from '../platform/time.ts'
import { cacheDefinitions } from '../segments/definitions.ts'
import { createFollower } from '../segments/follow.ts'

/** What a command works with. */
export interface Session {
  /** ClickHouse is missing while a service runs on the same data directory: it alone may open the embedded engine. */
  stores: Stores
  serviceRuns: boolean
  /** Of PostgreSQL, for the queue of jobs. */
  address: PostgresAddress
  config: Config
  tenant(tenantId: string): Tenant
  /** What changes of contacts need. */
  writing(): WriteDependencies
  close(): Promise<void>
}

/**
 * Opens the engines as the service would. Where a service is running on the embedded ones, its PostgreSQL is used, and
 * what a command appends to the journal is projected by that service.
 */
export async function openSession(config: Config): Promise<Session> {
  try {
    const { stores, postgres, projector, close } = await openEngines({
      config,
      log,
      onProgress: (text) => console.error(`· ${text}`),
    })
    return {
      stores,
      serviceRuns: false,
      address: postgres.address,
      config,
      tenant: (tenantId) => openTenant(stores, tenantId),
      writing: () => ({ clock: systemClock, segments: follower(), forgetConversations, live: UNWATCHED, log }),
      close: async () => {
        await projector.drain()
        await close()
      },
    }
  } catch (error) {
    if ((error as { code?: string }).code !== 'data_directory_in_use') throw error
    return besideService(config, error)
  }
}

const log = createLog('silent')
/** Nobody has a dashboard open at a command. */
const UNWATCHED = { onRecorded: () => {} }

/** An import stages its file on one and writes on three. */
const CONNECTIONS = 5

/** What a segment asks of events and ClickHouse cannot answer here, the service checks later. */
function follower(): SegmentFollower {
  return createFollower(cacheDefinitions(), systemClock)
}

async function besideService(config: Config, inUse: unknown): Promise<Session> {
  const address = await addressBesideService(config, inUse)
  const postgres = connectPostgres<DB>(address, CONNECTIONS)
  const unavailable = () => {
    throw new ServiceError(503, 'clickhouse_in_use', 'The running service alone can read its embedded ClickHouse.')
  }
  const stores: Stores = {
    database: postgres.db,
    clickhouse: {
      query: unavailable,
      stream: unavailable,
      command: unavailable,
      insert: unavailable,
      ping: unavailable,
      cores: unavailable,
      close: unavailable,
    },
    reads: createReadTurns({ cores: 1, memoryBytes: 0, postgresConnections: CONNECTIONS }),
    barrier: unavailable,
  }
  return {
    stores,
    serviceRuns: true,
    address,
    config,
    tenant: (tenantId) => openTenant(stores, tenantId),
    writing: () => ({ clock: systemClock, segments: follower(), forgetConversations, live: UNWATCHED, log }),
    close: () => postgres.close(),
  }
}

async function addressBesideService(config: Config, inUse: unknown): Promise<PostgresAddress> {
  if (config.databaseUrl !== null) return { connectionString: config.databaseUrl }
  const text = await readFile(resolve(config.dataDirectory, ADDRESS_FILE), 'utf8').catch(() => {
    throw inUse
  })
  return JSON.parse(text) as PostgresAddress
}
