import type { Config } from '../config.ts'
import type { WriteDependencies } from '../contacts/change-log.ts'
import { EVENTS_TABLE } from '../events/table.ts'
import { deleteImportFiles } from '../imports/expire.ts'
import { importDirectory } from '../imports/files.ts'
import type { Projector } from '../journal/projector.ts'
import { OWNER_LINKS_TABLE } from '../platform/clickhouse/owner-links.ts'
import { onCluster, storageTable, type TableDefinition } from '../platform/clickhouse/tables.ts'
import { type Repeated, STOPS_WITH_QUEUE } from '../platform/every.ts'
import { deleteJobs, type Jobs } from '../platform/jobs/jobs.ts'
import { openTenant, type Stores, type Tenant } from '../platform/tenant.ts'
import { expireExports, exportDirectory } from '../tenant-export/exports.ts'
import { type Counter, type Eraser, runErasure } from './erase.ts'
import { createEventEraser } from './erase-events.ts'
import { ERASE } from './erasures.ts'

export const ERASURE_QUEUES = [ERASE]

/** ClickHouse deletes the events of several people in one mutation, which costs hardly more than for one person. */
const ERASURES_AT_ONCE = 8

/** Processes requested erasures, with the erasers of all features. */
export async function startErasureWorkers({
  stores,
  projector,
  jobs,
  writing,
  config,
  erasers,
  counters,
}: {
  stores: Stores
  projector: Projector
  jobs: Jobs
  writing: WriteDependencies
  config: Pick<Config, 'clickhouseCluster' | 'dataDirectory'>
  erasers: readonly Eraser[]
  counters: readonly Counter[]
}): Promise<Repeated> {
  const { clickhouseCluster, dataDirectory } = config
  // Deletions in ClickHouse must name the tables that store the rows.
  const storageOf = (table: TableDefinition) =>
    `${storageTable(table, clickhouseCluster)}${onCluster(clickhouseCluster)}`
  const storage = { events: storageOf(EVENTS_TABLE), owner_links: storageOf(OWNER_LINKS_TABLE) }
  const dependencies = {
    jobs,
    writing,
    erasers,
    counters,
    events: createEventEraser({ ...stores, storage, projector }),
    deleteJobs: (tenantId: string, texts: readonly string[]) => deleteJobs(stores.database, tenantId, texts),
    deleteExportFiles: (tenant: Tenant) => expireExports(tenant, exportDirectory(dataDirectory)),
    deleteImportFiles: (tenant: Tenant, uploadedBefore: Date) =>
      deleteImportFiles(tenant, importDirectory(dataDirectory), uploadedBefore, writing.clock()),
  }
  await jobs.work(ERASE, ERASURES_AT_ONCE, ({ tenantId, erasureId }) =>
    runErasure(openTenant(stores, tenantId), dependencies, erasureId),
  )
  return STOPS_WITH_QUEUE
}
