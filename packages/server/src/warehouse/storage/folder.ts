import { mkdir, open, readdir, realpath, rename, rm } from 'node:fs/promises'
import { dirname, join, sep } from 'node:path'
import { isDiskFull } from '../../platform/clickhouse/refusal.ts'
import { newId } from '../../platform/ids.ts'
import { type Storage, StorageError } from './storage.ts'

/**
 * A folder on the server: `directory/TENANT_ID/prefix`. A file gets its name only once it is complete and on disk.
 */
export function openFolder(directory: string, tenantId: string, prefix: string): Storage {
  const root = join(directory, tenantId)
  const placeOf = (path: string) => {
    const place = join(root, prefix, path)
    if (!place.startsWith(root + sep)) throw new Error('A path leaves the folder of its tenant.')
    return place
  }
  return {
    write: async (path, bytes, _contentType, signal) => {
      const place = placeOf(path)
      const unfinished = join(dirname(place), `.${newId()}.part`)
      try {
        await mkdir(dirname(place), { recursive: true })
        await requireWithin(directory, tenantId, dirname(place))
        const file = await open(unfinished, 'wx')
        try {
          await file.writeFile(bytes, { signal })
          await file.sync()
        } finally {
          await file.close()
        }
        await rename(unfinished, place)
        await syncDirectory(dirname(place))
      } catch (error) {
        await rm(unfinished, { force: true }).catch(() => {})
        throw signal?.aborted ? signal.reason : problemOf(error)
      }
    },
    remove: async (path) => {
      await rm(placeOf(path), { force: true }).catch((error) => {
        throw problemOf(error)
      })
    },
  }
}

/** Deletes the folder of a tenant that is being deleted. @returns how many files it had. */
export async function deleteFolder(directory: string, tenantId: string): Promise<number> {
  const root = join(directory, tenantId)
  const entries = await readdir(root, { recursive: true, withFileTypes: true }).catch(() => [])
  await rm(root, { recursive: true, force: true })
  return entries.filter((entry) => entry.isFile()).length
}

/** Symbolic links in a tenant's folder must not point outside it. The operator's own directory may be a symbolic link. */
async function requireWithin(directory: string, tenantId: string, place: string): Promise<void> {
  const [root, real] = [join(await realpath(directory), tenantId), await realpath(place)]
  if (real !== root && !real.startsWith(root + sep)) {
    throw new StorageError(
      'A symbolic link points outside the folder of this workspace. Ask the operator to remove it.',
    )
  }
}

/** Otherwise a power failure could undo the renaming of a file that a manifest names. */
async function syncDirectory(path: string): Promise<void> {
  const directory = await open(path)
  try {
    await directory.sync()
  } finally {
    await directory.close()
  }
}

function problemOf(error: unknown): unknown {
  const { code } = error as NodeJS.ErrnoException
  if (error instanceof StorageError || code === undefined) return error
  if (code === 'ENOSPC' || isDiskFull(error)) return new StorageError('The disk of the folder is full.', error)
  const message = `Writing to the folder failed (${code}). Ask the operator to check CDS_WAREHOUSE_DIR and its permissions.`
  return new StorageError(message, error)
}
