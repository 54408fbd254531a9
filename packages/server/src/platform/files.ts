import { readdir, rm } from 'node:fs/promises'
import { join } from 'node:path'

/** Deletes the files in a directory whose names start with one of some ids. @returns how many. */
export async function deleteStartingWith(directory: string, ids: readonly string[]): Promise<number> {
  const known = new Set(ids)
  const names = await readdir(directory).catch(() => [])
  const found = names.filter((name) => known.has(name.split('.')[0] ?? ''))
  for (const name of found) await rm(join(directory, name), { force: true })
  return found.length
}
