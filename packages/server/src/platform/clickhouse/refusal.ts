import { ClickHouseError } from '@clickhouse/client'

/** The code with which ClickHouse refused a statement; null when it gave no answer at all. */
export function refusalCode(error: unknown): number | null {
  if (!(error instanceof Error)) return null
  if (error instanceof ClickHouseError) return Number(error.code)
  // The embedded engine's refusals come as plain errors with ClickHouse's text, or are the cause of one.
  const [, code] = /\bCode: (\d+)\b/.exec(`${error.message} ${error.stack}`) ?? []
  return code === undefined ? refusalCode(error.cause) : Number(code)
}

const NOT_ENOUGH_SPACE = 243

/** Whether ClickHouse refused a statement because its disk is full; it reports the system's error in several ways. */
export function isOutOfRoom(error: unknown): boolean {
  return refusalCode(error) === NOT_ENOUGH_SPACE || /No space left on device|errno: 28\b/.test(String(error))
}
