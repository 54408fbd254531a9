/** A response that is not a success, or a request without one. Compare `code`, which is stable, not `message`. */
export class CustomerDataError extends Error {
  override readonly name = 'CustomerDataError'
  /** Such as `insufficient_scope`; without a response `connection_failed`, `timeout` or `aborted`. */
  readonly code: string
  /** The status of the response, or 0 without one. */
  readonly status: number
  /** Which fields are wrong, if the request was invalid. */
  readonly details: { path: string; message: string }[]
  /** Names the request in the service's log. */
  readonly requestId: string | null
  /** How long the service asks callers to wait. */
  readonly retryAfterSeconds: number | null

  constructor(
    message: string,
    { code, status = 0, details = [], requestId = null, retryAfterSeconds = null, cause }: ErrorFields,
  ) {
    super(message, cause === undefined ? undefined : { cause })
    this.code = code
    this.status = status
    this.details = details
    this.requestId = requestId
    this.retryAfterSeconds = retryAfterSeconds
  }
}

interface ErrorFields {
  code: string
  status?: number
  details?: { path: string; message: string }[]
  requestId?: string | null
  retryAfterSeconds?: number | null
  cause?: unknown
}

/** The error of a response: the service's own, or one that says what responded instead of the service. */
export async function errorOf(response: Response): Promise<CustomerDataError> {
  const { status, headers } = response
  const requestId = headers.get('x-request-id')
  const retryAfterSeconds = secondsOf(headers.get('retry-after'))
  const text = await response.text().catch(() => '')
  const { error } = (parsed(text) ?? {}) as ErrorBody
  if (typeof error?.code === 'string') {
    const { code, message, details, request_id } = error
    return new CustomerDataError(message ?? code, {
      code,
      status,
      details: details ?? [],
      requestId: request_id ?? requestId,
      retryAfterSeconds,
    })
  }
  return notTheService(response)
}

/** The error of a response that is not the service's: another server's, or a proxy's. */
export function notTheService({ url, status, headers }: Response): CustomerDataError {
  const message = `${url} returned ${status}, but not as the Customer Data Service does. Check the URL, and the proxies in front of the service.`
  const retryAfterSeconds = secondsOf(headers.get('retry-after'))
  return new CustomerDataError(message, { code: 'unexpected_response', status, retryAfterSeconds })
}

interface ErrorBody {
  error?: { code?: unknown; message?: string; details?: { path: string; message: string }[]; request_id?: string }
}

/** The value of a JSON text, or undefined if it is none. */
export function parsed(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch {
    return undefined
  }
}

/** Retry-After is a number of seconds or, from proxies, a date. */
function secondsOf(header: string | null): number | null {
  if (header === null) return null
  const seconds = /^\d+$/.test(header) ? Number(header) : (Date.parse(header) - Date.now()) / 1_000
  return Number.isNaN(seconds) ? null : Math.max(0, seconds)
}
