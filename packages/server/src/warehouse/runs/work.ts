import { erasedSince } from '../../erasure/erasures.ts'
import { cutOfJournal } from '../../journal/cut.ts'
import { ServiceError } from '../../platform/errors.ts'
import type { Jobs } from '../../platform/jobs/jobs.ts'
import type { Logger } from '../../platform/log.ts'
import { OutboundError } from '../../platform/outbound/client.ts'
import { ClaimLost, renewClaim, whileClaimed } from '../../platform/postgres/lease.ts'
import type { Tenant } from '../../platform/tenant.ts'
import { type Clock, MINUTE_MS } from '../../platform/time.ts'
import { openStorage, type StorageDependencies } from '../storage/open.ts'
import { sha256 } from '../storage/sign.ts'
import { type Storage, StorageError } from '../storage/storage.ts'
import {
  type ClaimedRun,
  chooseRange,
  claimRun,
  erasedFrom,
  failAttempt,
  finishRun,
  previousManifest,
  releaseRun,
  whereClaimed,
} from './claim.ts'
import type { TableName } from './columns.ts'
import { manifestOf, manifestPath, nameOfRun } from './manifest.ts'
import { type Cursor, type Part, partsOf } from './parts.ts'

export interface RunDependencies extends StorageDependencies {
  jobs: Pick<Jobs, 'send'>
  clock: Clock
  log: Logger
  /** The most time for writing a file. */
  fileMsMax?: number
}

/** If writing a file takes longer than this, the run fails and is retried later, so that other runs can start. */
const FILE_MS_MAX = 10 * MINUTE_MS

const PARQUET = 'application/vnd.apache.parquet'
const JSON_TYPE = 'application/json'

/** Works on a run until it ends or fails. When `stopping` aborts, another process can continue the run. */
export async function workOnRun(
  tenant: Tenant,
  dependencies: RunDependencies,
  runId: string,
  stopping: AbortSignal,
): Promise<void> {
  const { jobs, clock, log } = dependencies
  const run = await claimRun(tenant, runId, clock())
  if (!run) return
  try {
    await whileClaimed('warehouse_run', whereClaimed(tenant, run), (lost) =>
      exportRange(tenant, dependencies, run, AbortSignal.any([stopping, lost])),
    )
  } catch (error) {
    if (error instanceof ClaimLost) {
      log.info({ tenant_id: tenant.id, run_id: runId }, 'another process continues this warehouse export')
      return
    }
    if (stopping.aborted) return releaseRun(tenant, jobs, run, clock())
    log.warn({ err: error, tenant_id: tenant.id, run_id: runId }, 'a warehouse export failed')
    await failAttempt(tenant, run, messageOf(error), clock())
  }
}

async function exportRange(
  tenant: Tenant,
  dependencies: RunDependencies,
  run: ClaimedRun,
  signal: AbortSignal,
): Promise<void> {
  const { destination, runId, startedAt, isFull } = run
  const storage = limited(openStorage(dependencies, tenant.id, destination), dependencies.fileMsMax ?? FILE_MS_MAX)
  const range =
    run.upTo !== null && run.after !== null
      ? { after: run.after, upTo: run.upTo }
      : await chooseRange(tenant, run, await cutOfJournal(tenant))
  const last = await lastFile(tenant, runId)
  let number = last?.number ?? 0
  for await (const part of partsOf(tenant, range, last)) {
    signal.throwIfAborted()
    await writePart(tenant, storage, run, { part, number: ++number }, signal)
  }
  const manifest = manifestPath(runId, startedAt)
  const [erased, previous] = await Promise.all([erasedSince(tenant, erasedFrom(run)), previousManifest(tenant, run)])
  const content = await manifestOf(tenant, destination, { runId, startedAt, isFull, range, erased, previous })
  signal.throwIfAborted()
  await renewClaim('warehouse_run', whereClaimed(tenant, run))
  // The manifest is written last, so readers of manifests see only complete runs.
  await storage.write(manifest, content, JSON_TYPE, signal)
  await storage.write('latest.json', content, JSON_TYPE, signal)
  await finishRun(tenant, run, { upTo: range.upTo, manifest }, dependencies.clock())
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
  tenant: Tenant,
  storage: Storage,
  run: ClaimedRun,
  { part: { table, cursor, file, rows }, number }: { part: Part; number: number },
  signal: AbortSignal,
): Promise<void> {
  const name = `part-${String(number).padStart(5, '0')}-${run.claim.slice(-12)}.parquet`
  const path = `${table}/${nameOfRun(run.runId, run.startedAt)}/${name}`
  await storage.write(path, file, PARQUET, signal)
  await tenant.transaction(async (tx) => {
    await renewClaim('warehouse_run', whereClaimed(tx, run))
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
