import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { existsSync } from 'node:fs'
import {
  appendFile,
  chmod,
  chown,
  copyFile,
  mkdtemp,
  open,
  readFile,
  rename,
  rm,
  stat,
  truncate,
  writeFile,
} from 'node:fs/promises'
import { dirname, join } from 'node:path'
import { text } from 'node:stream/consumers'
import { setTimeout as sleep } from 'node:timers/promises'
import pg from 'pg'
import { EmbeddedError } from './embedded-error.ts'
import { endOrphan, removeSocketDirectory, socketDirectoryPrefix } from './orphan.ts'
import { placeCluster } from './places.ts'
import { findPostgresBinaries, type PostgresBinaries } from './postgres-binaries.ts'
import { type ServerUser, serverUser } from './unprivileged-user.ts'

const ROLE = 'cds'
const DATABASE = 'cds'
/** Part of the socket's file name; nothing listens on the network. */
const PORT = 5432
const READY_WITHIN_MS = 300_000
const RESTART_AFTER_MS = 500
const LOG_BYTES_MAX = 10 * 1024 * 1024
const SAME_REASON_WITHIN_MS = 10_000

export interface EmbeddedPostgres {
  /** The directory of its data. */
  cluster: string
  /** For pg: `host` is the directory of the socket. */
  connection: { host: string; port: number; user: string; database: string }
  /** Shuts the server down cleanly and waits until it has ended. */
  stop(): Promise<void>
}

interface Options {
  dataDirectory: string
  /** More than one service needs where many share it. */
  maxConnections?: number
  /** How often the length of the log is looked at. */
  checkLogEveryMs?: number
  /** Told what a long step is doing. */
  onProgress?: (message: string) => void
}

/**
 * Runs the PostgreSQL of the npm package on the cluster in `dataDirectory`, which is made at the first start. It is
 * reached only through a socket in a directory of mode 0700, by the service's own user: there is no password.
 * The caller must hold the data directory's lock.
 * @throws EmbeddedError saying what to do.
 */
