import type { EventEmitter } from 'node:events'
import pg from 'pg'
import { ServiceError, storageFull, storeUnavailable } from '../errors.ts'

/** Errors of connections to PostgreSQL: only these count, because errors of files and other hosts have the same codes. */
const ofConnections = new WeakSet<object>()

/** A client that notes the errors of its connection. */
export class NotingClient extends pg.Client {
  constructor(config?: pg.ClientConfig) {
    super(config)
    const { connection } = this as unknown as { connection: EventEmitter }
    connection.on('error', (error: object) => ofConnections.add(error))
  }
}

/** pg's own errors, which have no code. */
const LOST_CONNECTION =
  /^Connection terminated|^timeout exceeded when trying to connect|^Client has encountered|pool after calling end/
const DISK_FULL = '53100'

/**
 * The 503 for an error that means PostgreSQL is currently unavailable: no connection, SQLSTATE classes 08 and 57P (it
 * is shutting down or starting), class 53 (disk full, too many connections, no memory), or 57014 (statement timeout).
 * A ServiceError with the status 503, such as ClickHouse's, is returned unchanged; null for any other error.
 */
export function asUnavailable(error: unknown): ServiceError | null {
  if (error instanceof ServiceError) return error.status === 503 ? error : null
  const { code = '', message = '', severity } = error as { [Key in 'code' | 'message' | 'severity']?: string }
  if (severity !== undefined) {
    if (code === DISK_FULL) return storageFull('PostgreSQL', error)
    return /^(08|57P|53|57014)/.test(code) ? storeUnavailable('PostgreSQL', error) : null
  }
  const isLost = LOST_CONNECTION.test(message) || ofConnections.has(error as object)
  return isLost ? storeUnavailable('PostgreSQL', error) : null
}
