/** One wrong value of a request: where it stands (`limit`, `properties.email`, `events[2].event`) and what it should be. */
export interface ErrorDetail {
  path: string
  message: string
}

export interface ServiceErrorOptions {
  details?: ErrorDetail[]
  headers?: Record<string, string>
  cause?: unknown
}

/**
 * The one family of errors that a caller may see. `code` is stable and machine-readable; `message` says what to do.
 * Anything else that is thrown becomes a 500 whose text never reaches the caller.
 */
export class ServiceError extends Error {
  readonly status: number
  readonly code: string
  readonly details: ErrorDetail[] | undefined
  readonly headers: Record<string, string>

  constructor(status: number, code: string, message: string, options: ServiceErrorOptions = {}) {
    super(message, { cause: options.cause })
    this.name = 'ServiceError'
    this.status = status
    this.code = code
    this.details = options.details
    this.headers = options.headers ?? {}
  }
}

/** 400: the request is wrong; each detail names one place in it. */
export function validationError(details: ErrorDetail[]): ServiceError {
  const [first] = details
  const more = details.length > 1 ? ` (and ${details.length - 1} more, see details)` : ''
  const message = first ? `${first.path || 'the body'}: ${first.message}${more}` : 'The request is not valid.'
  return new ServiceError(400, 'validation_error', message, { details })
}

/** 404: for an id that is unknown, ill-formed or another tenant's; the three are never told apart. */
export function notFound(what: string): ServiceError {
  return new ServiceError(404, 'not_found', `There is no such ${what}.`)
}

/** 409: the request contradicts what is stored. */
export function conflict(code: string, message: string, details?: ErrorDetail[]): ServiceError {
  return new ServiceError(409, code, message, details ? { details } : {})
}

/** 503: an engine is away; the caller should try again. */
export function storeUnavailable(store: 'PostgreSQL' | 'ClickHouse', cause: unknown): ServiceError {
  return new ServiceError(503, 'store_unavailable', `${store} does not answer at the moment. Try again shortly.`, {
    headers: { 'retry-after': '2' },
    cause,
  })
}

/** 503: an engine has no room to write; the caller should try again later. */
export function storageFull(store: 'PostgreSQL' | 'ClickHouse', cause: unknown): ServiceError {
  const message = `${store} has no room left on its disk. The operator must free space. Then try again.`
  return new ServiceError(503, 'storage_full', message, { headers: { 'retry-after': '30' }, cause })
}
