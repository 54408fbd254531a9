import { mkdir, readdir, rename, rm } from 'node:fs/promises'
import { join } from 'node:path'
import { Readable } from 'node:stream'
import { setImmediate as nextTurn } from 'node:timers/promises'
import { createGzip } from 'node:zlib'
import { sql } from 'kysely'
import type { Config } from '../config.ts'
import { countEvents } from '../events/list.ts'
import type { AnyTable } from '../platform/postgres/table-rules.ts'
import type { RunKind } from '../platform/runs/kind.ts'
import { completeRun, holdRun, type Run, updateRun } from '../platform/runs/run.ts'
import { type RunWork, runWork } from '../platform/runs/workers.ts'
import type { Tenant } from '../platform/tenant.ts'
import { type Clock, HOUR_MS } from '../platform/time.ts'
import { EXPORT_ROWS, expireExports, exportDirectory, KEPT_HOURS } from './exports.ts'
import { countRows, type ExportedRows, eventRows, exportedRows, tableRows } from './rows.ts'
import { createTar, type TarFile } from './tar.ts'

const PROGRESS_EVERY_MS = 1_000
const FORMAT = 1
const UNFINISHED = '.part'

interface ExportDependencies {
  clock: Clock
  directory: string
  tables: readonly AnyTable[]
}

/** Writes requested exports, and deletes the files of expired ones. */
export function exportRuns({
  clock,
  config,
  writing: { tables },
}: {
  clock: Clock
  config: Pick<Config, 'dataDirectory'>
  writing: { tables: readonly AnyTable[] }
}): RunWork {
  const directory = exportDirectory(config.dataDirectory)
  return runWork(exportKind({ clock, directory, tables }), [{ atOnce: 1 }], {
    ...EXPORT_ROWS,
    evenIfClosed: true,
    isDue: (now) => sql<boolean>`file IS NOT NULL AND expires_at <= ${now}`,
    handle: (tenant, exportId) => expireExports(tenant, directory, exportId),
  })
}

export function exportKind(dependencies: ExportDependencies): RunKind<'exports'> {
  const error = "The export could not be written. The service's log says why."
  return {
    rows: EXPORT_ROWS,
    step: (run, signal) => writeExport(run, dependencies, signal),
    failure: () => ({ isFinal: true, shown: { error } }),
    failuresMax: 5,
    pauseSeconds: () => 0,
  }
}

/**
 * Writes all data of a tenant to one file. After an interruption, it restarts from the beginning. A process that has lost
 * the run may still be writing, so every attempt has its own unfinished file.
 */
async function writeExport(
  run: Run<'exports'>,
  { clock, directory, tables }: ExportDependencies,
  signal: AbortSignal,
): Promise<void> {
  const unfinished = join(directory, `${run.runId}.${run.claim}${UNFINISHED}`)
  await mkdir(directory, { recursive: true, mode: 0o700 })
  await deleteUnfinished(run, directory)
  try {
    const rows = exportedRows(tables)
    const { counts, sizeBytes } = await writeFile(run.tenant, rows, unfinished, clock(), signal, (progress) =>
      updateRun(run, { progress }),
    )
    await finishExport(run, directory, unfinished, { counts: JSON.stringify(counts), size_bytes: sizeBytes }, clock())
  } catch (error) {
    await rm(unfinished, { force: true }).catch(() => {})
    throw error
  }
}

/** Deletes the files of earlier attempts. */
async function deleteUnfinished(run: Run<'exports'>, directory: string): Promise<void> {
  await run.tenant.transaction(async (tx) => {
    // While the row is locked, because the next attempt may start at any time.
    await updateRun(run, { progress: 0 }, tx)
    const files = await readdir(directory)
    const earlier = files.filter((file) => file.startsWith(run.runId) && file.endsWith(UNFINISHED))
    for (const file of earlier) await rm(join(directory, file), { force: true })
  })
}

/** Gives the file its final name and ends the export. @throws ClaimLost */
async function finishExport(
  run: Run<'exports'>,
  directory: string,
  unfinished: string,
  written: { counts: string; size_bytes: number },
  now: Date,
): Promise<void> {
  const file = `${run.runId}.tar`
  const expires_at = new Date(now.getTime() + KEPT_HOURS * HOUR_MS)
  try {
    await run.tenant.transaction(async (tx) => {
      await completeRun(run, { ...written, progress: 1, file, expires_at }, now, tx)
      // Within the transaction, which no other attempt can overtake: the row is locked.
      await rename(unfinished, join(directory, file))
    })
  } catch (error) {
    // The file may have its final name already. It stays if the transaction was committed after all.
    const deleting = holdRun(run, run.tenant).then(() => rm(join(directory, file), { force: true }))
    await deleting.catch(() => {})
    throw error
  }
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
