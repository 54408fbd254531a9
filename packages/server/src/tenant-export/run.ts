import { mkdir, readdir, rename, rm } from 'node:fs/promises'
import { join } from 'node:path'
import { Readable } from 'node:stream'
import { setImmediate as nextTurn } from 'node:timers/promises'
import { createGzip } from 'node:zlib'
import { countEvents } from '../events/list.ts'
import { newId } from '../platform/ids.ts'
import type { Jobs } from '../platform/jobs/jobs.ts'
import type { Logger } from '../platform/log.ts'
import { ClaimLost, isClaimed, updateClaimed } from '../platform/postgres/lease.ts'
import type { AnyTable } from '../platform/postgres/table-rules.ts'
import type { Tenant } from '../platform/tenant.ts'
import { type Clock, HOUR_MS, HOUR_SECONDS } from '../platform/time.ts'
import { EXPIRE, KEPT_HOURS } from './exports.ts'
import { countRows, type ExportedRows, eventRows, exportedRows, tableRows } from './rows.ts'
import { createTar, type TarFile } from './tar.ts'

const PROGRESS_EVERY_MS = 1_000
const FORMAT = 1
const UNFINISHED = '.part'

export interface ExportDependencies {
  jobs: Pick<Jobs, 'send'>
  clock: Clock
  log: Logger
  directory: string
  tables: readonly AnyTable[]
}

/**
 * Writes all data of a tenant to one file. After an interruption, it restarts from the beginning.
 *
 * The job queue may think a working process dead and start the export in a second one. So every attempt has a claim
 * without a lease, which ends the previous one's, and its own unfinished file. The earlier attempt stops at its next
 * update.
 */
export async function runExport(
  tenant: Tenant,
  dependencies: ExportDependencies,
  exportId: string,
  signal: AbortSignal,
): Promise<void> {
  const { clock, log, directory } = dependencies
  const attempt = { exportId, claim: newId() }
  if (!(await claimExport(tenant, directory, attempt))) return
  const unfinished = join(directory, unfinishedFile(attempt))
  try {
    await mkdir(directory, { recursive: true, mode: 0o700 })
    const { counts, sizeBytes } = await writeFile(
      tenant,
      exportedRows(dependencies.tables),
      unfinished,
      clock(),
      signal,
      (progress) => updateClaimed(whereClaimed(tenant, attempt).set({ progress })),
    )
    await finishExport(tenant, dependencies, attempt, { counts: JSON.stringify(counts), size_bytes: sizeBytes })
  } catch (error) {
    await rm(unfinished, { force: true }).catch(() => {})
    if (error instanceof ClaimLost) {
      log.info({ export_id: exportId }, 'another process has restarted this export')
      return
    }
    // The process is stopping: another one restarts the export.
    if (signal.aborted) throw error
    log.error({ err: error, export_id: exportId }, 'an export failed')
    const message = "The export could not be written. The service's log says why."
    const failed = whereClaimed(tenant, attempt).set({ status: 'failed', error: message, finished_at: clock() })
    const { numUpdatedRows } = await failed.executeTakeFirst()
    // The file may have its final name already, if the commit failed.
    if (numUpdatedRows > 0n) await rm(join(directory, finishedFile(attempt)), { force: true }).catch(() => {})
  }
}

interface Attempt {
  exportId: string
  claim: string
}

/** Starts an attempt and deletes the files of earlier ones. @returns false if the export has ended. */
async function claimExport(tenant: Tenant, directory: string, { exportId, claim }: Attempt): Promise<boolean> {
  return tenant.transaction(async (tx) => {
    const { numUpdatedRows } = await tx.db
      .updateTable('exports')
      .set({ status: 'running', progress: 0, claim })
      .where('export_id', '=', exportId)
      .where('status', 'in', ['queued', 'running'])
      .executeTakeFirst()
    // While the row is locked, because the next attempt may start at any time.
    const files = numUpdatedRows > 0n ? await readdir(directory).catch(() => []) : []
    const earlier = files.filter((file) => file.startsWith(exportId) && file.endsWith(UNFINISHED))
    for (const file of earlier) await rm(join(directory, file), { force: true })
    return numUpdatedRows > 0n
  })
}

