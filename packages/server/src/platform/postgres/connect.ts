import { Kysely, PostgresDialect } from 'kysely'
import pg from 'pg'
import { type ServiceError, storageFull, storeUnavailable } from '../errors.ts'
import { createLog, type Logger } from '../log.ts'
import type { PostgresAddress } from './address.ts'
import { boundQueries } from './bounded-query.ts'
import { watchPostgres } from './silence.ts'

/** No honest statement of the service takes longer; a runaway one must not hold a connection for ever. */
const STATEMENT_TIMEOUT_MS = 30_000
/** For a place in the pool and, where that is needed, a new connection. */
const CONNECT_WITHIN_MS = 8_000

// 64-bit counts fit a double here, and dates are wanted as Date, which pg does by itself.
pg.types.setTypeParser(pg.types.builtins.INT8, Number)

export interface Postgres<Tables> {
  pool: pg.Pool
  db: Kysely<Tables>
  /** For connections beside the pool, which break with it when the server falls silent. */
  address: PostgresAddress
  close(): Promise<void>
}

/** Opens a pool. Connections are made when first needed; an unreachable server shows at the first query. */
export function connectPostgres<Tables>(
  server: PostgresAddress,
  poolSize: number,
  log: Logger = createLog('silent'),
): Postgres<Tables> {
  const { address, stop } = watchPostgres(server, log)
  const { pool, db } = openPool<Tables>(address, poolSize)
  // Connections that a silent server would not let go end with the watch.
  const close = () => db.destroy().finally(stop)
  return { pool, db, address, close }
}

/**
 * Opens another pool for a server that is watched already. @param address of `connectPostgres`. @param idleInTransactionMs
 * how long a transaction may do nothing before the server ends it; without it, for ever.
 */
export function openPool<Tables>(
  address: PostgresAddress,
  poolSize: number,
  idleInTransactionMs = 0,
): Pick<Postgres<Tables>, 'pool' | 'db'> {
  const pool = new pg.Pool({
    ...address,
    max: poolSize,
    application_name: 'customer-data-service',
    statement_timeout: STATEMENT_TIMEOUT_MS,
    idle_in_transaction_session_timeout: idleInTransactionMs,
    connectionTimeoutMillis: CONNECT_WITHIN_MS,
    keepAlive: true,
    idleTimeoutMillis: 60_000,
  })
  // A dropped idle connection is replaced at the next query; without a listener it would end the process.
  pool.on('error', () => {})
  // The same of one in use: its query fails and says so, but a socket that dies can report more than that query hears.
  pool.on('connect', (client) => {
    client.on('error', () => {})
    boundQueries(client)
  })
  return { pool, db: new Kysely<Tables>({ dialect: new PostgresDialect({ pool }) }) }
}

/** Of pg itself, which gives these no code. */
const LOST_CONNECTION =
  /^Connection terminated|^timeout exceeded when trying to connect|^Client has encountered|pool after calling end/
const DISK_FULL = '53100'
const SYSTEM_ERRORS = [
  'EAGAIN',
  'ECONNREFUSED',
  'ECONNRESET',
  'ENOENT',
  'EPIPE',
  'ETIMEDOUT',
  'EHOSTUNREACH',
  'ENOTFOUND',
  'EAI_AGAIN',
]

/**
 * The 503 for an error that says PostgreSQL cannot serve at the moment: no connection, SQLSTATE classes 08 and 57P (it is
 * shutting down or starting), class 53 (disk full, too many connections, no memory), or 57014 (a statement took longer
 * than it may). null for any other error.
 */
export function asUnavailable(error: unknown): ServiceError | null {
  const {
    code = '',
    message = '',
    syscall,
    severity,
  } = error as { [Key in 'code' | 'message' | 'syscall' | 'severity']?: string }
  if (severity !== undefined) {
    if (code === DISK_FULL) return storageFull('PostgreSQL', error)
    return /^(08|57P|53|57014)/.test(code) ? storeUnavailable('PostgreSQL', error) : null
  }
  const isLost = LOST_CONNECTION.test(message) || (syscall !== undefined && SYSTEM_ERRORS.includes(code))
  return isLost ? storeUnavailable('PostgreSQL', error) : null
}

/** More than PostgreSQL may keep in memory here, so it writes to its disk, which fails when the disk is full. */
const PROBE = "SET work_mem = '64kB'; SELECT count(*) FROM generate_series(1, 10000)"

/**
 * Whether PostgreSQL takes a new connection and has room to write. Pooled connections outlive the socket that they
 * were opened through, so they prove nothing.
 */
export async function pingPostgres(address: PostgresAddress, withinMs: number): Promise<void> {
  const client = new pg.Client({
    ...address,
    application_name: 'customer-data-service readiness',
    connectionTimeoutMillis: withinMs,
    statement_timeout: withinMs,
  })
  client.on('error', () => {})
  try {
    await client.connect()
    await client.query(PROBE)
  } catch (error) {
    throw asUnavailable(error) ?? error
  } finally {
    await client.end().catch(() => {})
  }
}
