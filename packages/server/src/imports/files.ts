import { mkdir, readdir, rm, stat } from 'node:fs/promises'
import { join, resolve } from 'node:path'
import { HOUR_MS } from '../platform/time.ts'

/** How long a file is kept, and an import can be undone: from the upload, and again from the end of the import. */
export const KEPT_DAYS = 7
export const FILE_BYTES_MAX = 500_000_000
const UNFINISHED = '.part'
/** No upload takes this long, so an older unfinished file belongs to a process that died. */
const ABANDONED_MS = 6 * HOUR_MS

/** The directory of the uploaded files, beside those of the databases. */
export function importDirectory(dataDirectory: string): string {
  return resolve(dataDirectory, 'imports')
}

/** Where an import's file is. The id is a UUID, so the path stays in the directory. */
export function fileOf(directory: string, importId: string): string {
  return join(directory, `${importId}.csv`)
}

/** Where a file is while it is being uploaded. */
export async function unfinishedFile(directory: string, importId: string): Promise<string> {
  await mkdir(directory, { recursive: true, mode: 0o700 })
  return `${fileOf(directory, importId)}${UNFINISHED}`
}

export async function deleteFile(path: string): Promise<void> {
  await rm(path, { force: true })
}

/** Deletes what uploads left behind whose process died. */
export async function deleteAbandonedFiles(directory: string, now: number): Promise<void> {
  const names = await readdir(directory).catch(() => [])
  for (const name of names.filter((each) => each.endsWith(UNFINISHED))) {
    const path = join(directory, name)
    const found = await stat(path).catch(() => null)
    if (found && now - found.mtimeMs > ABANDONED_MS) await deleteFile(path)
  }
}
