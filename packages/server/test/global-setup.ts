import { existsSync } from 'node:fs'
import { chmod, mkdtemp, rm, statfs } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { TestProject } from 'vitest/node'
import { MIGRATIONS } from '../src/assembly/migrations.ts'
import { startEmbeddedPostgres } from '../src/platform/embedded/postgres.ts'
import { openJobs } from '../src/platform/jobs/jobs.ts'
import { createLog } from '../src/platform/log.ts'
import { connectPostgres } from '../src/platform/postgres/connect.ts'
import { migratePostgres } from '../src/platform/postgres/migrate.ts'

declare module 'vitest' {
  interface ProvidedContext {
    /** Directory of the socket of this run's PostgreSQL. */
    postgresHost: string
    /** Directory for the services' files; removed after the run. */
    runDirectory: string
    /** Seed of the tests' random numbers. */
    seed: number
  }
}

/** One PostgreSQL for the whole run, with a migrated template that every test file copies. */
export default async function setup(project: TestProject): Promise<() => Promise<void>> {
  const runDirectory = await mkdtemp(join(await fastDirectory(), 'cds-test-'))
  // Root runs PostgreSQL as another user, who must be able to access the directory.
  await chmod(runDirectory, 0o755)
  const server = await startEmbeddedPostgres({ dataDirectory: runDirectory, maxConnections: 300 })
  const admin = connectPostgres<object>({ ...server.connection, database: 'postgres' }, 1)
  await admin.pool.query('CREATE DATABASE template_cds')
  await admin.close()
  const template = connectPostgres<object>({ ...server.connection, database: 'template_cds' }, 2)
  await migratePostgres(template.db, MIGRATIONS)
  await template.close()
  // The job queue creates its own tables; in the template, no test file waits for them.
  const jobs = await openJobs({ ...server.connection, database: 'template_cds' }, [], createLog('silent'))
  await jobs.stop()
  project.provide('postgresHost', server.connection.host)
  project.provide('runDirectory', runDirectory)
  project.provide('seed', project.vitest.config.sequence.seed)
  return async () => {
    await server.stop()
    await rm(runDirectory, { recursive: true, force: true, maxRetries: 10 })
  }
}

const MEMORY = '/dev/shm'
/** A whole run needs less than a third of it. */
const MEMORY_BYTES_MIN = 4_000_000_000

/** In memory if possible: the data of a run is temporary, and no test waits for a disk. */
async function fastDirectory(): Promise<string> {
  if (!existsSync(MEMORY)) return tmpdir()
  const { bavail, bsize } = await statfs(MEMORY)
  return bavail * bsize < MEMORY_BYTES_MIN ? tmpdir() : MEMORY
}
