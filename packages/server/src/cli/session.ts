import { readFile } from 'node:fs/promises'
import { resolve } from 'node:path'
import type { Config } from '../config.ts'
import { startProjector } from '../journal/projector.ts'
import { ServiceError } from '../platform/errors.ts'
import { createLog } from '../platform/log.ts'
import { createMetrics } from '../platform/metrics.ts'
import { connectPostgres, type PostgresAddress } from '../platform/postgres/connect.ts'
import type { DB } from '../platform/postgres/generated/tables.ts'
import { openTenant, type Stores, type Tenant } from '../platform/tenant.ts'
import { ADDRESS_FILE, openEngines } from '../service.ts'

/** What a command works with. */
export interface Session {
  /** ClickHouse is missing while a service runs on the same data directory: it alone may open the embedded engine. */
  stores: Stores
  serviceRuns: boolean
  config: Config
  tenant(tenantId: string): Tenant
  close(): Promise<void>
}

/**
 * Opens the engines as the service would. Where a service is running on the embedded ones, its PostgreSQL is used, and
 * what a command appends to the journal is projected by that service.
 */
export async function openSession(config: Config): Promise<Session> {
  try {
    const log = createLog('silent')
    const { stores, postgres, close } = await openEngines({
      config,
      log,
      onProgress: (text) => console.error(`· ${text}`),
    })
    return {
      stores,
      serviceRuns: false,
      config,
      tenant: (tenantId) => openTenant(stores, tenantId),
      close: async () => {
        const projector = startProjector({ ...stores, log, metrics: createMetrics(postgres.pool) })
        await projector.drain()
        await projector.stop()
        await close()
      },
    }
  } catch (error) {
    if ((error as { code?: string }).code !== 'data_directory_in_use') throw error
    return besideService(config, error)
  }
}

async function besideService(config: Config, inUse: unknown): Promise<Session> {
  const text = await readFile(resolve(config.dataDirectory, ADDRESS_FILE), 'utf8').catch(() => {
    throw inUse
  })
  const postgres = connectPostgres<DB>(JSON.parse(text) as PostgresAddress, 4)
  const unavailable = () => {
    throw new ServiceError(503, 'clickhouse_in_use', 'The running service alone can read its embedded ClickHouse.')
  }
  const stores: Stores = {
    database: postgres.db,
    clickhouse: {
      query: unavailable,
      command: unavailable,
      insert: unavailable,
      ping: unavailable,
      close: unavailable,
    },
  }
  return {
    stores,
    serviceRuns: true,
    config,
    tenant: (tenantId) => openTenant(stores, tenantId),
    close: () => postgres.close(),
  }
}
