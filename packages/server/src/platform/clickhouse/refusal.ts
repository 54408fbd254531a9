import { ClickHouseError } from '@clickhouse/client'

/** What a server of a cluster says when it does not reach another one, or that one breaks off: nothing about the statement. */
const OUT_OF_REACH: ReadonlySet<number> = new Set([209, 210, 279])
const BROKE_OFF = /(?:Attempt to read after eof|Bytes expected: \d+\.): while receiving packet from /

/** The code with which ClickHouse refused a statement; null when it gave no answer, or lacked one of its own servers. */
export function refusalCode(error: unknown): number | null {
  if (!(error instanceof Error)) return null
  const code = codeOf(error)
  if (code === null) return refusalCode(error.cause)
  return OUT_OF_REACH.has(code) || BROKE_OFF.test(error.message) ? null : code
}

function codeOf(error: Error): number | null {
  if (error instanceof ClickHouseError) return Number(error.code)
  // The embedded engine's refusals come as plain errors with ClickHouse's text, or are the cause of one.
  const [, code] = /\bCode: (\d+)\b/.exec(`${error.message} ${error.stack}`) ?? []
  return code === undefined ? null : Number(code)
}

const NOT_ENOUGH_SPACE = 243

/** Whether ClickHouse refused a statement because its disk is full; it reports the system's error in several ways. */
export function isOutOfRoom(error: unknown): boolean {
  return refusalCode(error) === NOT_ENOUGH_SPACE || /No space left on device|errno: 28\b/.test(String(error))
}
