import { mkdir, rename, rm } from 'node:fs/promises'
import { join } from 'node:path'
import { Readable } from 'node:stream'
import { setImmediate as nextTurn } from 'node:timers/promises'
import { createGzip } from 'node:zlib'
import { countEvents } from '../events/list.ts'
import type { Jobs } from '../platform/jobs/jobs.ts'
import type { Logger } from '../platform/log.ts'
import type { Tenant } from '../platform/tenant.ts'
import { type Clock, HOUR_MS, HOUR_SECONDS } from '../platform/time.ts'
import { EXPIRE, KEPT_HOURS } from './exports.ts'
import { countRows, eventRows, tableRows } from './rows.ts'
import { EXPORTED } from './tables.ts'
import { createTar, type TarFile } from './tar.ts'

const PROGRESS_EVERY_MS = 1_000
const FORMAT = 1

export interface ExportDependencies {
  jobs: Pick<Jobs, 'send'>
  clock: Clock
  log: Logger
  directory: string
}

/** Writes all data of a tenant to one file. After an interruption, it restarts from the beginning. */
export async function runExport(
  tenant: Tenant,
  dependencies: ExportDependencies,
  exportId: string,
  signal: AbortSignal,
): Promise<void> {
  const { jobs, clock, log, directory } = dependencies
  const row = await tenant.db
    .selectFrom('exports')
    .select('status')
    .where('export_id', '=', exportId)
    .executeTakeFirst()
  if (!row || !['queued', 'running'].includes(row.status)) return
  const file = `${exportId}.tar`
  const unfinished = join(directory, `${file}.part`)
  try {
    await mkdir(directory, { recursive: true, mode: 0o700 })
    await updateExport(tenant, exportId, { status: 'running', progress: 0 })
    const { counts, sizeBytes } = await writeFile(tenant, unfinished, clock(), signal, (progress) =>
      updateExport(tenant, exportId, { progress }),
    )
    await rename(unfinished, join(directory, file))
    const now = clock()
    const expiresAt = new Date(now.getTime() + KEPT_HOURS * HOUR_MS)
    await tenant.transaction(async (tx) => {
      await updateExport(tx, exportId, {
        status: 'ready',
        progress: 1,
        file,
        size_bytes: sizeBytes,
        counts: JSON.stringify(counts),
        finished_at: now,
        expires_at: expiresAt,
      })
      await jobs.send(tx, EXPIRE, { exportId }, { startAfter: KEPT_HOURS * HOUR_SECONDS })
    })
  } catch (error) {
    await rm(unfinished, { force: true }).catch(() => {})
    // The process is stopping: another one restarts the export.
    if (signal.aborted) throw error
    log.error({ err: error, export_id: exportId }, 'an export failed')
    const message = "The export could not be written. The service's log says why."
    await updateExport(tenant, exportId, { status: 'failed', error: message, finished_at: clock() })
  }
}

type Columns = Partial<{
  status: string
  progress: number
  file: string
  size_bytes: number
  counts: string
  error: string
  finished_at: Date
  expires_at: Date
}>

async function updateExport(tenant: Tenant, exportId: string, columns: Columns): Promise<void> {
  await tenant.db.updateTable('exports').set(columns).where('export_id', '=', exportId).execute()
}

async function writeFile(
  tenant: Tenant,
  path: string,
  now: Date,
  signal: AbortSignal,
  onProgress: (progress: number) => Promise<void>,
): Promise<{ counts: Record<string, number>; sizeBytes: number }> {
  const counts: Record<string, number> = {}
  const events = await countEvents(tenant, { includeSystem: true })
  const expected = events + (await expectedRows(tenant))
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
    for (const [table, definition] of Object.entries(EXPORTED)) {
      await addNdjson(tar, table, now, counted(table, tableRows(tenant, table, definition)))
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
async function expectedRows(tenant: Tenant): Promise<number> {
  const large = Object.entries(EXPORTED).filter(([, { isLarge }]) => isLarge)
  const counts = await Promise.all(large.map(([table]) => countRows(tenant, table)))
  return counts.reduce((sum, each) => sum + each, 0)
}
