/** An invalid value of a request: its path (`limit`, `properties.email`, `events[2].event`) and what it must be. */
export interface ErrorDetail {
  path: string
  message: string
}

export interface ServiceErrorOptions {
  details?: ErrorDetail[]
  headers?: Record<string, string>
  /** When the caller may try again: the header `retry-after`. */
  retryAfterSeconds?: number | undefined
  cause?: unknown
}

/**
 * The only errors that callers see. `code` is stable and machine-readable; `message` says what to do. Any other error
 * becomes a 500, whose text is not sent to the caller.
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
    const { headers = {}, retryAfterSeconds } = options
    this.headers = retryAfterSeconds === undefined ? headers : { ...headers, 'retry-after': String(retryAfterSeconds) }
  }
}

/** 400: the request is invalid; each detail names one field. */
export function validationError(details: ErrorDetail[]): ServiceError {
  const [first] = details
  const more = details.length > 1 ? ` (and ${details.length - 1} more, see details)` : ''
  const message = first ? `${first.path || 'the body'}: ${first.message}${more}` : 'The request is not valid.'
  return new ServiceError(400, 'validation_error', message, { details })
}

/** 404: for an id that is unknown, malformed or another tenant's; callers cannot tell which. */
export function notFound(what: string): ServiceError {
  return new ServiceError(404, 'not_found', `There is no such ${what}.`)
}

/** 409: the request conflicts with the stored data. */
export function conflict(code: string, message: string, details?: ErrorDetail[]): ServiceError {
  return new ServiceError(409, code, message, details ? { details } : {})
}

/** 503: a database is down; the caller should retry. */
export function storeUnavailable(store: 'PostgreSQL' | 'ClickHouse', cause: unknown): ServiceError {
  return new ServiceError(503, 'store_unavailable', `${store} is not responding. Try again shortly.`, {
    retryAfterSeconds: 2,
    cause,
  })
}

/** 503: a database's disk is full; the caller should retry later. */
export function storageFull(store: 'PostgreSQL' | 'ClickHouse', cause: unknown): ServiceError {
  const message = `The disk of ${store} is full. Try again once the operator has freed space.`
  return new ServiceError(503, 'storage_full', message, { retryAfterSeconds: 30, cause })
}
