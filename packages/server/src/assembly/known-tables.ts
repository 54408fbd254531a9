import { resolve } from 'node:path'
import type { Kysely } from 'kysely'
import type { Config } from '../config.ts'
import { CONTACT_SETS_TABLE } from '../contact-sets/table.ts'
import { EVENTS_TABLE } from '../events/table.ts'
import { OWNER_LINKS_TABLE } from '../owners/table.ts'
import type { ClickHouse } from '../platform/clickhouse/connect.ts'
import { INSTALLATION_TABLE } from '../platform/clickhouse/installation.ts'
import { describePart, missingTables, unknownTables } from '../platform/clickhouse/tables.ts'
import { ServiceError } from '../platform/errors.ts'
import { JOB_OBJECTS } from '../platform/jobs/jobs.ts'
import type { DB } from '../platform/postgres/generated/tables.ts'
import { missingParts } from '../platform/postgres/parts.ts'
import { ownerOfTables } from '../platform/postgres/schema.ts'
import { SCHEMA } from './migrations.ts'

/**
 * There are no migrations yet (decision 21), so the service runs only on the tables that this version creates. On others,
 * every request would fail, or change data in a way that nobody intended.
 */

type Place = Pick<Config, 'databaseUrl' | 'clickhouseUrl' | 'clickhouseCluster' | 'dataDirectory'>

/** ClickHouse's tables. */
export const CLICKHOUSE_TABLES = [INSTALLATION_TABLE, EVENTS_TABLE, OWNER_LINKS_TABLE, CONTACT_SETS_TABLE]

/**
 * Checks PostgreSQL before it is changed. An empty database passes.
 * @throws ServiceError 503 `unknown_tables`.
 */
export async function requireKnownPostgres(database: Kysely<DB>, { databaseUrl, dataDirectory }: Place): Promise<void> {
  if ((await ownerOfTables(database, SCHEMA)) !== 'unknown') return
  throw unknown(databaseUrl === null ? { directory: dataDirectory } : { store: 'PostgreSQL', setting: 'DATABASE_URL' })
}

/** Checks ClickHouse before it is changed. @throws ServiceError `unknown_tables`. */
export async function requireKnownClickHouse(
  clickhouse: ClickHouse,
  { clickhouseUrl, clickhouseCluster, dataDirectory }: Place,
): Promise<void> {
  if ((await unknownTables(clickhouse, CLICKHOUSE_TABLES, clickhouseCluster)).length === 0) return
  const server = { store: 'ClickHouse', setting: 'CLICKHOUSE_URL' } as const
  throw unknown(clickhouseUrl === null ? { directory: dataDirectory } : server)
}

function unknown(place: { directory: string } | { store: 'PostgreSQL' | 'ClickHouse'; setting: string }): ServiceError {
  const message =
    'directory' in place
      ? `The data in ${resolve(place.directory)} was written by another version of the service, whose tables differ, so nothing was changed. Run the version that wrote it. To start without this data, move the directory away or delete it, or set CDS_DATA_DIR to another one.`
      : `The ${place.store} database in ${place.setting} has tables of another version of the service, or of another application, so nothing was changed. Run the version that created them. To start without this data, set ${place.setting} to an empty database.`
  return new ServiceError(503, 'unknown_tables', message)
}

/** Everything in PostgreSQL that this version needs, once the job queues are open. */
export const POSTGRES_OBJECTS = [...SCHEMA.objects, ...JOB_OBJECTS]

/** Checks that PostgreSQL has everything that this version needs. @throws ServiceError `missing_tables`. */
export async function requireAllOfPostgres(
  query: Parameters<typeof missingParts>[0],
  objects = SCHEMA.objects,
): Promise<void> {
  requireNone('PostgreSQL', await missingParts(query, { objects }))
}

/** The same for ClickHouse. @throws ServiceError `missing_tables`. */
export async function requireAllOfClickHouse(clickhouse: ClickHouse, cluster: string | null): Promise<void> {
  const missing = await missingTables(clickhouse, CLICKHOUSE_TABLES, cluster)
  requireNone('ClickHouse', missing.map(describePart))
}

const NAMED_MAX = 5

function requireNone(store: string, missing: readonly string[]): void {
  if (missing.length === 0) return
  const others = missing.length > NAMED_MAX ? ` and ${missing.length - NAMED_MAX} more` : ''
  const message = `${store} lacks ${missing.slice(0, NAMED_MAX).join(', ')}${others}. Restore ${store} from a backup.`
  throw new ServiceError(503, 'missing_tables', message)
}
