import type { Config } from '../config.ts'
import type { WriteDependencies } from '../contacts/writing/transaction.ts'
import { deleteImportFiles } from '../imports/expire.ts'
import { importDirectory } from '../imports/files.ts'
import type { Projector } from '../journal/projector.ts'
import { deleteJobs } from '../platform/jobs/jobs.ts'
import { doubling, type RunKind } from '../platform/runs/kind.ts'
import { type RunWork, runWork } from '../platform/runs/workers.ts'
import type { Stores, Tenant } from '../platform/tenant.ts'
import { expireExports, exportDirectory } from '../tenant-export/exports.ts'
import { erase } from './erase.ts'
import { createEventEraser } from './erase-events.ts'
import { ERASURE_ROWS } from './erasures.ts'

/** ClickHouse deletes the events of several people in one mutation, which costs hardly more than for one person. */
const ERASURES_AT_ONCE = 8

/** Processes requested erasures, with the erasers of all features. */
export function erasureRuns({
  stores,
  projector,
  writing,
  config,
}: {
  stores: Stores
  projector: Projector
  writing: WriteDependencies
  config: Pick<Config, 'clickhouseCluster' | 'dataDirectory'>
}): RunWork {
  const { clickhouseCluster, dataDirectory } = config
  const dependencies = {
    writing,
    events: createEventEraser({ ...stores, cluster: clickhouseCluster, projector }),
    deleteJobs: (tenantId: string, texts: readonly string[]) => deleteJobs(stores.database, tenantId, texts),
    deleteExportFiles: (tenant: Tenant) => expireExports(tenant, exportDirectory(dataDirectory)),
    deleteImportFiles: (tenant: Tenant, uploadedBefore: Date) =>
      deleteImportFiles(tenant, importDirectory(dataDirectory), uploadedBefore, writing.clock()),
  }
  const kind: RunKind<'erasures'> = {
    rows: ERASURE_ROWS,
    step: (run) => erase(run, dependencies),
    failure: (error) => ({ isFinal: false, shown: { error: String(error) } }),
    // Retried until it succeeds, even if ClickHouse is down for days.
    failuresMax: Number.POSITIVE_INFINITY,
    pauseSeconds: doubling(2, 300),
  }
  return runWork(kind, [{ atOnce: ERASURES_AT_ONCE }])
}
