import { existsSync } from 'node:fs'
import { join, resolve } from 'node:path'
import type { Kysely } from 'kysely'
import { SCHEMA } from '../assembly/migrations.ts'
import { type Config, DATA_DIRECTORY, listenUrl } from '../config.ts'
import { ServiceError } from '../platform/errors.ts'
import { isService } from '../platform/outbound/own-service.ts'
import type { DB } from '../platform/postgres/generated/tables.ts'
import { ownerOfTables } from '../platform/postgres/schema.ts'

/*
 * A command works on the data of the service. Started with other settings than the service, it would find none: then it
 * must say so, because what it did in a new database would be missing in the service's.
 */

type Place = Pick<Config, 'databaseUrl' | 'clickhouseUrl' | 'dataDirectory' | 'host' | 'port'>

/** Requires embedded databases that a service has created. @throws ServiceError 503 `no_data` before anything is created. */
export async function requireEmbeddedData(config: Place): Promise<void> {
  const { databaseUrl, clickhouseUrl } = config
  if (databaseUrl !== null && clickhouseUrl !== null) return
  const directory = resolve(config.dataDirectory)
  // A service that runs, or ran, has the lock; a restored backup may lack it.
  const names = ['lock', ...(databaseUrl === null ? ['postgres', 'postgres-location'] : ['clickhouse'])]
  if (names.some((name) => existsSync(join(directory, name)))) return
  throw await noData(config, directory)
}

/** Requires tables in the PostgreSQL of the operator. @throws ServiceError 503 `no_data` before any is created. */
export async function requireTables(database: Kysely<DB>, config: Place): Promise<void> {
  if ((await ownerOfTables(database, SCHEMA)) === 'nobody') throw await noData(config, 'the PostgreSQL database')
}

/**
 * Refuses the data directory that is used without CDS_DATA_DIR while a service runs on other data. Call it once the
 * directory is locked, so that it cannot be that service's. @throws ServiceError 503 `other_data`.
 */
export async function refuseOtherData(config: Place): Promise<void> {
  if (config.databaseUrl !== null || config.dataDirectory !== DATA_DIRECTORY) return
  const url = await findService(config)
  if (url === null) return
  const message = `The service at ${url} has other data than ${config.dataDirectory}, so nothing was changed: set CDS_DATA_DIR and DATABASE_URL as they are set for it.`
  throw new ServiceError(503, 'other_data', message)
}

/** For a data directory that a service uses with another PostgreSQL than the command. */
export function otherPostgres({ databaseUrl, dataDirectory }: Place): ServiceError {
  const advice =
    databaseUrl === null
      ? 'set DATABASE_URL as it is set for the service'
      : 'unset DATABASE_URL, because the service uses the PostgreSQL in that directory'
  const message = `A service runs on ${resolve(dataDirectory)} with another PostgreSQL than this command, so nothing was changed: ${advice}.`
  return new ServiceError(503, 'other_data', message)
}

async function noData(config: Place, where: string): Promise<ServiceError> {
  const url = await findService(config)
  const message =
    url === null
      ? `There is no data in ${where}, so nothing was done: start the service or run cdsctl migrate to create it, or set CDS_DATA_DIR or DATABASE_URL to where your data is.`
      : `The service at ${url} has its data elsewhere than in ${where}, so nothing was done: set CDS_DATA_DIR, DATABASE_URL and CLICKHOUSE_URL as they are set for it.`
  return new ServiceError(503, 'no_data', message)
}

/** The URL of a service that listens where this command's settings say; null if none does. */
async function findService({ host, port }: Place): Promise<string | null> {
  // The system chooses the port.
  if (port === 0) return null
  const url = listenUrl(host, port)
  return (await isService(url)) ? url : null
}
