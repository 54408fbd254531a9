import { type Sources, serverCode, withoutComments } from './sources.ts'

/**
 * The files that use the connection to ClickHouse, and why. All others read events through the tenant's handle, whose
 * barrier makes every read see what was acknowledged before it.
 */
const USES_CLICKHOUSE: Record<string, string> = {
  'assembly/engines.ts': 'opens and closes it',
  'assembly/known-tables.ts': 'passes it to what compares its tables',
  'assembly/service.ts': 'passes it to readiness',
  'closing/delete.ts': 'passes it to what deletes events and links, after the barrier',
  'cli/doctor.ts': 'reports its version',
  'cli/session.ts': 'replaces it while the service has the embedded engine',
  'erasure/erase-events.ts': 'passes it to what deletes events and links, after the barrier',
  'events/erase.ts': 'finds the events that an erasure deletes',
  'journal/insert-again.ts': 'looks up the rows that an interrupted insertion may have stored',
  'journal/projector.ts': 'inserts the rows that the barrier waits for',
  'platform/clickhouse/delete-rows.ts': 'deletes rows for an erasure',
  'platform/clickhouse/installation.ts': 'checks at startup whose events it has',
  'platform/clickhouse/tables.ts': 'creates tables',
  'platform/clickhouse/tenant-events.ts': "is the tenant's handle",
  'platform/clickhouse/version.ts': 'reads its version',
  'platform/health-routes.ts': 'only has a response field of that name',
  'platform/read-lanes.ts': 'reads how many threads it uses',
  'platform/readiness.ts': 'pings it',
  'platform/tenant.ts': 'declares it',
}

/** Whoever uses the connection to ClickHouse must name it, wherever it comes from. */
export function clickHouseUsers(
  sources: Sources,
  listed: Readonly<Record<string, string>> = USES_CLICKHOUSE,
): string[] {
  const users = serverCode(sources).flatMap(([file, text]) => {
    const code = withoutComments(text).replace(/"[^"\n]*"|'[^'\n]*'/g, '')
    return /\bclickhouse\b/.test(code) ? [file] : []
  })
  const unlisted = users.filter((file) => !Object.hasOwn(listed, file))
  const stale = Object.keys(listed).filter((file) => !users.includes(file))
  return [
    ...unlisted.map(
      (file) =>
        `${file} uses ClickHouse directly: read events through the tenant's handle, or give a reason in USES_CLICKHOUSE of scripts/house/clickhouse.ts`,
    ),
    ...stale.map((file) => `${file} no longer uses ClickHouse directly: remove it from USES_CLICKHOUSE`),
  ]
}
