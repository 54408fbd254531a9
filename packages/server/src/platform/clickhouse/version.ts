import { ServiceError } from '../errors.ts'
import type { ClickHouse } from './connect.ts'

/** The oldest tested release: that of the embedded engine. */
const OLDEST = [26, 7] as const

export async function versionOf(clickhouse: ClickHouse): Promise<string> {
  const [row] = await clickhouse.query<{ version: string }>('SELECT version() AS version')
  return row?.version ?? 'unknown'
}

/** @throws ServiceError `clickhouse_too_old` for a server older than that. */
export async function requireVersion(clickhouse: ClickHouse): Promise<void> {
  const version = await versionOf(clickhouse)
  const [year = 0, month = 0] = version.split('.').map(Number)
  if (year > OLDEST[0] || (year === OLDEST[0] && month >= OLDEST[1])) return
  const message = `the server at CLICKHOUSE_URL is ClickHouse ${version}, and the service needs ${OLDEST.join('.')} or later. Upgrade the server, or remove CLICKHOUSE_URL to use the embedded ClickHouse.`
  throw new ServiceError(503, 'clickhouse_too_old', message)
}
