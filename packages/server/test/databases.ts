import pg from 'pg'
import { inject } from 'vitest'

/** URL of a database of this run's PostgreSQL. */
export function databaseUrl(database: string): string {
  const parameters = new URLSearchParams({ host: inject('postgresHost'), port: '5432', user: 'cds' })
  return `postgres://localhost/${database}?${parameters}`
}

/** One copy at a time, because a template must not be in use. */
const COPY_LOCK = 1

const databasesOfFile = new Set<string>()

/** A fresh, migrated database. It is removed after the file unless other files use it too. */
export async function createDatabase({ isKept = false } = {}): Promise<string> {
  const name = `test_${process.pid}_${Math.random().toString(36).slice(2, 10)}`
  if (!isKept) databasesOfFile.add(name)
  const client = new pg.Client({ connectionString: databaseUrl('postgres') })
  await client.connect()
  await client.query('SELECT pg_advisory_lock($1)', [COPY_LOCK])
  // Copying the files takes about a tenth of the time of copying through the write-ahead log.
  await client.query(`CREATE DATABASE ${name} TEMPLATE template_cds STRATEGY FILE_COPY`)
  await client.end()
  return databaseUrl(name)
}

/** Removes the databases of a file that has ended: PostgreSQL vacuums every database, which slows down the other tests. */
export async function dropDatabasesOfFile(): Promise<void> {
  if (databasesOfFile.size === 0) return
  const client = new pg.Client({ connectionString: databaseUrl('postgres') })
  await client.connect()
  for (const name of databasesOfFile) await client.query(`DROP DATABASE IF EXISTS ${name} WITH (FORCE)`)
  await client.end()
  databasesOfFile.clear()
}
