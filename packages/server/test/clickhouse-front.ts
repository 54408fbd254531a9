/**
 * A ClickHouse server for tests: the HTTP interface, as far as the ordinary client uses it, in front of an embedded
 * engine. Run it as a process: `node clickhouse-front.ts DIRECTORY PORT [CLUSTER [SECOND]]`. With the name of a cluster
 * it is that cluster's only server, beside whatever listens on the port SECOND.
 */
import { writeFileSync } from 'node:fs'
import { createServer } from 'node:http'
import { join } from 'node:path'
import { text } from 'node:stream/consumers'
import { Session } from 'chdb'

const [directory = '', port = '0', cluster, second] = process.argv.slice(2)
/** A server would query itself over the network; this one does it directly. */
const OVER_THE_NETWORK = 'prefer_localhost_replica = 0, '
const session = new Session(directory, { connectionArgs: cluster === undefined ? [] : [configuration(cluster)] })

const server = createServer(async (request, response) => {
  const url = new URL(request.url ?? '/', 'http://localhost')
  if (url.pathname === '/ping') return response.end('Ok.\n')
  const body = await text(request)
  const query = url.searchParams.get('query')
  const sql = query === null ? body : `${query}\n${body}`
  try {
    const parameters = parametersOf(url.searchParams)
    const format = url.searchParams.get('default_format') ?? 'TabSeparated'
    const length = url.searchParams.get('max_query_size')
    if (length !== null) await session.queryAsync(`SET max_query_size = ${Number(length)}`)
    const run = (statement: string) =>
      Object.keys(parameters).length > 0
        ? session.queryBindAsync(statement, parameters, { format })
        : session.queryAsync(statement, { format })
    const result = await run(cluster === undefined ? sql : await asOnlyServer(sql, run))
    response.end(Buffer.from(result.bytes()))
  } catch (error) {
    const message = error instanceof Error ? error.message : String(error)
    response.statusCode = 400
    response.setHeader('X-ClickHouse-Exception-Code', /Code: (\d+)/.exec(message)?.[1] ?? '1002')
    response.end(message)
  }
})
server.listen(Number(port), '127.0.0.1', () => {
  const address = server.address()
  console.log(`ready ${typeof address === 'object' ? address?.port : port}`)
})

/**
 * Two shards, so that the engine plans distributed queries. The first is the engine itself, recognized by the port that it
 * would listen on; without a port for the second, it does not exist and no rows belong to it.
 */
function configuration(name: string): string {
  const path = join(directory, 'cluster.xml')
  const shard = (weight: number, port: number) =>
    `<shard><weight>${weight}</weight><internal_replication>true</internal_replication>
      <replica><host>localhost</host><port>${port}</port><compression>false</compression></replica></shard>`
  writeFileSync(
    path,
    `<clickhouse>
      <tcp_port>9000</tcp_port>
      <macros><shard>01</shard><replica>one</replica></macros>
      <remote_servers><${name}>${shard(1, 9000)}${second === undefined ? shard(0, 9) : shard(1, Number(second))}</${name}></remote_servers>
    </clickhouse>`,
  )
  return `--config-file=${path}`
}

/**
 * The embedded engine cannot do what requires a network: ON CLUSTER statements, replicas (it has no port to copy from),
 * and queries to itself over the network. On a single server, each is equivalent to the statement without it. The engine
 * still validates a replicated table as written; a missing Keeper is its last error.
 */
async function asOnlyServer(sql: string, run: (statement: string) => Promise<unknown>): Promise<string> {
  const [first = ''] = sql.split('\n', 1)
  // Inserted rows are never changed.
  if (first.startsWith('INSERT')) return first.replace(OVER_THE_NETWORK, '') + sql.slice(first.length)
  const here = sql.replace(OVER_THE_NETWORK, 'skip_unavailable_shards = 1, ').replace(/ ON CLUSTER '\w+'/, '')
  if (!here.includes('ENGINE = Replicated')) return here
  const refusal = await run(here).then(
    () => null,
    (error: Error) => error.message,
  )
  // It exists already, and the statement has IF NOT EXISTS.
  if (refusal === null) return here
  if (!refusal.includes('NO_ZOOKEEPER')) throw new Error(refusal)
  return here
    .replace(/ENGINE = Replicated(\w+)\('[^']*', '[^']*'(?:, )?/, 'ENGINE = $1(')
    .replace('replicated_deduplication_window =', 'non_replicated_deduplication_window =')
    .replace(/,\s*replicated_deduplication_window_seconds = \d+/, '')
}

/** `param_name=value`, escaped as in a tab-separated file. */
function parametersOf(search: URLSearchParams): Record<string, string> {
  const escapes: Record<string, string> = { t: '\t', n: '\n', r: '\r', b: '\b', f: '\f', 0: '\0' }
  const entries = [...search].filter(([name]) => name.startsWith('param_'))
  return Object.fromEntries(
    entries.map(([name, value]) => [
      name.slice('param_'.length),
      value.replace(/\\(.)/gs, (_, character: string) => escapes[character] ?? character),
    ]),
  )
}
