import type { Config } from '../../config.ts'
import { erasedSince } from '../../erasure/erasures.ts'
import { cutOfJournal } from '../../journal/cut.ts'
import { ServiceError } from '../../platform/errors.ts'
import type { Jobs } from '../../platform/jobs/jobs.ts'
import { OutboundError } from '../../platform/outbound/client.ts'
import { renewClaim } from '../../platform/postgres/lease.ts'
import type { RunKind } from '../../platform/runs/kind.ts'
import { whereClaimed } from '../../platform/runs/run.ts'
import { type RunWork, runWork } from '../../platform/runs/workers.ts'
import type { Tenant } from '../../platform/tenant.ts'
import { type Clock, MINUTE_MS, MINUTE_SECONDS } from '../../platform/time.ts'
import { requireDestination } from '../destinations.ts'
import { openStorage, type StorageDependencies } from '../storage/open.ts'
import { sha256 } from '../storage/sign.ts'
import { type Storage, StorageError } from '../storage/storage.ts'
import type { TableName } from './columns.ts'
import { manifestOf, manifestPath, nameOfRun } from './manifest.ts'
import { type Cursor, type Part, partsOf } from './parts.ts'
import { erasedFrom, finishRun, previousManifest, rangeOf, type WarehouseRun } from './range.ts'
import { WAREHOUSE_ROWS } from './requests.ts'
import { dueExports } from './sweep.ts'

export interface WarehouseDependencies extends StorageDependencies {
  clock: Clock
  /** The most time for writing a file. */
  fileMsMax?: number
}

/** The number of concurrent runs in this process. Each keeps a file in memory. */
const RUNS_AT_ONCE = 2
/** Minutes until a run is retried after its first failures. After later failures, it is PAUSE_MINUTES_MAX. */
const PAUSES_MINUTES = [1, 5, 15, 60]
const PAUSE_MINUTES_MAX = 240
/** If writing a file takes longer than this, the run fails and is retried later, so that other runs can start. */
const FILE_MS_MAX = 10 * MINUTE_MS

const PARQUET = 'application/vnd.apache.parquet'
const JSON_TYPE = 'application/json'

/** Exports to warehouses, on request and by schedule. */
export function warehouseRuns({
  config,
  jobs,
  ...services
}: Omit<WarehouseDependencies, 'warehouseDirectory'> & {
  config: Pick<Config, 'warehouseDirectory'>
  jobs: Pick<Jobs, 'nextTime'>
}): RunWork {
  return runWork(warehouseKind({ ...services, ...config }), [{ atOnce: RUNS_AT_ONCE }], dueExports(jobs))
}

export function warehouseKind(dependencies: WarehouseDependencies): RunKind<'warehouse_runs'> {
  return {
    rows: WAREHOUSE_ROWS,
    step: (run, signal) => exportRange(run, dependencies, signal),
    failure: (error) => ({ isFinal: false, shown: { error: messageOf(error) } }),
    failuresMax: Number.POSITIVE_INFINITY,
    pauseSeconds: (failures) => (PAUSES_MINUTES[failures - 1] ?? PAUSE_MINUTES_MAX) * MINUTE_SECONDS,
  }
}

/** Exports the rows of a run. After an interruption, it continues after the last file. */
async function exportRange(run: WarehouseRun, dependencies: WarehouseDependencies, signal: AbortSignal): Promise<void> {
  const { clock, fileMsMax = FILE_MS_MAX } = dependencies
  const { tenant, runId, row } = run
  const destination = await requireDestination(tenant, row.destination_id)
  const startedAt = row.started_at ?? clock()
  const storage = limited(openStorage(dependencies, tenant.id, destination), fileMsMax)
  const range = await rangeOf(run, destination, () => cutOfJournal(tenant))
  const last = await lastFile(tenant, runId)
  let number = last?.number ?? 0
  for await (const part of partsOf(tenant, range, last)) {
    signal.throwIfAborted()
    await writePart(run, storage, { part, number: ++number, name: nameOfRun(runId, startedAt) }, signal)
  }
  const manifest = manifestPath(runId, startedAt)
  const erased = await erasedSince(tenant, erasedFrom(destination, startedAt))
  const previous = await previousManifest(run)
  const facts = { runId, startedAt, isFull: row.is_full, range, erased, previous }
  const content = await manifestOf(tenant, destination, facts)
  signal.throwIfAborted()
  await renewClaim('warehouse_run', whereClaimed(run))
  // The manifest is written last, so readers of manifests see only complete runs.
  await storage.write(manifest, content, JSON_TYPE, signal)
  await storage.write('latest.json', content, JSON_TYPE, signal)
  await finishRun(run, { startedAt, upTo: range.upTo, manifest }, clock())
}

/** Limits the time of each write to a storage. */
function limited(storage: Storage, msMax: number): Storage {
  return {
    ...storage,
    write: async (path, bytes, contentType, signal) => {
      const limit = AbortSignal.timeout(msMax)
      try {
        await storage.write(path, bytes, contentType, signal ? AbortSignal.any([signal, limit]) : limit)
      } catch (error) {
        if (!limit.aborted || signal?.aborted) throw error
        throw new StorageError(
          `The storage did not accept a file within ${Math.ceil(msMax / MINUTE_MS)} minutes.`,
          error,
        )
      }
    },
  }
}

/**
 * Writes a file and records it. The file name contains the claim, so a process that lost the run without noticing never
 * replaces a file that a manifest names.
 */
async function writePart(
  run: WarehouseRun,
  storage: Storage,
  { part: { table, cursor, file, rows }, number, name }: { part: Part; number: number; name: string },
  signal: AbortSignal,
): Promise<void> {
  const path = `${table}/${name}/part-${String(number).padStart(5, '0')}-${run.claim.slice(-12)}.parquet`
  await storage.write(path, file, PARQUET, signal)
  await run.tenant.transaction(async (tx) => {
    await renewClaim('warehouse_run', whereClaimed(run, tx))
    const written = { table_name: table, path, rows, bytes: file.length, sha256: sha256(file) }
    await tx.db
      .insertInto('warehouse_files')
      .values({ run_id: run.runId, number, ...written, cursor: JSON.stringify(cursor) })
      .execute()
  })
}

async function lastFile(tenant: Tenant, runId: string) {
  const row = await tenant.db
    .selectFrom('warehouse_files')
    .select(['number', 'table_name', 'cursor'])
    .where('run_id', '=', runId)
    .orderBy('number', 'desc')
    .limit(1)
    .executeTakeFirst()
  return row
    ? { number: row.number, table: row.table_name as TableName, cursor: row.cursor as unknown as Cursor }
    : null
}

/** An error message for the tenant. */
function messageOf(error: unknown): string {
  if (error instanceof ServiceError) return error.message
  if (error instanceof OutboundError) return `The storage cannot be reached (${error.code}: ${error.message})`
  return 'The export failed because of an internal error. The cause is in the log of the service.'
}
