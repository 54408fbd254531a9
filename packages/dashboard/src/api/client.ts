import type { OperationTypes } from '../../../client/src/generated/operations.ts'
import { PATHS } from './generated/paths.ts'
import { text } from './text.ts'
import type { AggregateResult, Company, Contact, Event, Pagination } from './types.ts'

/** An invalid value in a request. */
export interface ErrorDetail {
  path: string
  message: string
}

/** An unsuccessful response, with the service's message. */
export class ApiError extends Error {
  override readonly name = 'ApiError'
  /** HTTP status; 0 if there was no response. */
  readonly status: number
  readonly code: string
  readonly details: ErrorDetail[]
  readonly requestId: string | undefined

  constructor(
    status: number,
    code: string,
    message: string,
    more: { details?: ErrorDetail[] | undefined; requestId?: string | undefined; cause?: unknown } = {},
  ) {
    super(message, { cause: more.cause })
    this.status = status
    this.code = code
    this.details = more.details ?? []
    this.requestId = more.requestId
  }
}

/** Query parameters; those without a value are omitted. */
type Query = Record<string, string | number | boolean | null | undefined>

/** The name of an operation, such as `updateHook`. */
export type OperationName = keyof OperationTypes
/** The path's parameters of an operation, and those of the query or the fields of the body. */
export type Input<Name extends OperationName> = OperationTypes[Name]['input']
export type Result<Name extends OperationName> = Name extends keyof Whole
  ? Whole[Name]
  : OperationTypes[Name]['response']

/** Responses that lack fields if a call asks for a summary, for some fields or for a count only. No call here does. */
interface Whole {
  aggregate: AggregateResult & { distinct_groups: number }
  listCompanies: { companies: Company[]; pagination: Pagination; warnings?: string[] }
  listContacts: { contacts: Contact[]; pagination: Pagination; warnings?: string[] }
  listEvents: { events: Event[]; pagination: Pagination; warnings?: string[] }
}

/**
 * Calls an operation. Its declaration gives the types of the input and of the response.
 * @param version of `readWithVersion`: if the record has changed since, the error is 412.
 * @throws ApiError
 */
export function call<Name extends OperationName>(
  name: Name,
  input: Input<Name>,
  signal?: AbortSignal,
  version?: string | null,
): Promise<Result<Name>> {
  const { method, url, body } = requestOf(name, input)
  return method === 'GET' ? get(url, {}, signal) : send(method, url, body, signal, version)
}

/** Reads a record with its version, to change only that one. @throws ApiError */
export async function readWithVersion<Name extends OperationName>(name: Name, input: Input<Name>) {
  const response = await responseOf(urlOf(name, input), { credentials: 'same-origin' })
  const result: Result<Name> = await bodyOf(response)
  return { result, version: response.headers.get('etag') }
}

/** The URL of an operation that reads, such as a file to download. */
export function urlOf<Name extends OperationName>(name: Name, input: Input<Name>): string {
  return requestOf(name, input).url
}

function requestOf(name: OperationName, input: object): { method: string; url: string; body?: object } {
  const [method = '', template = ''] = PATHS[name].split(' ')
  const rest = new Map(Object.entries(input))
  const path = template.replaceAll(/\{(\w+)\}/g, (_, name: string) => {
    const value = encodeURIComponent(rest.get(name))
    rest.delete(name)
    return value
  })
  const fields = Object.fromEntries(rest)
  const isInQuery = method === 'GET' || method === 'DELETE'
  return isInQuery ? { method, url: path + queryString(fields) } : { method, url: path, body: fields }
}

/** Reads what is not an operation, such as who is signed in. @throws ApiError */
export function get<Result>(path: string, query: Query = {}, signal?: AbortSignal): Promise<Result> {
  return request<Result>(path + queryString(query), signal ? { signal } : {})
}

/** Writes what is not an operation. @throws ApiError */
export function send<Result>(
  method: string,
  path: string,
  body?: unknown,
  signal?: AbortSignal,
  version?: string | null,
): Promise<Result> {
  // Forms and other sites cannot send this header, so the service knows that the request is from one of our pages.
  const headers = new Headers({ 'x-requested-by': 'dashboard' })
  if (body !== undefined) headers.set('content-type', 'application/json')
  if (version) headers.set('if-match', version)
  return request<Result>(path, {
    method,
    headers,
    ...(body === undefined ? {} : { body: JSON.stringify(body) }),
    ...(signal === undefined ? {} : { signal }),
  })
}

