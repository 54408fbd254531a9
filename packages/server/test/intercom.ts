import { once } from 'node:events'
import type { IncomingMessage as Request, ServerResponse } from 'node:http'
import { createServer } from 'node:https'
import type { AddressInfo } from 'node:net'
import { type MovingTimer, startMovingTimer } from './moving-timer.ts'
import type { Certificate } from './receiver.ts'

type Json = Record<string, unknown>

/** A request as the server received it. */
export interface Asked {
  path: string
  body: { query?: { value?: number }; pagination?: { starting_after?: string; per_page?: number } }
}

/** A local Intercom workspace that responds as its public documentation says. */
export interface IntercomFixture {
  url: string
  certificate: string
  /** Moves ahead instead of the pauses that a service makes between its calls. */
  timer: MovingTimer
  token: string
  contacts: Json[]
  /** Complete conversations; a search omits their parts. */
  conversations: Json[]
  asked: Asked[]
  /** The number of calls rejected by the rate limit. */
  refused: number
  /** Calls in a window of one second. */
  limit: number
  /** Replaces the server's response to a call; returns true if it has responded. */
  intercept: (asked: Asked, response: ServerResponse) => boolean
  close(): Promise<void>
}

const PER_PAGE_MAX = 150
const DAY = 86_400

/** Starts the server. */
export async function startIntercom({ key, certificate }: Certificate): Promise<IntercomFixture> {
  let window = 0
  let calls = 0

  async function serve(request: Request, response: ServerResponse): Promise<unknown> {
    const chunks: Buffer[] = []
    for await (const chunk of request) chunks.push(chunk as Buffer)
    const text = Buffer.concat(chunks).toString('utf8')
    const asked: Asked = { path: request.url ?? '', body: text === '' ? {} : JSON.parse(text) }
    const now = fixture.timer.now()
    const second = Math.floor(now / 1_000)
    if (window !== second) [window, calls] = [second, 0]
    const leftMs = (second + 1) * 1_000 - now
    calls++
    response.setHeader('content-type', 'application/json; charset=utf-8')
    response.setHeader('x-ratelimit-limit', String(fixture.limit))
    response.setHeader('x-ratelimit-remaining', String(Math.max(0, fixture.limit - calls)))
    response.setHeader('x-ratelimit-reset', String(Math.ceil((Date.now() + leftMs) / 1_000)))
    if (calls > fixture.limit) {
      fixture.refused++
      return fail(response, 429, 'rate_limit_exceeded', 'Exceeded rate limit')
    }
    fixture.asked.push(asked)
    if (request.headers.authorization !== `Bearer ${fixture.token}`) {
      return fail(response, 401, 'unauthorized', 'Access Token Invalid')
    }
    if (!/^2\.\d+$/.test(String(request.headers['intercom-version']))) {
      return fail(response, 400, 'intercom_version_invalid', 'The requested version could not be found')
    }
    if (fixture.intercept(asked, response)) return response
    return respond(request.method ?? '', asked, response)
  }

  function respond(method: string, asked: Asked, response: ServerResponse): unknown {
    const { path } = asked
    const [, one] = /^\/conversations\/([^/?]+)$/.exec(path) ?? []
    if (method === 'GET' && path === '/me') {
      return end(response, {
        type: 'admin',
        id: '1',
        app: { type: 'app', id_code: 'wsid1234', name: 'Workspace', region: 'US' },
      })
    }
    if (method === 'POST' && path === '/contacts/search') return search(fixture.contacts, 'data', DAY, asked, response)
    if (method === 'POST' && path === '/conversations/search') {
      const found = fixture.conversations.map(({ conversation_parts: _, ...conversation }) => conversation)
      return search(found, 'conversations', 1, asked, response)
    }
    const conversation = fixture.conversations.find(({ id }) => id === one)
    if (method === 'GET' && conversation) return end(response, conversation)
    return fail(response, 404, 'not_found', 'Resource Not Found')
  }

  /** Contacts are searched by whole days, conversations by seconds. */
  function search(all: Json[], name: string, granularity: number, { body }: Asked, response: ServerResponse): unknown {
    const { starting_after: cursor, per_page: perPage = 20 } = body.pagination ?? {}
    const value = body.query?.value
    if (perPage > PER_PAGE_MAX || typeof value !== 'number') return fail(response, 400, 'parameter_invalid', 'Invalid')
    const after = Math.floor(value / granularity) * granularity
    const found = all.filter(({ updated_at }) => Number(updated_at) > after)
    found.sort((a, b) => Number(a.updated_at) - Number(b.updated_at))
    const from = cursor === undefined ? 0 : Number(Buffer.from(cursor, 'base64url').toString())
    if (!Number.isInteger(from)) return fail(response, 400, 'parameter_invalid', 'starting_after is not valid')
    const page = found.slice(from, from + perPage)
    const isLast = from + perPage >= found.length
    const next = { page: from / perPage + 2, starting_after: Buffer.from(String(from + perPage)).toString('base64url') }
    const pages = { type: 'pages', page: from / perPage + 1, per_page: perPage, ...(isLast ? {} : { next }) }
    return end(response, { type: 'list', [name]: page, total_count: found.length, pages })
  }

  const server = createServer({ key, cert: certificate }, (request, response) => {
    serve(request, response).catch(() => response.destroy())
  })
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  const fixture: IntercomFixture = {
    url: `https://localhost:${(server.address() as AddressInfo).port}`,
    certificate,
    timer: startMovingTimer(),
    token: 'dG9rOnRlc3QtdG9rZW4tb2YtaW50ZXJjb20',
    contacts: [],
    conversations: [],
    asked: [],
    refused: 0,
    limit: 1_000,
    intercept: () => false,
    close: async () => {
      server.closeAllConnections()
      server.close()
      await once(server, 'close')
    },
  }
  return fixture
}

function end(response: ServerResponse, body: Json): unknown {
  return response.end(JSON.stringify(body))
}

/** An error in Intercom's format. */
export function fail(response: ServerResponse, status: number, code: string, message: string): unknown {
  response.statusCode = status
  return end(response, { type: 'error.list', request_id: 'b2d8q', errors: [{ code, message }] })
}
