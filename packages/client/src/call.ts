import { CustomerDataError, errorOf, notTheService, parsed } from './errors.ts'
import { isTransient, wait, waitBeforeRetry } from './retry.ts'

export interface ClientOptions {
  /** Where the service runs, such as `https://data.example.com`. */
  url: string
  /** An API key: `cds_…`. Never put it into a page. */
  apiKey: string
  /** How long an attempt may take. Default: 30,000. */
  timeoutMs?: number
  /** How often a request is repeated after a failure that may pass. Default: 2. */
  retriesMax?: number
  /** Replaces the runtime's `fetch`. */
  fetch?: typeof fetch
}

export interface RequestOptions {
  signal?: AbortSignal
  /** Further headers, such as `If-Match`. */
  headers?: Record<string, string>
  timeoutMs?: number
  retriesMax?: number
  /** Retries of a POST with the same key within 24 hours change nothing and return the first response. */
  idempotencyKey?: string
  /** Called with the response, for its headers, such as `ETag`. */
  onResponse?: (response: Response) => void
}

/** A page of records if awaited, and every record of all pages in `for await`. */
export interface List<Result, Item> extends Promise<Result>, AsyncIterable<Item> {}

/** An object whose properties an operation declares: path parameters, and query parameters or fields of the body. */
type Input = object

type Kind = 'json' | 'text' | 'file'

const RECORDS_PER_PAGE = 100

/** Sends requests of operations. */
export class Caller {
  readonly #options: ClientOptions & { fetch: typeof fetch; base: string }

  constructor(options: ClientOptions) {
    if (!options.apiKey) throw new TypeError('`apiKey` is missing. Create a key in the dashboard under Settings.')
    if (!/^https?:\/\//.test(options.url ?? '') || !URL.canParse(options.url)) {
      throw new TypeError('`url` must be the address of the service, such as https://data.example.com.')
    }
    // Called as a method of another object, a browser's fetch throws.
    const call = options.fetch ?? ((input, init) => globalThis.fetch(input, init))
    this.#options = { ...options, fetch: call, base: options.url.replace(/\/+$/, '') }
  }

  /**
   * @param http such as `GET /v1/contacts/{contact_id}`
   * @param kind `text`: `input.body` is sent as it is; `file`: the response is a file or a stream, whose `Response` is
   * returned to be read
   */
  protected async call<Result>(
    http: string,
    input: Input,
    options: RequestOptions = {},
    kind: Kind = 'json',
  ): Promise<Result> {
    const { url, ...init } = requestOf(http, input, kind)
    // A POST or DELETE without a response may have taken effect. One that a rate limit refused has not.
    const isRepeatable = ['GET', 'PUT', 'PATCH'].includes(init.method) || options.idempotencyKey !== undefined
    const retriesMax = options.retriesMax ?? this.#options.retriesMax ?? 2
    for (let failures = 1; ; failures++) {
      try {
        return await this.#attempt<Result>(this.#options.base + url, init, options, kind)
      } catch (error) {
        if (!(error instanceof CustomerDataError) || !isTransient(error)) throw error
        if (failures > retriesMax || !(isRepeatable || error.status === 429)) throw error
        await wait(waitBeforeRetry(error, failures), { signal: options.signal })
        if (options.signal?.aborted) throw aborted(options.signal)
      }
    }
  }

  /** @param field the field of the response that has the records */
  protected list<Result, Item>(
    http: string,
    input: Input,
    options: RequestOptions | undefined,
    field: string,
    by: 'page' | 'offset',
  ): List<Result, Item> {
    let first: Promise<Result> | undefined
    const page = () => {
      first ??= this.call<Result>(http, input, options)
      return first
    }
    const pages = (more: Input) => this.call<Page>(http, { limit: RECORDS_PER_PAGE, ...input, ...more }, options)
    return {
      // biome-ignore lint/suspicious/noThenProperty: awaiting a list reads one page.
      then: (resolve, reject) => page().then(resolve, reject),
      catch: (reject) => page().catch(reject),
      finally: (done) => page().finally(done),
      [Symbol.toStringTag]: 'List',
      [Symbol.asyncIterator]: () => eachRecord<Item>(pages, input, field, by),
    }
  }

