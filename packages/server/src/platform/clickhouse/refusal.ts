import { ClickHouseError } from '@clickhouse/client'

/**
 * Errors when a server of a cluster cannot reach another one or loses the connection, which the statement did not
 * cause.
 */
const OUT_OF_REACH: ReadonlySet<number> = new Set([209, 210, 279])
const BROKE_OFF = /(?:Attempt to read after eof|Bytes expected: \d+\.): while receiving packet from /

/**
 * The code with which ClickHouse rejected a statement; null if it did not respond, or could not reach one of its
 * servers.
 */
export function refusalCode(error: unknown): number | null {
  if (!(error instanceof Error)) return null
  const code = codeOf(error)
  if (code === null) return refusalCode(error.cause)
  return OUT_OF_REACH.has(code) || BROKE_OFF.test(error.message) ? null : code
}

function codeOf(error: Error): number | null {
  if (error instanceof ClickHouseError) return Number(error.code)
  // The embedded engine reports errors as plain errors with ClickHouse's text, or as the cause of one.
  const [, code] = /\bCode: (\d+)\b/.exec(`${error.message} ${error.stack}`) ?? []
  return code === undefined ? null : Number(code)
}

const NOT_ENOUGH_SPACE = 243

/** Whether ClickHouse rejected a statement because its disk is full, which it reports in several ways. */
export function isDiskFull(error: unknown): boolean {
  return refusalCode(error) === NOT_ENOUGH_SPACE || /No space left on device|errno: 28\b/.test(String(error))
}
