import { availableParallelism } from 'node:os'
import { type ClickHouseClient, ClickHouseLogLevel, createClient } from '@clickhouse/client'
import type { Logger } from '../log.ts'
import { type Silence, watchForSilence } from '../silence.ts'
import { embeddedStatement, type QueryParameters, type Statement, serverStatement } from './parameters.ts'
import { refusalCode } from './refusal.ts'

const REQUEST_TIMEOUT_MS = 25_000
/** Read lanes already limit the reads; this limits everything else. */
const CONNECTIONS_MAX = 64

/** Connections to the server or the embedded engine. */
export interface Connections {
  /** Lends a connection for exclusive use. */
  lend<T>(work: (idle: ClickHouseClient) => Promise<T>): Promise<T>
  /** A statement in the best form for these connections. */
  statement(query: string, parameters: QueryParameters): Statement
  cores(): Promise<number>
  /** Whether the server responds at all. The embedded engine runs in this process and needs no check. */
  silence?: Silence
  close(): Promise<void>
}

/** Failures are logged where they are handled, without sensitive data. */
const noLogs = { level: ClickHouseLogLevel.OFF }

/** Opens a client for a server. */
export function connectServer(url: string, log: Logger, silentAfterMs?: number): Connections {
  const open = (max_open_connections: number) =>
    createClient({ url, request_timeout: REQUEST_TIMEOUT_MS, max_open_connections, log: noLogs })
  const client = open(CONNECTIONS_MAX)
  // A separate connection, so that it never waits behind long queries.
  const watch = open(1)
  const silence = watchForSilence('ClickHouse', (signal) => responds(watch, signal), log, silentAfterMs)
  return {
    lend: (work) => work(client),
    statement: serverStatement,
    cores: async () => {
      const result = await client.query({ query: "SELECT getSetting('max_threads') AS threads", format: 'JSONEachRow' })
      const [row] = await result.json<{ threads: number | string }>()
      return Math.max(1, Number(row?.threads ?? 1))
    },
    silence,
    close: async () => {
      await silence.stop()
      await Promise.all([watch.close(), client.close()])
    },
  }
}

/** Whether a server responds at all; a refusal is a response. */
async function responds(client: ClickHouseClient, abort_signal: AbortSignal): Promise<boolean> {
  const result = await client.ping({ select: false, abort_signal })
  return result.success || refusalCode(result.error) !== null || !('code' in result.error)
}

/**
 * The engine must not measure its memory through cgroups. Without cgroups it prints a stack trace, and with them it
 * counts PostgreSQL's memory as its own.
 */
const ENGINE_ARGUMENTS = ['--memory_worker_use_cgroup=0']

/**
 * Opens the embedded engine. A connection runs one statement at a time, so every concurrent one needs its own: connections
 * are opened on demand (3 ms and 0.3 MB each) and reused.
 */
export async function openEmbedded({ path, database }: { path: string; database?: string }): Promise<Connections> {
  // Loaded only when needed: the library is 540 MB on disk, and a process with CLICKHOUSE_URL does not use it.
  const [{ Session }, { createChdbConnection }] = await Promise.all([import('chdb'), import('chdb/connection')])
  // The client's connection cannot pass arguments to the engine, so a session that can is opened first.
  const engine = new Session(path, { connectionArgs: ENGINE_ARGUMENTS })
  const all: ClickHouseClient[] = []
  const idle: ClickHouseClient[] = []

  async function open(): Promise<ClickHouseClient> {
    const client = createClient({ connection: createChdbConnection({ path }) as never, log: noLogs })
    all.push(client)
    if (database !== undefined) await client.command({ query: `USE ${database}` })
    return client
  }

  // Fails at startup if the engine cannot be opened.
  idle.push(await open())
  return {
    lend: async (work) => {
      const lent = idle.pop() ?? (await open())
      try {
        return await work(lent)
      } finally {
        idle.push(lent)
      }
    },
    statement: embeddedStatement,
    cores: async () => availableParallelism(),
    close: async () => {
      await Promise.all(all.map((each) => each.close()))
      engine.close()
    },
  }
}
