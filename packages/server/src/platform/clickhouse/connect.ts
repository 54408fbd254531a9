import { text as readAll } from 'node:stream/consumers'
import { setImmediate as nextTurn } from 'node:timers/promises'
import { ClickHouseLogLevel, createClient } from '@clickhouse/client'
import type { Session } from 'chdb'
import type { ChdbConnection } from 'chdb/connection'
import { storageFull, storeUnavailable } from '../errors.ts'
import { isOutOfRoom, refusalCode } from './refusal.ts'

export type ClickHouseAddress = { url: string } | { path: string }

/** Values of the `{name: Type}` placeholders of a query. */
export type QueryParameters = Record<string, string | number | boolean | readonly string[] | null>

/**
 * The one way to ClickHouse, embedded or not. Settings stand in the SQL, never beside it: the embedded engine would
 * turn those into settings of the whole session.
 */
export interface ClickHouse {
  /**
   * Runs a SELECT; rows come back as objects.
   * @param secondsMax the engine ends it after so long, where that is less than the usual limit.
   * @throws ServiceError 503 when the engine is away.
   */
  query<Row>(sql: string, parameters?: QueryParameters, secondsMax?: number): Promise<Row[]>
  /** Runs a SELECT whose answer is too long to be held at once: some rows at a time. */
  stream<Row>(sql: string, parameters?: QueryParameters): AsyncIterable<Row[]>
  /** Runs a statement without a result. */
  command(sql: string, parameters?: QueryParameters): Promise<void>
  /**
   * Inserts rows that are already in a text format, recorded once however often the same token comes.
   * @param body what follows `FORMAT <format>`.
   */
  insert(table: string, format: string, body: string, token: string): Promise<void>
  ping(): Promise<boolean>
  close(): Promise<void>
}

/** No honest query of the service takes longer, and a cancelled one runs on, so the engine itself must stop it. */
const QUERY_SECONDS_MAX = 20
const queryLimits = (secondsMax = QUERY_SECONDS_MAX) =>
  `max_execution_time = ${Math.trunc(secondsMax)}, max_memory_usage = 4000000000`
const REQUEST_TIMEOUT_MS = 25_000
/** Rows of a streamed answer that are parsed before other requests get their turn. */
const ROWS_A_TURN = 1_000
/** A distributed table would otherwise keep rows in a queue of its own and call them inserted. */
const READABLE_AT_ONCE = 'distributed_foreground_insert = 1'
/** By default it leaves out columns that the table lacks, without a word. */
const NOTHING_LEFT_OUT = 'input_format_skip_unknown_fields = 0'

/** Opens the embedded engine at `path`, or a client for the server at `url`. */
export async function connectClickHouse(address: ClickHouseAddress): Promise<ClickHouse> {
  // Its failures are logged where they are handled, cleaned of what must not be logged.
  const log = { level: ClickHouseLogLevel.OFF }
  const embedded = 'url' in address ? null : await openEmbedded(address.path)
  const client = createClient(
    'url' in address
      ? { url: address.url, request_timeout: REQUEST_TIMEOUT_MS, max_open_connections: 16, log }
      : { connection: embedded?.connection as never, log },
  )

  async function asUnavailable<T>(work: Promise<T>): Promise<T> {
    try {
      return await work
    } catch (error) {
      if (isOutOfRoom(error)) throw storageFull('ClickHouse', error)
      throw refusalCode(error) === null ? storeUnavailable('ClickHouse', error) : error
    }
  }

  return {
    query: <Row>(sql: string, parameters: QueryParameters = {}, secondsMax?: number) =>
      asUnavailable(
        client
          .query({
            query: `${sql} SETTINGS ${queryLimits(secondsMax)}`,
            query_params: parameters,
            format: 'JSONEachRow',
          })
          .then((result) => result.json<Row>()),
      ),
    stream: async function* <Row>(sql: string, parameters: QueryParameters = {}) {
      const result = await asUnavailable(
        client.query({ query: `${sql} SETTINGS ${queryLimits()}`, query_params: parameters, format: 'JSONEachRow' }),
      )
      for await (const rows of result.stream<Row>()) {
        for (let from = 0; from < rows.length; from += ROWS_A_TURN) {
          yield rows.slice(from, from + ROWS_A_TURN).map((row) => row.json())
          // The embedded engine answers at once with everything: other requests get their turn in between.
          await nextTurn()
        }
      }
    },
    command: async (sql, parameters = {}) => {
      await asUnavailable(client.command({ query: sql, query_params: parameters }))
    },
    insert: async (table, format, body, token) => {
      const query = `INSERT INTO ${table} SETTINGS insert_deduplication_token = '${token}', ${READABLE_AT_ONCE}, ${NOTHING_LEFT_OUT} FORMAT ${format}`
      const { stream } = await asUnavailable(client.exec({ query, values: body as never }))
      await readAll(stream)
    },
    ping: async () => (await client.ping({ select: true })).success,
    close: async () => {
      await client.close()
      embedded?.engine.close()
    },
  }
}

/**
 * The engine must not measure its memory through cgroups. On a machine without them it prints a stack trace, and elsewhere it
 * counts PostgreSQL's memory as its own.
 */
const ENGINE_ARGUMENTS = ['--memory_worker_use_cgroup=0']

/** The client's connection cannot pass arguments to the engine, so a session that can is opened first. */
async function openEmbedded(path: string): Promise<{ connection: ChdbConnection; engine: Session }> {
  // Loaded only when it is wanted: the library is 540 MB on disk, and a process with CLICKHOUSE_URL does without.
  const [{ Session }, { createChdbConnection }] = await Promise.all([import('chdb'), import('chdb/connection')])
  const engine = new Session(path, { connectionArgs: ENGINE_ARGUMENTS })
  return { engine, connection: createChdbConnection({ path }) }
}
