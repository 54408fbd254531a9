import { BODY_ERRORS, type NamedError, ROUTE_ERRORS } from '../platform/http/responses.ts'
import { type Declaration, isId, isReading, routeOf } from './declare.ts'

/** Every error that an operation may return. */
export function errorsOf(operation: Declaration): NamedError[] {
  const { method, url, hasBody } = routeOf(operation)
  const fromPath = url.split('/').flatMap((part) => (part.startsWith(':') ? [part.slice(1)] : []))
  const hasId = fromPath.some((name) => isId(operation.input[name]))
  // Another word in the path, such as the name of a source, is checked like a field of the body.
  const sendsSomething = Object.keys(operation.input).length > fromPath.length
  const errors = [...EVERYWHERE]
  if (sendsSomething || hasBody) errors.push('400 validation_error')
  if (hasBody) errors.push(...BODY_ERRORS, '415 unsupported_media_type')
  if (hasId) errors.push('404 not_found')
  if (method === 'POST' && !isReading(operation)) errors.push(...IDEMPOTENCY_ERRORS)
  errors.push(operation.ifMatch ? '412 changed_meanwhile' : '400 if_match_not_supported')
  return [...errors, ...(operation.errors ?? [])]
}

/** The errors of every route that needs a key or a session. */
export const CALLER_ERRORS: readonly NamedError[] = [
  '401 invalid_api_key',
  '401 missing_api_key',
  '401 not_signed_in',
  '403 cross_site_request',
  '403 host_not_allowed',
  '403 insufficient_role',
  '403 insufficient_scope',
  '403 no_tenant',
  '403 redacting_key',
  '403 tenant_closed',
]

/** The errors of an Idempotency-Key. The response is stored encrypted. */
export const IDEMPOTENCY_ERRORS: readonly NamedError[] = [
  '409 idempotency_key_in_use',
  '409 idempotency_key_reused',
  '409 idempotency_response_not_kept',
  '429 idempotency_storage_full',
  '503 secret_key_missing',
]

const READ_ERRORS: readonly NamedError[] = [
  '400 response_too_large',
  '400 query_too_expensive',
  '429 too_many_reads',
  '503 reads_busy',
]
/** The errors of every operation and every download of records. */
export const EVERYWHERE: readonly NamedError[] = [...CALLER_ERRORS, ...READ_ERRORS, ...ROUTE_ERRORS].sort()
