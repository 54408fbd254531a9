import { readFile, rm } from 'node:fs/promises'
import { basename, join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { EmbeddedError } from './embedded-error.ts'

/** A socket's directory is made for one run; its name starts with this. */
export const SOCKET_DIRECTORY_PREFIX = 'cds-postgres-'
/** Where PostgreSQL's pid file says the socket is. */
const SOCKET_DIRECTORY_LINE = 4
const FAST_SHUTDOWN_MS = 20_000
const IMMEDIATE_SHUTDOWN_MS = 10_000

/**
 * Ends a server that a killed service left running on this cluster, and removes a pid file whose process is gone. The
 * caller holds the data directory's lock, so no living service owns that server. It is shut down rather than taken
 * over: then every start goes the same way, with this version's settings.
 */
export async function endOrphan(cluster: string, onProgress: (message: string) => void): Promise<void> {
  const pidFile = join(cluster, 'postmaster.pid')
  const lines = (await readFile(pidFile, 'utf8').catch(() => '')).split('\n')
  const pid = Number(lines[0])
  if (!Number.isInteger(pid) || pid <= 1) return
  // What the server itself would have removed had its service stopped it.
  const removeTraces = async () => {
    const socketDirectory = lines[SOCKET_DIRECTORY_LINE] ?? ''
    const isOurs = basename(socketDirectory).startsWith(SOCKET_DIRECTORY_PREFIX)
    if (isOurs) await rm(socketDirectory, { recursive: true, force: true })
    await rm(pidFile, { force: true })
  }
  // After a crash of the machine the number may be another program's.
  if (!(await isServerOf(pid, cluster))) return removeTraces()
  onProgress('stopping the PostgreSQL that an earlier run left behind')
  process.kill(pid, 'SIGINT')
  if (await isGone(pid, cluster, FAST_SHUTDOWN_MS)) return removeTraces()
  process.kill(pid, 'SIGQUIT')
  if (await isGone(pid, cluster, IMMEDIATE_SHUTDOWN_MS)) return removeTraces()
  throw new EmbeddedError(
    'postgres_does_not_stop',
    `A PostgreSQL of an earlier run (pid ${pid}) does not stop. End it.`,
  )
}

async function isGone(pid: number, cluster: string, withinMs: number): Promise<boolean> {
  const deadline = Date.now() + withinMs
  while (Date.now() < deadline) {
    if (!(await isServerOf(pid, cluster))) return true
    await sleep(20)
  }
  return false
}

/** Whether a process is the PostgreSQL server of this cluster, and not another program with its old number. */
async function isServerOf(pid: number, cluster: string): Promise<boolean> {
  try {
    process.kill(pid, 0)
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ESRCH') return false
  }
  if (process.platform !== 'linux') return true
  const commandLine = await readFile(`/proc/${pid}/cmdline`, 'utf8').catch(() => '')
  return commandLine.split('\0').includes(cluster)
}