/** An update of an export that applies only while this attempt is the latest. */
function whereClaimed(tenant: Tenant, { exportId, claim }: Attempt) {
  return tenant.db
    .updateTable('exports')
    .where('export_id', '=', exportId)
    .where('status', '=', 'running')
    .where(isClaimed(claim))
}

/** Gives the file its final name and ends the export. @throws ClaimLost */
async function finishExport(
  tenant: Tenant,
  { jobs, clock, directory }: ExportDependencies,
  attempt: Attempt,
  written: { counts: string; size_bytes: number },
): Promise<void> {
  const { exportId } = attempt
  const file = finishedFile(attempt)
  const now = clock()
  const expiresAt = new Date(now.getTime() + KEPT_HOURS * HOUR_MS)
  const ready = { status: 'ready', progress: 1, file, finished_at: now, expires_at: expiresAt }
  await tenant.transaction(async (tx) => {
    await updateClaimed(whereClaimed(tx, attempt).set({ ...ready, ...written }))
    await jobs.send(tx, EXPIRE, { exportId }, { startAfter: KEPT_HOURS * HOUR_SECONDS })
    // Within the transaction, which no other attempt can overtake: the row is locked.
    await rename(join(directory, unfinishedFile(attempt)), join(directory, file))
  })
}

function finishedFile({ exportId }: Attempt): string {
  return `${exportId}.tar`
}

function unfinishedFile({ exportId, claim }: Attempt): string {
  return `${exportId}.${claim}${UNFINISHED}`
}

async function writeFile(
  tenant: Tenant,
  tables: readonly ExportedRows[],
  path: string,
  now: Date,
  signal: AbortSignal,
  onProgress: (progress: number) => Promise<void>,
): Promise<{ counts: Record<string, number>; sizeBytes: number }> {
  const counts: Record<string, number> = {}
  const events = await countEvents(tenant, { includeSystem: true })
  const expected = events + (await expectedRows(tenant, tables))
  let done = 0
  let notedAt = performance.now()
  const counted = async function* (name: string, pages: AsyncGenerator<Record<string, unknown>[]>) {
    counts[name] = 0
    for await (const rows of pages) {
      signal.throwIfAborted()
      counts[name] += rows.length
      done += rows.length
      if (performance.now() - notedAt > PROGRESS_EVERY_MS) {
        notedAt = performance.now()
        // Rows added during the export must not bring the progress to 1 before the end.
        await onProgress(Math.min(0.99, done / Math.max(1, expected)))
      }
      yield rows.map((row) => `${JSON.stringify(row)}\n`).join('')
      // Yields to other requests.
      await nextTurn()
    }
  }
  const tar = await createTar(path)
  try {
    for (const table of tables) {
      await addNdjson(tar, table.name, now, counted(table.name, tableRows(tenant, table)))
    }
    await addNdjson(tar, 'events', now, counted('events', eventRows(tenant)))
    const manifest = { format: FORMAT, tenant_id: tenant.id, created_at: now.toISOString(), counts }
    await tar.add('manifest.json', now, Readable.from([Buffer.from(`${JSON.stringify(manifest, null, 2)}\n`)]))
    return { counts, sizeBytes: await tar.finish() }
  } finally {
    await tar.close()
  }
}

async function addNdjson(tar: TarFile, name: string, now: Date, lines: AsyncGenerator<string>): Promise<void> {
  const source = Readable.from(lines, { highWaterMark: 1 })
  const zipped = createGzip()
  source.once('error', (error) => zipped.destroy(error))
  await tar.add(`${name}.ndjson.gz`, now, source.pipe(zipped))
}

/** Rows of the largest tables; the others hardly affect the progress. */
async function expectedRows(tenant: Tenant, tables: readonly ExportedRows[]): Promise<number> {
  const large = tables.filter(({ isLarge }) => isLarge)
  const counts = await Promise.all(large.map(({ name }) => countRows(tenant, name)))
  return counts.reduce((sum, each) => sum + each, 0)
}
