import { statfs } from 'node:fs/promises'
import type { Client } from 'pg'
import type { ClickHouse } from './clickhouse/connect.ts'
import { ServiceError } from './errors.ts'
import type { PostgresAddress } from './postgres/address.ts'
import { pingPostgres } from './postgres/connect.ts'

const WITHIN_MS = 2_000
const MEGABYTE = 1_000_000
/** With less, an embedded database may fail at any moment: PostgreSQL writes its log in files of 16 MB. */
const FREE_BYTES_MIN = 64 * MEGABYTE

interface Dependencies {
  postgres: { address: PostgresAddress }
  clickhouse: ClickHouse
  /** Whether the databases have the tables and functions that the service needs. */
  requireAll: {
    postgres(client: Client): Promise<void>
    clickhouse(): Promise<void>
  }
  /** The data directory of the embedded databases. */
  directories: readonly string[]
}

/** @returns a check that reports why the service is not ready; concurrent callers share one check. */
export function createReadiness(dependencies: Dependencies): () => Promise<string[]> {
  let underWay: Promise<string[]> | null = null
  return () => {
    underWay ??= findProblems(dependencies).finally(() => {
      underWay = null
    })
    return underWay
  }
}

async function findProblems({ postgres, clickhouse, requireAll, directories }: Dependencies): Promise<string[]> {
  const problems = await Promise.all([
    problemOf('PostgreSQL', pingPostgres(postgres.address, WITHIN_MS, requireAll.postgres)),
    problemOf('ClickHouse', responded(clickhouse.ping()).then(requireAll.clickhouse)),
    ...directories.map(diskProblem),
  ])
  return [...new Set(problems.filter((problem) => problem !== null))]
}

async function responded(ping: Promise<boolean>): Promise<void> {
  if (!(await ping)) throw new Error('no response')
}

async function problemOf(store: string, work: Promise<void>): Promise<string | null> {
  let timer: NodeJS.Timeout | undefined
  const tooLate = new Promise<never>((_, reject) => {
    timer = setTimeout(() => reject(new Error('too late')), WITHIN_MS)
  })
  try {
    await Promise.race([work, tooLate])
    return null
  } catch (error) {
    const isExplained = error instanceof ServiceError && error.code !== 'store_unavailable'
    return isExplained ? error.message : `${store} did not respond within ${WITHIN_MS / 1000} seconds.`
  } finally {
    clearTimeout(timer)
  }
}

async function diskProblem(directory: string): Promise<string | null> {
  const free = await statfs(directory).then(({ bavail, bsize }) => bavail * bsize)
  if (free >= FREE_BYTES_MIN) return null
  return `The disk of the data directory has ${Math.floor(free / MEGABYTE)} MB left and needs ${FREE_BYTES_MIN / MEGABYTE}.`
}
