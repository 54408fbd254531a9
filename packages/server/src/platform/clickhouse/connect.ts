import { text as readAll } from 'node:stream/consumers'
import { setImmediate as nextTurn } from 'node:timers/promises'
import type { ClickHouseClient, ResultSet } from '@clickhouse/client'
import { ServiceError, storageFull, storeUnavailable } from '../errors.ts'
import { newId } from '../ids.ts'
import { createLog, type Logger } from '../log.ts'
import { noteLoaded, responseTooLarge } from '../response-size.ts'
import { connectServer, openEmbedded } from './connections.ts'
import type { QueryParameters, Statement } from './parameters.ts'
import { PARQUET_FORMAT, readParquet } from './parquet.ts'
import { isDiskFull, refusalCode } from './refusal.ts'

/**
 * `cluster`: the cluster that the server at `url` belongs to. `database`: a non-default database of the embedded
 * engine.
 */
export type ClickHouseAddress = { url: string; cluster?: string | null } | { path: string; database?: string }

/**
 * The only access to ClickHouse, embedded or not. Settings go into the SQL, never beside it: the embedded engine would
 * apply those to the whole session.
 */
export interface ClickHouse {
  /** Runs a SELECT; rows are returned as objects. @throws ServiceError 503 if ClickHouse is down. */
  query<Row>(sql: string, parameters?: QueryParameters, bounds?: QueryBounds): Promise<Row[]>
  /** Runs a SELECT whose result is too long for memory, some rows at a time. */
  stream<Row>(sql: string, parameters?: QueryParameters, bounds?: QueryBounds): AsyncIterable<Row[]>
  /** Runs a SELECT whose rows it returns as a Parquet file, in memory. @throws Error if it is larger than `bytesMax`. */
  parquet(sql: string, parameters: QueryParameters, bounds: QueryBounds & { bytesMax: number }): Promise<Buffer>
  /** Runs a statement without a result. */
  command(sql: string, parameters?: QueryParameters): Promise<void>
  /** Inserts rows in a text format, once per token. @param body the text after `FORMAT <format>`. */
  insert(table: string, format: string, body: string, token: string): Promise<void>
  ping(): Promise<boolean>
  /** How many threads the engine uses for a query without a limit. */
  cores(): Promise<number>
  close(): Promise<void>
}

/** The limits of a query. */
export interface QueryBounds {
  /** The engine cancels it after this time, if that is below the default limit. */
  secondsMax?: number | undefined
  threads?: number
  memoryBytes?: number
  /** A larger result fails with `response_too_large`. */
  resultBytesMax?: number
  /**
   * Whether the engine may read a projection instead of the table. It estimates badly which of the two is smaller: a
   * query without an index may read a whole projection, out of order.
   */
  usesProjections?: boolean
  /** Cancels the query in the engine when it aborts. */
  signal?: AbortSignal | undefined
}

/** No legitimate query of the service takes longer. */
const QUERY_SECONDS_MAX = 20
const QUERY_BYTES_MAX = 4_000_000_000
/** Rows of a result that are parsed before other requests run. */
const ROWS_PER_TURN = 250
/** By default, ClickHouse silently ignores unknown columns. */
const REJECT_UNKNOWN_COLUMNS = 'input_format_skip_unknown_fields = 0'
/**
 * Newer servers gather small insertions by default, and may then ignore their tokens or respond before rows can be
 * read.
 */
const NO_ASYNC_INSERT = 'async_insert = 0'

/**
 * Opens the embedded engine at `path`, or a client for the server at `url`. @param silentAfterMs how long the server may
 * send nothing before its statements fail.
 */
