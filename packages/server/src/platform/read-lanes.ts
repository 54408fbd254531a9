import { totalmem } from 'node:os'
import type { Config } from '../config.ts'
import type { ClickHouse } from './clickhouse/connect.ts'
import { type ConcurrencyLimit, createConcurrencyLimit, EntryRefused } from './concurrency-limit.ts'
import { ServiceError } from './errors.ts'

/**
 * The cost of a read. `light`: served by an index. `heavy`: may read all of the tenant's data. `export`: a page of a
 * file. `postgres` and `postgres_export`: the same two in PostgreSQL, where light reads are not queued.
 */
export type Lane = 'light' | 'heavy' | 'export' | PostgresLane
export type PostgresLane = 'postgres' | 'postgres_export'

/** The limits of one ClickHouse read. */
export interface ReadShare {
  threads: number
  memoryBytes: number
}

export interface ReadOptions {
  /** Aborts when the client disconnects. Background work has no caller: it waits and is never rejected. */
  caller?: AbortSignal | undefined
  /** For reads inside a transaction, which occupy a PostgreSQL connection while they wait. */
  isUrgent?: boolean
}

/**
 * Shares ClickHouse, and PostgreSQL's heavy reads, fairly between tenants. Each lane has its own slots, so that no
 * cheap read waits for an expensive one, and serves tenants round-robin.
 */
export interface ReadLanes {
  /** Waits for a slot of the lane. @throws ServiceError 429 `too_many_reads`, 503 `reads_busy`. */
  enter(lane: Lane, tenantId: string, options?: ReadOptions): Promise<{ share: ReadShare; end: () => void }>
  /**
   * Starts a file, each page of which is queued in its lane. @returns a function that ends it. @throws ServiceError 429
   * `too_many_exports`.
   */
  beginExport(tenantId: string, caller?: AbortSignal): Promise<() => void>
  lanes: Readonly<Record<Lane, Pick<ConcurrencyLimit, 'counts'>>>
}

interface Resources {
  /** Threads that ClickHouse uses for one query without a limit. */
  cores: number
  /** The memory of all ClickHouse reads together. */
  memoryBytes: number
  postgresConnections: number
}

/** Each lane's share of the memory. */
const MEMORY_SHARE = { light: 0.2, heavy: 0.6, export: 0.2 }
/** More concurrency would only slow each read. The total stays below the number of threads for blocking work. */
const LIGHT_MAX = 16
const HEAVY_MAX = 8
const EXPORTS_MAX = 4
const WAITING = { waitingPerKey: 64, waitingInAll: 1_024, waitMsMax: 30_000 }
const FILES = { perKey: 4, inAll: 64, waitingPerKey: 0, waitingInAll: 0 }
/** A tenant that has been the only reader for this long gets all cores. */
const ALONE_AFTER_MS = 10_000
const RETRY_AFTER_SECONDS = 5

/** Creates the read queues of a process for its databases. */
export async function openReadLanes(clickhouse: Pick<ClickHouse, 'cores'>, config: Config): Promise<ReadLanes> {
  const wanted = config.clickhouseReadMemoryMb * 1_000_000
  // The embedded ClickHouse shares the machine with the service and with PostgreSQL.
  const isEmbedded = config.clickhouseUrl === null
  const memoryBytes = isEmbedded ? Math.min(wanted, (process.constrainedMemory() || totalmem()) / 2) : wanted
  return createReadLanes({ cores: await clickhouse.cores(), memoryBytes, postgresConnections: config.postgresPoolSize })
}

export function createReadLanes({ cores, memoryBytes, postgresConnections }: Resources): ReadLanes {
  const light = Math.min(LIGHT_MAX, Math.max(4, cores))
  const heavy = Math.min(HEAVY_MAX, Math.max(2, Math.floor(cores / 4)))
  const files = Math.min(EXPORTS_MAX, Math.max(1, Math.floor(cores / 4)))
  const postgres = Math.max(2, Math.floor(postgresConnections / 8))
  const lanes = {
    light: laneOf(light),
    heavy: laneOf(heavy),
    // A file in progress must not fail because others are waiting: `exports` limits the number of files.
    export: createConcurrencyLimit({ perKey: half(files), inAll: files }),
    postgres: laneOf(postgres),
    postgres_export: createConcurrencyLimit({ perKey: half(postgres), inAll: postgres }),
  }
  const shares: Record<Lane, ReadShare> = {
    light: { threads: half(cores), memoryBytes: (memoryBytes * MEMORY_SHARE.light) / light },
    heavy: { threads: half(cores / heavy), memoryBytes: (memoryBytes * MEMORY_SHARE.heavy) / heavy },
    export: { threads: half(cores / files), memoryBytes: (memoryBytes * MEMORY_SHARE.export) / files },
    postgres: { threads: 1, memoryBytes: 0 },
    postgres_export: { threads: 1, memoryBytes: 0 },
  }
  const exports = createConcurrencyLimit(FILES)
  const isAlone = watchTenants()

  return {
    lanes,
    beginExport: (tenantId, caller) =>
      exports.enter(tenantId, { caller }).catch((error: unknown) => {
        throw error instanceof EntryRefused ? refusedExport(error) : error
      }),
    enter: async (lane, tenantId, options) => {
      isAlone(tenantId)
      const end = await lanes[lane].enter(tenantId, options).catch((error: unknown) => {
        throw error instanceof EntryRefused ? refusedRead(error) : error
      })
      const share = shares[lane]
      return { share: lane !== 'export' && isAlone(tenantId) ? { ...share, threads: cores } : share, end }
    },
  }
}

/** One tenant gets at most half of the slots, so that its slow reads never occupy all of them. */
function laneOf(places: number): ConcurrencyLimit {
  return createConcurrencyLimit({ perKey: half(places), inAll: places, ...WAITING })
}

function half(count: number): number {
  return Math.max(1, Math.floor(count / 2))
}

/** @returns a function that records a tenant's read and returns whether no other tenant has read recently. */
function watchTenants(): (tenantId: string) => boolean {
  let latest = { tenantId: '', at: Number.NEGATIVE_INFINITY }
  let otherAt = Number.NEGATIVE_INFINITY
  return (tenantId) => {
    if (tenantId !== latest.tenantId) otherAt = latest.at
    latest = { tenantId, at: performance.now() }
    return latest.at - otherAt > ALONE_AFTER_MS
  }
}

/** No client sees it; metrics and the log show it. */
export function callerLeft(): ServiceError {
  return new ServiceError(499, 'client_closed_request', 'The client closed the connection before the response.')
}

function refusedRead(refused: EntryRefused): ServiceError {
  if (refused.reason === 'caller_left') return callerLeft()
  if (refused.reason === 'key_is_full') {
    const message = `${WAITING.waitingPerKey} reads of this tenant are already waiting. Send fewer at once, or try again shortly.`
    return new ServiceError(429, 'too_many_reads', message, { retryAfterSeconds: RETRY_AFTER_SECONDS, cause: refused })
  }
  const message = 'Too many reads are waiting. Try again shortly.'
  return new ServiceError(503, 'reads_busy', message, { retryAfterSeconds: RETRY_AFTER_SECONDS, cause: refused })
}

function refusedExport(refused: EntryRefused): ServiceError {
  if (refused.reason === 'caller_left') return callerLeft()
  const message = `At most ${FILES.perKey} CSV files per tenant, and ${FILES.inAll} in total, can be downloaded at once. Wait until one has finished.`
  return new ServiceError(429, 'too_many_exports', message, { retryAfterSeconds: 30, cause: refused })
}
