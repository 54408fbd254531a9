/**
 * A ClickHouse server for tests: the HTTP interface, as far as the ordinary client uses it, in front of an embedded
 * engine. Run it as a process: `node clickhouse-front.ts DIRECTORY PORT`.
 */
import { createServer } from 'node:http'
import { text } from 'node:stream/consumers'
import { Session } from 'chdb'

const [directory = '', port = '0'] = process.argv.slice(2)
const session = new Session(directory)

const server = createServer(async (request, response) => {
  const url = new URL(request.url ?? '/', 'http://localhost')
  if (url.pathname === '/ping') return response.end('Ok.\n')
  const body = await text(request)
  const query = url.searchParams.get('query')
  const sql = query === null ? body : `${query}\n${body}`
  try {
    const parameters = parametersOf(url.searchParams)
    const format = url.searchParams.get('default_format') ?? 'TabSeparated'
    const result =
      Object.keys(parameters).length > 0
        ? await session.queryBindAsync(sql, parameters, { format })
        : await session.queryAsync(sql, { format })
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