export async function connectClickHouse(
  address: ClickHouseAddress,
  log: Logger = createLog('silent'),
  silentAfterMs?: number,
): Promise<ClickHouse> {
  const connections = 'url' in address ? connectServer(address.url, log, silentAfterMs) : await openEmbedded(address)
  const { lend, statement } = connections
  const inCluster = clusterSettings('url' in address ? address.cluster : null)

  /** Aborts a statement when the server stops responding. @throws while it is down. */
  function abortOnSilence(): { abort_signal?: AbortSignal } {
    const { silence } = connections
    if (!silence) return {}
    silence.signal.throwIfAborted()
    return { abort_signal: silence.signal }
  }

  /** The rows of a result, some at a time, with other requests in between. */
  async function* rowsOf<Row>(result: ResultSet<'JSONEachRow'>, bytesMax?: number): AsyncGenerator<Row[]> {
    const signal = connections.silence?.signal
    const close = () => result.close()
    signal?.addEventListener('abort', close)
    try {
      yield* parsed<Row>(result, bytesMax)
    } catch (error) {
      throw unavailableOr(error)
    } finally {
      signal?.removeEventListener('abort', close)
    }
  }

  async function send<Result>(
    sql: string,
    parameters: QueryParameters,
    { signal, ...bounds }: QueryBounds,
    run: (idle: ClickHouseClient, asked: Statement & { abort_signal?: AbortSignal }) => Promise<Result>,
    end = '',
  ) {
    const id = newId()
    const settings = [...settingsOf(bounds), ...inCluster.read, `log_comment = '${id}'`]
    const asked = statement(`${sql} SETTINGS ${settings.join(', ')}${end}`, parameters)
    const kill = () => {
      // Not a failure: the query may have just ended, and one that continues is limited.
      const query = `KILL QUERY WHERE Settings['log_comment'] = '${id}' ASYNC`
      lend((other) => other.command({ query })).catch(() => {})
    }
    signal?.addEventListener('abort', kill)
    try {
      return await asUnavailable(() => lend(async (idle) => run(idle, { ...asked, ...abortOnSilence() })))
    } finally {
      signal?.removeEventListener('abort', kill)
    }
  }

  const sendForRows = (sql: string, parameters: QueryParameters, bounds: QueryBounds) =>
    send(sql, parameters, bounds, (idle, asked) => idle.query({ ...asked, format: 'JSONEachRow' }))

  return {
    query: async <Row>(sql: string, parameters: QueryParameters = {}, bounds: QueryBounds = {}) => {
      const parts = await Array.fromAsync(
        rowsOf<Row>(await sendForRows(sql, parameters, bounds), bounds.resultBytesMax),
      )
      return parts.flat()
    },
    stream: async function* <Row>(sql: string, parameters: QueryParameters = {}, bounds: QueryBounds = {}) {
      yield* rowsOf<Row>(await sendForRows(sql, parameters, bounds))
    },
    parquet: async (sql, parameters, { bytesMax, ...bounds }) => {
      const read = async (idle: ClickHouseClient, asked: Statement) => readParquet(await idle.exec(asked), bytesMax)
      return send(sql, parameters, bounds, read, ` ${PARQUET_FORMAT}`)
    },
    command: async (sql, parameters = {}) => {
      await asUnavailable(() => lend((idle) => idle.command({ ...statement(sql, parameters), ...abortOnSilence() })))
    },
    insert: async (table, format, body, token) => {
      const settings = [
        `insert_deduplication_token = '${token}'`,
        NO_ASYNC_INSERT,
        ...inCluster.insert,
        REJECT_UNKNOWN_COLUMNS,
      ]
      const query = `INSERT INTO ${table} SETTINGS ${settings.join(', ')} FORMAT ${format}`
      await asUnavailable(() =>
        lend(async (idle) => {
          const { stream } = await idle.exec({ query, values: body as never, ...abortOnSilence() })
          await readAll(stream)
        }),
      )
    },
    ping: async () => lend(async (idle) => (await idle.ping({ select: true, ...abortOnSilence() })).success),
    cores: () => asUnavailable(connections.cores),
    close: connections.close,
  }
}

/**
 * Parses rows in batches, with other requests in between: the embedded engine returns all rows at once. Their bytes are
 * counted here, because with ClickHouse's own limit (max_result_bytes), the embedded engine returns the first rows as
 * if they were all.
 */
async function* parsed<Row>(
  result: ResultSet<'JSONEachRow'>,
  bytesMax = Number.POSITIVE_INFINITY,
): AsyncGenerator<Row[]> {
  let bytes = 0
  for await (const rows of result.stream<Row>()) {
    const loaded = rows.reduce((sum, { text }) => sum + text.length, 0)
    noteLoaded(loaded)
    bytes += loaded
    if (bytes > bytesMax) throw responseTooLarge()
    for (let from = 0; from < rows.length; from += ROWS_PER_TURN) {
      yield rows.slice(from, from + ROWS_PER_TURN).map((row) => row.json())
      if (from + ROWS_PER_TURN < rows.length) await nextTurn()
    }
  }
}

async function asUnavailable<T>(work: () => Promise<T>): Promise<T> {
  try {
    return await work()
  } catch (error) {
    throw unavailableOr(error)
  }
}

/** The 503 for an error that means ClickHouse is currently unavailable, or the error itself. */
function unavailableOr(error: unknown): unknown {
  if (error instanceof ServiceError) return error
  if (isDiskFull(error)) return storageFull('ClickHouse', error)
  return refusalCode(error) === null ? storeUnavailable('ClickHouse', error) : error
}

function settingsOf(bounds: QueryBounds): string[] {
  const { secondsMax = QUERY_SECONDS_MAX, threads, memoryBytes = QUERY_BYTES_MAX, usesProjections = false } = bounds
  return [
    `optimize_use_projections = ${usesProjections ? 1 : 0}`,
    `max_execution_time = ${Math.trunc(secondsMax)}`,
    `max_memory_usage = ${Math.trunc(memoryBytes)}`,
    ...(threads === undefined ? [] : [`max_threads = ${threads}`]),
  ]
}

/**
 * A read must see what was inserted before it, but replicas copy from one another only after an insertion. So reads and
 * insertions use the same replica of each shard: the first in the cluster's definition that responds, even if another
 * is nearer. A replica that is more than a second behind, because it was down, is skipped.
 */
const SAME_REPLICA = [
  "load_balancing = 'in_order'",
  'prefer_localhost_replica = 0',
  'max_replica_delay_for_distributed_queries = 1',
]

/**
 * An event is deleted from the journal once it is inserted, so by then most replicas of its shard must have it. The
 * wait is shorter than the request timeout, so that the service learns why an insertion failed.
 */
const ON_MOST_REPLICAS = ["insert_quorum = 'auto'", 'insert_quorum_timeout = 20000']

/** Otherwise a distributed table queues rows itself and reports them as inserted. */
const SYNCHRONOUS_INSERT = 'distributed_foreground_insert = 1'

/** Otherwise rows are sent to the shards while later ones, which may turn out to be unreadable, are still being parsed. */
const NO_PARALLEL_PARSING = 'input_format_parallel_parsing = 0'

/** Additional settings of statements in a cluster; empty without one. */
function clusterSettings(cluster: string | null | undefined): { read: string[]; insert: string[] } {
  if (!cluster) return { read: [], insert: [] }
  return { read: SAME_REPLICA, insert: [...SAME_REPLICA, ...ON_MOST_REPLICAS, SYNCHRONOUS_INSERT, NO_PARALLEL_PARSING] }
}
