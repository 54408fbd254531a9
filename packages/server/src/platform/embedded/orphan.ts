import { execFile } from 'node:child_process'
import { lstat, readdir, readFile, rm, rmdir } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { promisify } from 'node:util'
import { identityOf } from './data-directory.ts'
import { EmbeddedError } from './embedded-error.ts'
import type { ServerUser } from './unprivileged-user.ts'

const FAST_SHUTDOWN_MS = 20_000
const IMMEDIATE_SHUTDOWN_MS = 10_000
const CHECK_EVERY_MS = 20

/** A socket's path is limited to about 100 bytes, so its directory is never in the data directory. */
const SOCKET_PARENT = tmpdir().length > 50 ? '/tmp' : tmpdir()

/**
 * The prefix of the paths of a cluster's socket directories. The server's command line contains it, so it also
 * distinguishes this cluster's server from a copy's.
 */
export async function socketDirectoryPrefix(cluster: string): Promise<string> {
  return join(SOCKET_PARENT, `cds-postgres-${await identityOf(cluster)}-`)
}

/**
 * Stops a server that a killed service left running on this cluster, and removes its files. The caller has locked the
 * data directory, so no running service owns that server. It is shut down instead of reused, so that every start takes
 * the same path, with this version's settings.
 *
 * The pid file alone proves nothing: in a copy of a data directory it names the original's server, and after a crash of
 * the machine its process id may be any program's.
 */
export async function endOrphan(
  cluster: string,
  user: ServerUser,
  onProgress: (message: string) => void,
): Promise<void> {
  const pidFile = join(cluster, 'postmaster.pid')
  const pid = Number((await readFile(pidFile, 'utf8').catch(() => '')).split('\n', 1)[0])
  const prefix = await socketDirectoryPrefix(cluster)
  if (Number.isInteger(pid) && pid > 1 && (await isServer(pid, prefix))) {
    onProgress('stopping a PostgreSQL left running by an earlier run')
    await endServer(pid, prefix)
  }
  await removeSocketDirectories(prefix, user)
  await rm(pidFile, { force: true })
}

async function endServer(pid: number, prefix: string): Promise<void> {
  process.kill(pid, 'SIGINT')
  // A suspended process reacts to no other signal.
  process.kill(pid, 'SIGCONT')
  if (await isGone(pid, prefix, FAST_SHUTDOWN_MS)) return
  process.kill(pid, 'SIGQUIT')
  if (await isGone(pid, prefix, IMMEDIATE_SHUTDOWN_MS)) return
  throw new EmbeddedError(
    'postgres_does_not_stop',
    `PostgreSQL of an earlier run (pid ${pid}) does not stop. Kill it and start again.`,
  )
}

async function isGone(pid: number, prefix: string, withinMs: number): Promise<boolean> {
  const deadline = Date.now() + withinMs
  while (Date.now() < deadline) {
    if (!(await isServer(pid, prefix))) return true
    await sleep(CHECK_EVERY_MS)
  }
  return false
}

/** Whether a process is the server started with a socket of this prefix. */
async function isServer(pid: number, prefix: string): Promise<boolean> {
  return (await commandLineOf(pid)).includes(`unix_socket_directories=${prefix}`)
}

async function commandLineOf(pid: number): Promise<string> {
  if (process.platform === 'linux') return readFile(`/proc/${pid}/cmdline`, 'utf8').catch(() => '')
  const { stdout } = await promisify(execFile)('ps', ['-ww', '-o', 'command=', '-p', String(pid)]).catch(() => ({
    stdout: '',
  }))
  return stdout
}

/** Removes only the server's two files, and leaves everything else in the directory. */
async function removeSocketDirectories(prefix: string, user: ServerUser): Promise<void> {
  const directories = (await readdir(SOCKET_PARENT)).map((name) => join(SOCKET_PARENT, name))
  for (const directory of directories.filter((path) => path.startsWith(prefix))) {
    const { uid } = await lstat(directory)
    if (uid === user.uid) await removeSocketDirectory(directory)
  }
}

/** @param directory of a server that has ended. */
export async function removeSocketDirectory(directory: string): Promise<void> {
  for (const name of ['.s.PGSQL.5432', '.s.PGSQL.5432.lock']) await rm(join(directory, name), { force: true })
  await rmdir(directory).catch(() => {})
}
