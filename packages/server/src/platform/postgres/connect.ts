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
    connectionTimeoutMillis: 5_000,
    idleTimeoutMillis: 60_000,
  })
  // A dropped idle connection is replaced at the next query; without a listener it would end the process.
  pool.on('error', () => {})
  const db = new Kysely<Tables>({ dialect: new PostgresDialect({ pool }) })
  return { pool, db, close: () => db.destroy() }
}

/** Whether PostgreSQL was out of reach: SQLSTATE classes 08 and 57P, too many connections, or no SQLSTATE at all. */
export function isConnectionError(error: Error & { code?: string; severity?: string }): boolean {
  return error.severity === undefined || /^(08|57P|53300)/.test(error.code ?? '')
}
