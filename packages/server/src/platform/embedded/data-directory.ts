import { existsSync } from 'node:fs'
import { access, chmod, chown, constants, mkdir, readdir, stat, statfs } from 'node:fs/promises'
import { createServer, type Server } from 'node:net'
import { userInfo } from 'node:os'
import { dirname, join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import { EmbeddedError } from './embedded-error.ts'
import type { ServerUser } from './unprivileged-user.ts'

/** File in the data directory that the process using the directory locks. */
const LOCK_FILE = 'lock'
const SQLITE_BUSY = 5
const STICKY = 0o1000
/** Neither database starts with less. */
const FULL_BYTES = 2_000_000

export interface DataDirectoryLock {
  release(): Promise<void>
}

/**
 * Opens the data directory for this process alone: creates it if it is missing, locks it, and makes it and everything
 * inside private from other users of the machine. @param visitor a user who must be able to traverse it to their own
 * directory inside. @throws EmbeddedError saying what to do.
 */
export async function openDataDirectory(directory: string, visitor: ServerUser | null): Promise<DataDirectoryLock> {
  try {
    await makeDirectory(directory)
    await access(directory, constants.W_OK)
    const lock = await lockDataDirectory(directory)
    await closeToOthers(directory, visitor).catch(async (error: unknown) => {
      await lock.release()
      throw error
    })
    return lock
  } catch (error) {
    throw await explainFileError(error, directory)
  }
}

/** Creates it, and missing directories above it, so that other users can traverse them, whatever the umask. */
async function makeDirectory(directory: string): Promise<void> {
  const first = await mkdir(directory, { recursive: true }).catch(async (error: unknown) => {
    // On a read-only file system Node reports a missing file; the nearest existing directory shows the real cause.
    let path = dirname(directory)
    while (!existsSync(path)) path = dirname(path)
    await access(path, constants.W_OK)
    throw error
  })
  if (first === undefined) return
  for (let path = directory; path.startsWith(first); path = dirname(path)) await chmod(path, 0o711)
}

/**
 * Makes this process the only one that uses a directory, until it releases the lock or ends in any way. The kernel
 * locks a file, which works across containers that share a volume. If the file system ignores such locks, a listening
 * socket still excludes processes of the same network namespace. @throws EmbeddedError `data_directory_in_use`.
 */
export async function lockDataDirectory(directory: string): Promise<DataDirectoryLock> {
  const file = await lockFile(join(directory, LOCK_FILE))
  const server = file && process.platform === 'linux' ? await listen(`\0cds-data-${await identityOf(directory)}`) : null
  if (!file || (process.platform === 'linux' && !server)) {
    file?.close()
    const message = `The data directory ${directory} is in use by another process of the service. Stop that process first, or set CDS_DATA_DIR to another directory.`
    throw new EmbeddedError('data_directory_in_use', message)
  }
  // The lock must not keep the process running.
  server?.unref()
  return {
    release: async () => {
      file.close()
      await new Promise<void>((resolve) => (server ? server.close(() => resolve()) : resolve()))
    },
  }
}

/**
 * Node cannot lock files, but SQLite locks its database (with fcntl). Nothing is ever written to it.
 * @returns null if another process has the lock.
 */
async function lockFile(path: string): Promise<DatabaseSync | null> {
  // SQLite does not say why it cannot open a file.
  if (existsSync(path)) await access(path, constants.W_OK)
  const file = new DatabaseSync(path, { timeout: 0 })
  try {
    file.exec('PRAGMA journal_mode = MEMORY; BEGIN EXCLUSIVE')
    await restrict(path, 0o600)
    return file
  } catch (error) {
    file.close()
    if ((error as { errcode?: number }).errcode === SQLITE_BUSY) return null
    throw error
  }
}

/** @returns null if another process listens on the address. */
function listen(path: string): Promise<Server | null> {
  return new Promise((resolve, reject) => {
    const server = createServer((socket) => socket.destroy())
    server.once('error', (error: NodeJS.ErrnoException) => {
      if (error.code === 'EADDRINUSE') resolve(null)
      else reject(error)
    })
    server.listen({ path, exclusive: true }, () => resolve(server))
  })
}

/**
 * The service's files directly in the data directory, except PostgreSQL's directory, which belongs to another user.
 */
const OWN_FILES = ['secret-key', 'postgres-location', 'demo.json']
const OWN_DIRECTORIES = ['clickhouse', 'exports']

/** Earlier releases left the modes to the umask. A private directory protects its contents, whatever their modes. */
async function closeToOthers(directory: string, visitor: ServerUser | null): Promise<void> {
  const entries = await readdir(directory)
  for (const name of OWN_FILES.filter((own) => entries.includes(own))) await restrict(join(directory, name), 0o600)
  for (const name of OWN_DIRECTORIES.filter((own) => entries.includes(own))) {
    await access(join(directory, name), constants.W_OK)
    await restrict(join(directory, name), 0o700)
  }
  const { mode, uid } = await stat(directory)
  const isOpen = (mode & 0o077) !== 0
  // The service must not change the mode of the root directory or of a shared one such as /tmp.
  const isOthers = (mode & STICKY) !== 0 || dirname(directory) === directory
  if (!isOpen || isOthers) return
  if (!visitor?.isOther) return restrict(directory, 0o700)
  await chown(directory, uid, visitor.gid)
  await chmod(directory, 0o710)
}

/** A volume may belong to root and be writable by the service's group: only its owner can change its mode. */
async function restrict(path: string, mode: number): Promise<void> {
  const self = process.getuid?.()
  if (self === 0 || (await stat(path)).uid === self) await chmod(path, mode)
}

/** Turns file-system errors at the start into errors that say what to do; other errors are unchanged. */
export async function explainFileError(error: unknown, directory: string): Promise<unknown> {
  const isExplained = error instanceof EmbeddedError && error.code.startsWith('data_directory')
  const message = isExplained ? null : await adviceFor(error as NodeJS.ErrnoException, directory)
  return message === null ? error : new EmbeddedError('data_directory_unusable', message, { cause: error })
}

const ANOTHER = 'set CDS_DATA_DIR to another directory'

async function adviceFor({ code, message, path }: NodeJS.ErrnoException, directory: string): Promise<string | null> {
  // The databases report it in many ways, or not at all.
  if (code === 'ENOSPC' || code === 'EDQUOT' || (await isFull(directory))) {
    return `The disk of the data directory ${directory} is full. Free some space and start again, or ${ANOTHER}.`
  }
  switch (code) {
    case 'EROFS':
      return `The data directory ${directory} is on a read-only file system. Mount it writable, or ${ANOTHER}.`
    case 'EACCES':
    case 'EPERM':
      return adviceForOwner(path?.startsWith(directory) ? path : directory, directory)
    case 'ENOTDIR':
    case 'EEXIST':
      return `The data directory ${directory} is not a directory. Remove the file, or ${ANOTHER}.`
    case 'ERR_SQLITE_ERROR':
      return `The file ${join(directory, LOCK_FILE)} cannot be locked (${message}). Keep the data directory on a local disk, or on a file system that supports locks: ${ANOTHER}.`
    default:
      return null
  }
}

async function isFull(directory: string): Promise<boolean> {
  const free = await statfs(directory).then(
    ({ bavail, bsize }) => bavail * bsize,
    () => Number.POSITIVE_INFINITY,
  )
  return free < FULL_BYTES
}

async function adviceForOwner(refused: string, directory: string): Promise<string> {
  const { username } = userInfo()
  const owner = await stat(refused).then(
    ({ uid }) => `, which belongs to the user with the id ${uid}`,
    () => '',
  )
  return `The user ${username} may not write to ${refused}${owner}. Start the service as its owner, give the whole data directory to ${username} (chown -R ${username} ${directory}), or ${ANOTHER}.`
}

/**
 * Names a directory by its device and inode, which are the same through every path and in every container, but
 * different for a copy. Everything outside a data directory that belongs to it has this name, so that no service uses
 * another's.
 */
export async function identityOf(directory: string): Promise<string> {
  const { dev, ino } = await stat(directory, { bigint: true })
  return `${dev.toString(36)}-${ino.toString(36)}`
}