export async function startEmbeddedPostgres({
  dataDirectory,
  maxConnections = 64,
  checkLogEveryMs = 60_000,
  onProgress = () => {},
}: Options): Promise<EmbeddedPostgres> {
  const user = serverUser()
  const binaries = await findPostgresBinaries(user, onProgress)
  const cluster = await placeCluster(dataDirectory, user, onProgress)
  if (existsSync(cluster)) await requireSameVersion(cluster, binaries)
  else await createCluster(cluster, binaries, user, onProgress)
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
  /** A server that ends by itself (killed for want of memory, crashed) is started again; it recovers by itself. */
  const watch = () => {
    const again = () => {
      if (!stopping) restarting = restart()
    }
    // One that cannot even begin may have ended by now.
    if (server.exitCode !== null || server.signalCode !== null) again()
    else server.once('exit', again)
  }
  async function restart(): Promise<void> {
    // While the cause lasts, such as a full disk, one message is enough.
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

async function requireSameVersion(cluster: string, { majorVersion }: PostgresBinaries): Promise<void> {
  const version = (await readFile(join(cluster, 'PG_VERSION'), 'utf8')).trim()
  if (version === majorVersion) return
  const message = `The data in ${cluster} is of PostgreSQL ${version}, but this release brings ${majorVersion}. Start the earlier release, dump the data with pg_dump, and load it into a new data directory.`
  throw new EmbeddedError('cluster_version_mismatch', message)
}

/** Made beside its place and then renamed, so that a cluster which exists is a whole one. */
async function createCluster(
  cluster: string,
  { initdb }: PostgresBinaries,
  user: ServerUser,
  onProgress: (message: string) => void,
): Promise<void> {
  const unfinished = `${cluster}.new`
  await rm(unfinished, { recursive: true, force: true })
  const args = ['-D', unfinished, '-U', ROLE, '-E', 'UTF8', '--locale-provider=builtin', '--builtin-locale=C.UTF-8']
  args.push('--locale=C', '--data-checksums', '--auth-local=peer', '--auth-host=reject', '--no-instructions')
  try {
    const created = runToEnd(initdb, args, user)
    onProgress('creating the PostgreSQL database')
    await created
  } catch (cause) {
    const message = `PostgreSQL's data could not be created: ${(cause as Error).message}`
    throw new EmbeddedError('initdb_failed', message, { cause })
  }
  // The operating system says who is at the other end of the socket: the service itself, and nobody else, is the role.
  const serviceUser = process.getuid?.() === 0 ? 'root' : user.name
  await writeFile(join(unfinished, 'pg_hba.conf'), 'local all all peer map=service\n')
  await appendFile(join(unfinished, 'pg_ident.conf'), `service "${serviceUser}" ${ROLE}\n`)
  await rename(unfinished, cluster)
}

/** @throws Error with what the program said, unless it ends with 0. */
async function runToEnd(program: string, args: string[], user: ServerUser): Promise<void> {
  // A process group of its own: Ctrl-C in a terminal is for the service, which ends once it has started.
  const how = { ...asUser(user), env: environment(), detached: true }
  const child = spawn(program, args, { ...how, stdio: ['ignore', 'ignore', 'pipe'] })
  const [said, [code, signal]] = await Promise.all([text(child.stderr), once(child, 'exit')])
  if (code !== 0) throw new Error(said.trim() || `${program} ended with ${code ?? signal}`)
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
  // `a`: the server writes at the end of the file, also after the file was emptied.
  const log = await open(logFile, 'a', 0o600)
  try {
    // A process group of its own: Ctrl-C in a terminal must reach the service only, which then drains and stops it.
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

/** Keeps what a long log holds in a second file, in place of what that one held, and empties it. */
async function emptyLongLog(logFile: string): Promise<void> {
  const { size } = await stat(logFile).catch(() => ({ size: 0 }))
  if (size <= LOG_BYTES_MAX) return
  try {
    await copyFile(logFile, `${logFile}.1`)
  } finally {
    // On a full disk too, where there is no room for the copy.
    await truncate(logFile)
  }
}

/** For a laptop with SSD and little memory to spare; durability is never traded. */
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
  // Details name values of rows, such as e-mail addresses. The service gets them with the error.
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
  let told = false
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
    if (!told && Date.now() - startedAt > 3_000) {
      told = true
      onProgress('waiting for PostgreSQL to recover from an unclean stop')
    }
    await sleep(15)
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
  // The connection may break while the server starts; that shows at the query.
  client.on('error', () => {})
  try {
    await client.connect()
    const { rowCount } = await client.query('SELECT FROM pg_database WHERE datname = $1', [DATABASE])
    if (rowCount === 0) await client.query(`CREATE DATABASE ${DATABASE}`)
  } finally {
    await client.end().catch(() => {})
  }
}

/** SIGINT is PostgreSQL's fast shutdown: open transactions are rolled back, everything is written. */
async function end(server: ChildProcess): Promise<void> {
  if (server.exitCode !== null || server.signalCode !== null || server.pid === undefined) return
  const exited = new Promise<void>((resolve) => server.once('exit', () => resolve()))
  server.kill('SIGINT')
  // One that was suspended acts on no other signal.
  server.kill('SIGCONT')
  const insist = setTimeout(() => server.kill('SIGQUIT'), 30_000)
  await exited
  clearTimeout(insist)
}

function asUser(user: ServerUser) {
  return user.isOther ? { uid: user.uid, gid: user.gid, cwd: '/' } : { cwd: '/' }
}

/** Nothing of the caller's environment (PGDATA, locale, LD_PRELOAD) may change how the server runs. */
function environment(): NodeJS.ProcessEnv {
  return { PATH: '/usr/bin:/bin', LC_ALL: 'C', TZ: 'UTC' }
}
