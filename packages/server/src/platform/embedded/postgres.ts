import { type ChildProcess, spawn } from 'node:child_process'
import { chmod, chown, copyFile, mkdtemp, open, readFile, stat, truncate } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import pg from 'pg'
import { MINUTE_MS } from '../time.ts'
import { prepareCluster, ROLE } from './cluster.ts'
import { EmbeddedError } from './embedded-error.ts'
import { endOrphan, removeSocketDirectory, socketDirectoryPrefix } from './orphan.ts'
import { placeCluster } from './places.ts'
import { findPostgresBinaries, type PostgresBinaries } from './postgres-binaries.ts'
import { asUser, environment, type ServerUser, serverUser } from './unprivileged-user.ts'

const DATABASE = 'cds'
/** Only part of the socket's file name; nothing listens on the network. */
const PORT = 5432
const READY_WITHIN_MS = 5 * MINUTE_MS
const READY_CHECK_EVERY_MS = 15
/** When a slow start is announced. */
const QUIET_START_MS = 3_000
/** After this, the server is told to stop without waiting for its connections. */
const FAST_SHUTDOWN_MS = 30_000
const RESTART_AFTER_MS = 500
const LOG_BYTES_MAX = 10 * 1024 * 1024
const SAME_REASON_WITHIN_MS = 10_000

export interface EmbeddedPostgres {
  /** The data directory of the server. */
  cluster: string
  /** For pg: `host` is the directory of the socket. */
  connection: { host: string; port: number; user: string; database: string }
  /** Shuts the server down cleanly and waits for its end. */
  stop(): Promise<void>
}

interface Options {
  dataDirectory: string
  /** More than one service needs, for when many share it. */
  maxConnections?: number
  /** How often the size of the log is checked. */
  checkLogEveryMs?: number
  /** Called with a description of each long step. */
  onProgress?: (message: string) => void
}

/**
 * Runs the PostgreSQL of the npm package on the cluster in `dataDirectory`, which the first start creates. Only the
 * service's own user can connect, through a socket in a directory of mode 0700, without a password. The caller must
 * have locked the data directory.
 * @throws EmbeddedError saying what to do.
 */
export async function startEmbeddedPostgres({
  dataDirectory,
  maxConnections = 64,
  checkLogEveryMs = MINUTE_MS,
  onProgress = () => {},
}: Options): Promise<EmbeddedPostgres> {
  const user = serverUser()
  const binaries = await findPostgresBinaries(user, onProgress)
  const cluster = await placeCluster(dataDirectory, user, onProgress)
  await prepareCluster(cluster, binaries, user, onProgress)
  await endOrphan(cluster, user, onProgress)

  const socketDirectory = await mkdtemp(await socketDirectoryPrefix(cluster))
  await chmod(socketDirectory, 0o700)
  if (user.isOther) await chown(socketDirectory, user.uid, user.gid)
  const logFile = join(dirname(cluster), 'postgres.log')
  const how = { cluster, maxConnections, binaries, user, socketDirectory, logFile }
  await emptyLongLog(logFile)
  let server = await launch(how)
  const checkLog = () =>
    emptyLongLog(logFile).catch((error) => onProgress(`${logFile} could not be shortened: ${error}`))
  const checkingLog = setInterval(checkLog, checkLogEveryMs).unref()
  let startedAt = 0
  let stopping = false
  let restarting: Promise<void> = Promise.resolve()
  const connection = { host: socketDirectory, port: PORT, user: ROLE, database: DATABASE }
  const stop = async () => {
    stopping = true
    clearInterval(checkingLog)
    await restarting
    await end(server)
    await removeSocketDirectory(socketDirectory)
  }
  try {
    await waitUntilReady(server, connection, logFile, onProgress)
  } catch (error) {
    await stop()
    throw error
  }
  /** Restarts a server that ends unexpectedly (killed for lack of memory, crashed); it recovers its data itself. */
  const watch = () => {
    const again = () => {
      if (!stopping) restarting = restart()
    }
    // A server that cannot start may already have ended.
    if (server.exitCode !== null || server.signalCode !== null) again()
    else server.once('exit', again)
  }
  async function restart(): Promise<void> {
    // While the cause persists, such as a full disk, one message is enough.
    if (Date.now() - startedAt > SAME_REASON_WITHIN_MS) {
      onProgress(`PostgreSQL ended unexpectedly and is being restarted; ${logFile} says why`)
    }
    await sleep(RESTART_AFTER_MS)
    if (stopping) return
    startedAt = Date.now()
    server = await launch(how)
    watch()
  }
  watch()
  return { cluster, connection, stop }
}

