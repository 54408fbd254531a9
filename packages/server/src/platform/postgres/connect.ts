import { Kysely, PostgresDialect } from 'kysely'
import pg from 'pg'

export type PostgresAddress =
  | { connectionString: string }
  | { host: string; port: number; user: string; database: string; password?: string }

/** No honest statement of the service takes longer; a runaway one must not hold a connection for ever. */
const STATEMENT_TIMEOUT_MS = 30_000

// 64-bit counts fit a double here, and dates are wanted as Date, which pg does by itself.
pg.types.setTypeParser(pg.types.builtins.INT8, Number)

export interface Postgres<Tables> {
  pool: pg.Pool
  db: Kysely<Tables>
  close(): Promise<void>
}

/** Opens a pool. Connections are made when first needed; an unreachable server shows at the first query. */
export function connectPostgres<Tables>(address: PostgresAddress, poolSize: number): Postgres<Tables> {
  const pool = new pg.Pool({
    ...address,
    max: poolSize,
    application_name: 'customer-data-service',
    statement_timeout: STATEMENT_TIMEOUT_MS,
    connectionTimeoutMillis: 10_000,
    idleTimeoutMillis: 60_000,
  })
  // A dropped idle connection is replaced at the next query; without a listener it would end the process.
  pool.on('error', () => {})
  // The same of one in use: its query fails and says so, but a socket that dies can report more than that query hears.
  pool.on('connect', (client) => client.on('error', () => {}))
  const db = new Kysely<Tables>({ dialect: new PostgresDialect({ pool }) })
  return { pool, db, close: () => db.destroy() }
}

/** Of pg itself, which gives these no code. */
const LOST_CONNECTION =
  /^Connection terminated|^timeout exceeded when trying to connect|^Client has encountered|pool after calling end/
const SYSTEM_ERRORS = [
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
 * Whether PostgreSQL was out of reach or too busy: no connection, SQLSTATE classes 08 and 57P (it is shutting down or
 * starting), 53300 (too many connections), or 57014 (a statement took longer than it may).
 */
export function isConnectionError(error: unknown): boolean {
  const {
    code = '',
    message = '',
    syscall,
    severity,
  } = error as { [Key in 'code' | 'message' | 'syscall' | 'severity']?: string }
  if (severity !== undefined) return /^(08|57P|53300|57014)/.test(code)
  return LOST_CONNECTION.test(message) || (syscall !== undefined && SYSTEM_ERRORS.includes(code))
}
