import { Kysely, PostgresDialect } from 'kysely'
import pg from 'pg'
import { createLog, type Logger } from '../log.ts'
import { MINUTE_MS } from '../time.ts'
import type { PostgresAddress } from './address.ts'
import { wrapQueries } from './client-queries.ts'
import { createPreparedStatements, PLAN_ANEW } from './prepared-statements.ts'
import { watchPostgres } from './silence.ts'
import { asUnavailable, NotingClient } from './unavailable.ts'

/** No legitimate statement takes longer; a runaway one must not occupy a connection forever. */
const STATEMENT_TIMEOUT_MS = 30_000
/** The limit for waiting for the pool and, if necessary, for a new connection. */
export const CONNECT_WITHIN_MS = 8_000

// 64-bit counts fit a double here; pg itself returns dates as Date.
pg.types.setTypeParser(pg.types.builtins.INT8, Number)

export interface Postgres<Tables> {
  pool: pg.Pool
  db: Kysely<Tables>
  /** For connections outside the pool, which break with it when the server stops responding. */
  address: PostgresAddress
  close(): Promise<void>
}

/**
 * Opens a pool. Connections are opened when first needed; if the server is unreachable, the first query fails.
 * @param silentAfterMs how long the server may send nothing before its connections break.
 */
export function connectPostgres<Tables>(
  server: PostgresAddress,
  poolSize: number,
  log: Logger = createLog('silent'),
  silentAfterMs?: number,
): Postgres<Tables> {
  const { address, stop } = watchPostgres(server, log, silentAfterMs)
  const { pool, db } = openPool<Tables>(address, poolSize)
  // Stopping the watch closes connections to a server that does not respond.
  const close = () => db.destroy().finally(stop)
  return { pool, db, address, close }
}

/**
 * Opens another pool for a server that is already watched. @param address of `connectPostgres`. @param
 * idleInTransactionMs how long a transaction may be idle before the server ends it; default: forever.
 */
export function openPool<Tables>(
  address: PostgresAddress,
  poolSize: number,
  idleInTransactionMs = 0,
): Pick<Postgres<Tables>, 'pool' | 'db'> {
  const prepared = createPreparedStatements()
  const pool = new pg.Pool({
    ...address,
    Client: NotingClient,
    max: poolSize,
    application_name: 'customer-data-service',
    statement_timeout: STATEMENT_TIMEOUT_MS,
    idle_in_transaction_session_timeout: idleInTransactionMs,
    connectionTimeoutMillis: CONNECT_WITHIN_MS,
    keepAlive: true,
    idleTimeoutMillis: MINUTE_MS,
    // The pool waits for it, which its types do not say.
    onConnect: beginConnection as (client: pg.ClientBase) => void,
  })
  // A dropped idle connection is replaced at the next query; without a listener, its error would end the process.
  pool.on('error', () => {})
  // The same for one in use: its query fails, but a dying socket can emit further errors.
  pool.on('connect', (client) => {
    client.on('error', () => {})
    wrapQueries(client, prepared)
  })
  return { pool, db: new Kysely<Tables>({ dialect: new PostgresDialect({ pool }) }) }
}

async function beginConnection(client: pg.ClientBase): Promise<void> {
  await client.query(PLAN_ANEW)
}

/** More than PostgreSQL may keep in memory, so it writes to disk, which fails if the disk is full. */
const PROBE = "SET work_mem = '64kB'; SELECT count(*) FROM generate_series(1, 10000)"

/**
 * Checks that PostgreSQL accepts a new connection, has disk space and passes the `check`. Pooled connections survive
 * the listening socket that they were opened through, so they prove nothing.
 */
export async function pingPostgres(
  address: PostgresAddress,
  withinMs: number,
  check: (client: pg.Client) => Promise<void>,
): Promise<void> {
  const client = new NotingClient({
    ...address,
    application_name: 'customer-data-service readiness',
    connectionTimeoutMillis: withinMs,
    statement_timeout: withinMs,
  })
  client.on('error', () => {})
  try {
    await client.connect()
    await client.query(PROBE)
    await check(client)
  } catch (error) {
    throw asUnavailable(error) ?? error
  } finally {
    await client.end().catch(() => {})
  }
}
