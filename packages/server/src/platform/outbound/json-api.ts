import { Agent, type Dispatcher, request } from 'undici'
import { OutboundError } from './client.ts'
import { checkedLookup, createAddressFinder, type Resolve } from './resolve.ts'
import { checkUrl, RefusedAddress } from './urls.ts'

const EXCHANGE_MS_MAX = 30_000
const BODY_BYTES_MAX = 32 * 1024 * 1024
/** The client is opened for each pull and closed after it, so connections may stay open throughout. */
const KEEP_ALIVE_MS = 4_000

export interface JsonApiOptions {
  /** For development and tests: allows private and local addresses, and nothing else. */
  allowPrivate: boolean
  resolve?: Resolve
  /** Certificate authorities to trust instead of the default ones. */
  ca?: string
}

export interface JsonAnswer {
  status: number
  /** By name in lower case; the first value of each. */
  headers: Record<string, string>
  /** The JSON; undefined if the response was not JSON. */
  body: unknown
}

export interface JsonCall {
  method: 'GET' | 'POST' | 'PATCH' | 'DELETE'
  url: string
  headers: Record<string, string>
  body?: unknown
  /** The body of a successful response is a text, such as CSV. */
  isText?: boolean
  signal?: AbortSignal
}

/** Calls the API of another system, under the same rules as calls to URLs from users. */
export interface JsonApi {
  /**
   * @throws RefusedAddress; OutboundError if there is no complete response within 30 seconds or it is longer than 32 MiB.
   */
  call(call: JsonCall): Promise<JsonAnswer>
  close(): Promise<void>
}

/** Opens the client. Redirects are not followed, so a token is sent only to its host. */
export function createJsonApi({ allowPrivate, resolve, ca }: JsonApiOptions): JsonApi {
  const finder = createAddressFinder({ allowPrivate, ...(resolve ? { resolve } : {}) })
  const agent = new Agent({
    connect: { lookup: checkedLookup(finder), timeout: EXCHANGE_MS_MAX, ...(ca === undefined ? {} : { ca }) },
    allowH2: false,
    headersTimeout: EXCHANGE_MS_MAX,
    bodyTimeout: EXCHANGE_MS_MAX,
    keepAliveTimeout: KEEP_ALIVE_MS,
    keepAliveMaxTimeout: KEEP_ALIVE_MS,
  })
  return {
    call: async ({ method, url, headers, body, isText = false, signal }) => {
      const limit = AbortSignal.timeout(EXCHANGE_MS_MAX)
      try {
        const answer = await request(checkUrl(url, { allowPrivate }), {
          method,
          headers: { accept: 'application/json', 'content-type': 'application/json', ...headers },
          ...(body === undefined ? {} : { body: JSON.stringify(body) }),
          signal: signal ? AbortSignal.any([signal, limit]) : limit,
          dispatcher: agent,
        })
        const { statusCode: status } = answer
        const text = await read(answer.body)
        const isKept = isText && status >= 200 && status < 300
        return { status, headers: firstOfEach(answer.headers), body: isKept ? text : parse(text) }
      } catch (error) {
        if (error instanceof RefusedAddress || error instanceof OutboundError) throw error
        if (signal?.aborted) throw signal.reason
        if (limit.aborted) {
          throw new OutboundError(
            'timeout',
            `No complete response within ${EXCHANGE_MS_MAX / 1000} seconds.`,
            null,
            error,
          )
        }
        const first = error instanceof AggregateError ? error.errors[0] : error
        const { code = 'failed', message } = first as { code?: string; message: string }
        if (first instanceof RefusedAddress) throw first
        throw new OutboundError(code, message, null, error)
      }
    },
    close: () => agent.destroy(),
  }
}

function firstOfEach(headers: Dispatcher.ResponseData['headers']): Record<string, string> {
  return Object.fromEntries(
    Object.entries(headers).flatMap(([name, value]) => {
      const first = Array.isArray(value) ? value[0] : value
      return first === undefined ? [] : [[name.toLowerCase(), first]]
    }),
  )
}

async function read(body: Dispatcher.ResponseData['body']): Promise<string> {
  const chunks: Buffer[] = []
  let length = 0
  for await (const chunk of body) {
    chunks.push(chunk as Buffer)
    length += (chunk as Buffer).length
    // Exiting the loop destroys the stream.
    if (length > BODY_BYTES_MAX) throw new OutboundError('too_long', 'The response is longer than 32 MiB.', null)
  }
  return Buffer.concat(chunks).toString('utf8')
}

function parse(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch {
    return undefined
  }
}