interface Sending {
  /** Called with the share that was sent, from 0 to 1. */
  onProgress: (share: number) => void
  signal: AbortSignal
}

/** Sends a file, which the browser reads bit by bit. Only this kind of request reports its progress. @throws ApiError */
export function sendFile<Result>(path: string, file: File, type: string, { onProgress, signal }: Sending) {
  return new Promise<Result>((resolve, reject) => {
    const request = new XMLHttpRequest()
    request.open('POST', path)
    request.setRequestHeader('x-requested-by', 'dashboard')
    request.setRequestHeader('content-type', type)
    request.upload.onprogress = ({ loaded, total }) => onProgress(total > 0 ? loaded / total : 0)
    request.onload = () => {
      const body = parsed(request.responseText)
      if (request.status >= 200 && request.status < 300) resolve(body as Result)
      else reject(errorOf({ status: request.status, requestId: request.getResponseHeader('x-request-id') }, body))
    }
    request.onerror = () => reject(unreachable())
    request.onabort = () => reject(new DOMException('The upload was cancelled.', 'AbortError'))
    signal.addEventListener('abort', () => request.abort(), { once: true })
    request.send(file)
  })
}

function parsed(body: string): unknown {
  try {
    return JSON.parse(body)
  } catch {
    return null
  }
}

/** `?a=1&b=2`, or nothing. */
export function queryString(query: Query): string {
  const parameters = new URLSearchParams()
  for (const [name, value] of Object.entries(query)) {
    if (value === undefined || value === null || value === '') continue
    parameters.set(name, String(value))
  }
  const joined = parameters.toString()
  return joined === '' ? '' : `?${joined}`
}

/** @throws ApiError if the service is unreachable; any response is fine. */
export async function requireResponse(): Promise<void> {
  await responseOf('/favicon.svg', { cache: 'no-store' })
}

/** Whether the service responds and its databases do; a proxy may keep this address to itself, which is fine too. */
export async function isServiceReady(): Promise<boolean> {
  const response = await fetch('/health/ready', { cache: 'no-store' }).catch(() => null)
  return response !== null && response.status < 500
}

async function request<Result>(path: string, init: RequestInit): Promise<Result> {
  return bodyOf<Result>(await responseOf(path, { credentials: 'same-origin', ...init }))
}

async function bodyOf<Result>(response: Response): Promise<Result> {
  const body: unknown = await response.json().catch(() => null)
  if (!response.ok) throw errorOf({ status: response.status, requestId: response.headers.get('x-request-id') }, body)
  return body as Result
}

function responseOf(path: string, init: RequestInit): Promise<Response> {
  return fetch(path, init).catch((cause: unknown) => {
    if (cause instanceof DOMException && cause.name === 'AbortError') throw cause
    throw unreachable(cause)
  })
}

function unreachable(cause?: unknown): ApiError {
  return new ApiError(0, 'unreachable', text.none, { cause })
}

/** What an error needs of a response. */
interface Failed {
  status: number
  requestId: string | null
}

/** The service's error body, or that of the sign-in library (`{code, message}`). */
function errorOf(response: Failed, body: unknown): ApiError {
  const envelope = (body ?? {}) as { error?: unknown; code?: unknown; message?: unknown }
  const error = (typeof envelope.error === 'object' && envelope.error !== null ? envelope.error : envelope) as {
    code?: unknown
    message?: unknown
    details?: ErrorDetail[]
    request_id?: string
  }
  const code = typeof error.code === 'string' ? error.code.toLowerCase() : 'unknown'
  const message = typeof error.message === 'string' && error.message !== '' ? error.message : statusText(response)
  // Its own message is for programs without a session or a key.
  if (code === 'missing_api_key') return new ApiError(response.status, code, text.signedOut)
  const requestId = error.request_id ?? response.requestId ?? undefined
  return new ApiError(response.status, code, message, { details: error.details, requestId })
}

function statusText({ status }: Failed): string {
  return status === 429 ? text.tooMany : text.status(status)
}
