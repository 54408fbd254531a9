import { tmpdir } from 'node:os'
import { Agent, request } from 'undici'
import { parseExactJson } from '../http/exact-numbers.ts'
import { OutboundError } from './client.ts'
import { DOWNLOAD_MS_MAX, type Download, download } from './download.ts'
import { checkedLookup, createAddressFinder, type Resolve } from './resolve.ts'
import { firstOfEach, readWhole } from './response.ts'
import { checkUrl, RefusedAddress } from './urls.ts'

const EXCHANGE_MS_MAX = 30_000
const BODY_MEBIBYTES_MAX = 32
/** The client is opened for each pull and closed after it, so connections may stay open throughout. */
const KEEP_ALIVE_MS = 4_000

export interface JsonApiOptions {
  /** For development and tests: allows private and local addresses, and nothing else. */
  allowPrivate: boolean
  resolve?: Resolve
  /** Certificate authorities to trust instead of the default ones. */
  ca?: string
  /** For the files of downloads. Default: the system's. */
  temporaryDirectory?: string
}

export interface JsonResponse {
  status: number
  /** By name in lower case; the first value of each. */
  headers: Record<string, string>
  /** The JSON, with numbers that would lose digits as texts; undefined if the response was not JSON. */
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
  /** For an API that takes longer, or must not. Default: 30 seconds. */
  timeoutMs?: number
  /** For an API whose responses must be shorter. Default: 32. */
  mebibytesMax?: number
}

/** A response whose body is a file; if it is an error, it is read as JSON. */
export interface FileResponse extends JsonResponse {
  file: Download | null
}

/** Calls the API of another system, under the same rules as calls to URLs from users. */
export interface JsonApi {
  /**
   * @throws RefusedAddress; OutboundError if there is no complete response in time (`timeout`) or it is too long (`too_long`).
   */
  call(call: JsonCall): Promise<JsonResponse>
  /**
   * Stores the response in a file, which the caller closes.
   * @throws RefusedAddress; OutboundError if it is longer than `bytesMax`, stops for 30 seconds or takes five minutes.
   */
  download(call: JsonCall, bytesMax: number): Promise<FileResponse>
  close(): Promise<void>
}

/** Opens the client. Redirects are not followed, so a token is sent only to its host. */
export function createJsonApi({ allowPrivate, resolve, ca, temporaryDirectory = tmpdir() }: JsonApiOptions): JsonApi {
  const finder = createAddressFinder({ allowPrivate, ...(resolve ? { resolve } : {}) })
  const agent = new Agent({
    connect: { lookup: checkedLookup(finder), timeout: EXCHANGE_MS_MAX, ...(ca === undefined ? {} : { ca }) },
    allowH2: false,
    headersTimeout: EXCHANGE_MS_MAX,
    bodyTimeout: EXCHANGE_MS_MAX,
    keepAliveTimeout: KEEP_ALIVE_MS,
    keepAliveMaxTimeout: KEEP_ALIVE_MS,
  })
  /** What both kinds of requests have in common. */
  const within = async <Received>(
    { method, url, headers, body, signal }: JsonCall,
    milliseconds: number,
    send: (url: URL, options: SendOptions) => Promise<Received>,
  ): Promise<Received> => {
    const limit = AbortSignal.timeout(milliseconds)
    try {
      return await send(checkUrl(url, { allowPrivate }), {
        method,
        headers: { accept: 'application/json', 'content-type': 'application/json', ...headers },
        ...(body === undefined ? {} : { body: JSON.stringify(body) }),
        signal: signal ? AbortSignal.any([signal, limit]) : limit,
        dispatcher: agent,
      })
    } catch (error) {
      if (error instanceof RefusedAddress || error instanceof OutboundError) throw error
      if (signal?.aborted) throw signal.reason
      if (limit.aborted) {
        throw new OutboundError('timeout', `No complete response within ${milliseconds / 1000} seconds.`, null, error)
      }
      const first = error instanceof AggregateError ? error.errors[0] : error
      const { code = 'failed', message } = first as { code?: string; message: string }
      if (first instanceof RefusedAddress) throw first
      throw new OutboundError(code, message, null, error)
    }
  }
  return {
    call: (call) => {
      const { timeoutMs = EXCHANGE_MS_MAX, mebibytesMax = BODY_MEBIBYTES_MAX, isText = false } = call
      return within(call, timeoutMs, async (url, options) => {
        const timeouts = { headersTimeout: timeoutMs, bodyTimeout: timeoutMs }
        const response = await request(url, { ...options, ...timeouts })
        const { statusCode: status } = response
        const text = (await readWhole(response.body, mebibytesMax)).toString('utf8')
        const isKept = isText && status >= 200 && status < 300
        return { status, headers: firstOfEach(response.headers), body: isKept ? text : parse(text) }
      })
    },
    download: (call, bytesMax) =>
      within(call, DOWNLOAD_MS_MAX, async (url, options) => {
        const { status, headers, file, error } = await download(url, options, {
          directory: temporaryDirectory,
          bytesMax,
        })
        return { status, headers: firstOfEach(headers), file, body: file === null ? parse(error) : undefined }
      }),
    close: () => agent.destroy(),
  }
}

type SendOptions = Parameters<typeof download>[1]

function parse(text: string): unknown {
  try {
    return parseExactJson(text)
  } catch {
    return undefined
  }
}