interface Launch {
  cluster: string
  maxConnections: number
  binaries: PostgresBinaries
  user: ServerUser
  socketDirectory: string
  logFile: string
}

async function launch(how: Launch): Promise<ChildProcess> {
  const { cluster, maxConnections, binaries, user, socketDirectory, logFile } = how
  const place = { unix_socket_directories: socketDirectory, port: PORT, listen_addresses: '' }
  const settings = { ...SETTINGS, ...place, max_connections: maxConnections }
  const args = ['-D', cluster, ...Object.entries(settings).flatMap(([name, value]) => ['-c', `${name}=${value}`])]
  // `a`: the server appends, also after the file was truncated.
  const log = await open(logFile, 'a', 0o600)
  try {
    // A separate process group: Ctrl-C in a terminal must reach only the service, which then drains and stops it.
    return spawn(binaries.postgres, args, {
      ...asUser(user),
      env: environment(),
      detached: true,
      stdio: ['ignore', log.fd, log.fd],
    })
  } finally {
    await log.close()
  }
}

/** Copies a long log over a second file, and truncates it. */
async function emptyLongLog(logFile: string): Promise<void> {
  const { size } = await stat(logFile).catch(() => ({ size: 0 }))
  if (size <= LOG_BYTES_MAX) return
  try {
    await copyFile(logFile, `${logFile}.1`)
  } finally {
    // Also on a full disk, without space for the copy.
    await truncate(logFile)
  }
}

/** For a laptop with an SSD and little free memory; durability is never reduced. */
const SETTINGS = {
  shared_buffers: '64MB',
  effective_cache_size: '1GB',
  work_mem: '16MB',
  maintenance_work_mem: '128MB',
  random_page_cost: 1.1,
  jit: 'off',
  wal_compression: 'on',
  max_wal_size: '2GB',
  checkpoint_completion_target: 0.9,
  autovacuum_naptime: '20s',
  log_min_messages: 'warning',
  // Details contain values of rows, such as email addresses. The service gets them with the error.
  log_error_verbosity: 'terse',
  timezone: 'UTC',
}

async function waitUntilReady(
  server: ChildProcess,
  connection: EmbeddedPostgres['connection'],
  logFile: string,
  onProgress: (message: string) => void,
): Promise<void> {
  const startedAt = Date.now()
  let failure: unknown
  let isAnnounced = false
  server.once('error', (error) => {
    failure = error
  })
  while (Date.now() - startedAt < READY_WITHIN_MS) {
    if (failure || server.exitCode !== null) break
    try {
      await createDatabase({ ...connection, database: 'postgres' })
      return
    } catch (error) {
      failure = isStarting(error) ? undefined : error
    }
    if (!isAnnounced && Date.now() - startedAt > QUIET_START_MS) {
      isAnnounced = true
      onProgress('waiting for PostgreSQL to recover from an unclean shutdown')
    }
    await sleep(READY_CHECK_EVERY_MS)
  }
  const tail = (await readFile(logFile, 'utf8').catch(() => '')).split('\n').slice(-6).join('\n')
  throw new EmbeddedError('postgres_does_not_start', `PostgreSQL did not start. The end of ${logFile}:\n${tail}`, {
    cause: failure,
  })
}

/** No socket yet, or a server that says it is still starting up (57P03). */
function isStarting(error: unknown): boolean {
  const { code } = error as { code?: string }
  return code === 'ENOENT' || code === 'ECONNREFUSED' || code === '57P03'
}

async function createDatabase(connection: EmbeddedPostgres['connection']): Promise<void> {
  const client = new pg.Client(connection)
  // The connection may break while the server starts; the query then fails.
  client.on('error', () => {})
  try {
    await client.connect()
    const { rowCount } = await client.query('SELECT FROM pg_database WHERE datname = $1', [DATABASE])
    if (rowCount === 0) await client.query(`CREATE DATABASE ${DATABASE}`)
  } finally {
    await client.end().catch(() => {})
  }
}

/** SIGINT is PostgreSQL's fast shutdown: it rolls back open transactions and writes everything. */
async function end(server: ChildProcess): Promise<void> {
  if (server.exitCode !== null || server.signalCode !== null || server.pid === undefined) return
  const exited = new Promise<void>((resolve) => server.once('exit', () => resolve()))
  server.kill('SIGINT')
  // A suspended process reacts to no other signal.
  server.kill('SIGCONT')
  const insist = setTimeout(() => server.kill('SIGQUIT'), FAST_SHUTDOWN_MS)
  await exited
  clearTimeout(insist)
}