  async #attempt<Result>(url: string, init: Sent, options: RequestOptions, kind: Kind): Promise<Result> {
    const timeoutMs = options.timeoutMs ?? this.#options.timeoutMs ?? 30_000
    const timeout = new AbortController()
    const timer = setTimeout(() => timeout.abort(), timeoutMs)
    const signal = options.signal ? AbortSignal.any([options.signal, timeout.signal]) : timeout.signal
    const headers = {
      authorization: `Bearer ${this.#options.apiKey}`,
      ...init.headers,
      ...(options.idempotencyKey === undefined ? {} : { 'idempotency-key': options.idempotencyKey }),
      ...options.headers,
    }
    try {
      // A redirect would turn a POST into a GET.
      const response = await this.#options.fetch(url, { ...init, headers, signal, redirect: 'manual' })
      if (response.type === 'opaqueredirect' || (response.status >= 300 && response.status < 400)) {
        throw redirected(url, response)
      }
      if (!response.ok) throw await errorOf(response)
      const result = kind === 'file' ? response : parsed(await response.text())
      if (result === undefined) throw notTheService(response)
      options.onResponse?.(response)
      return result as Result
    } catch (error) {
      if (error instanceof CustomerDataError) throw error
      if (options.signal?.aborted) throw aborted(options.signal)
      if (timeout.signal.aborted) {
        throw new CustomerDataError(`${url} did not respond within ${timeoutMs} ms.`, { code: 'timeout', cause: error })
      }
      throw new CustomerDataError(`The connection to ${url} failed.`, { code: 'connection_failed', cause: error })
    } finally {
      // A file may take longer than the timeout.
      clearTimeout(timer)
    }
  }
}

interface Page {
  pagination?: { page: number; total_pages: number }
  total?: number
  [field: string]: unknown
}

async function* eachRecord<Item>(
  read: (more: Input) => Promise<Page>,
  input: Input,
  field: string,
  by: 'page' | 'offset',
): AsyncGenerator<Item> {
  const given = input as { page?: number; offset?: number }
  let next = by === 'page' ? (given.page ?? 1) : (given.offset ?? 0)
  for (;;) {
    const page = await read({ [by]: next })
    const records = (page[field] ?? []) as Item[]
    yield* records
    next += by === 'page' ? 1 : records.length
    const isLast = by === 'page' ? next > (page.pagination?.total_pages ?? 0) : next >= (page.total ?? 0)
    if (isLast || records.length === 0) return
  }
}

interface Sent {
  method: string
  headers: Record<string, string>
  body?: string
}

/** Fills the path's parameters; the others go into the query (GET, DELETE, texts) or the JSON body. */
function requestOf(http: string, input: Input, kind: Kind): Sent & { url: string } {
  const [method = '', template = ''] = http.split(' ')
  const rest = new Map(Object.entries(input).filter(([, value]) => value !== undefined))
  const path = template.replaceAll(/\{(\w+)\}/g, (_, name: string) => {
    const value = String(rest.get(name) ?? '')
    rest.delete(name)
    // `..` would lead to another path.
    if (/^\.{0,2}$/.test(value)) throw new TypeError(`\`${name}\` is missing or no id: '${value}'.`)
    return encodeURIComponent(value)
  })
  const text = kind === 'text' ? String(rest.get('body') ?? '') : undefined
  if (kind === 'text') rest.delete('body')
  if (text === undefined && method !== 'GET' && method !== 'DELETE') {
    const headers = { 'content-type': 'application/json' }
    return { url: path, method, headers, body: JSON.stringify(Object.fromEntries(rest)) }
  }
  const query = new URLSearchParams([...rest].map(([name, value]) => [name, String(value)]))
  return {
    url: query.size === 0 ? path : `${path}?${query}`,
    method,
    headers: text === undefined ? {} : { 'content-type': 'text/csv' },
    ...(text === undefined ? {} : { body: text }),
  }
}

function redirected(url: string, response: Response): CustomerDataError {
  const target = response.headers.get('location') ?? 'another address'
  const message = `${url} redirects to ${target}. Set \`url\` to the address that the service has.`
  return new CustomerDataError(message, { code: 'redirected', status: response.status })
}

function aborted(signal: AbortSignal): CustomerDataError {
  return new CustomerDataError('The request was aborted.', { code: 'aborted', cause: signal.reason })
}
