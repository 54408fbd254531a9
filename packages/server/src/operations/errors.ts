import type { TSchema } from 'typebox'
import { ErrorAnswer } from '../platform/http/responses.ts'
import { type Declaration, isId, routeOf } from './declare.ts'

/** The responses other than the success of an operation, by status: each describes the codes it may have. */
export function errorResponses(operation: Declaration): Record<string, TSchema> {
  const codes = Map.groupBy(errorsOf(operation), (error) => error.slice(0, 3))
  const responses = [...codes].sort().map(([status, errors]) => {
    const names = errors.map((error) => `\`${error.slice(4)}\``)
    return [status, { ...ErrorAnswer, 'x-response-description': names.join(', ') }]
  })
  return Object.fromEntries(responses)
}

/** Every error that an operation may answer, as `409 webhook_paused`. */
export function errorsOf(operation: Declaration): string[] {
  const { method, url, hasBody } = routeOf(operation)
  const fromPath = url.split('/').flatMap((part) => (part.startsWith(':') ? [part.slice(1)] : []))
  const hasId = fromPath.some((name) => isId(operation.input[name]))
  // Another word in the path, such as the name of a source, is checked like a field of the body.
  const sendsSomething = Object.keys(operation.input).length > fromPath.length
  return [
    ...EVERYWHERE,
    ...(sendsSomething || hasBody ? ['400 validation_error'] : []),
    ...(hasBody ? WITH_BODY : []),
    ...(hasId ? ['404 not_found'] : []),
    ...(method === 'POST' ? ['409 idempotency_key_in_use', '409 idempotency_key_reused'] : []),
    ...(operation.ifMatch ? ['412 changed_meanwhile'] : []),
    ...(operation.errors ?? []),
  ]
}

const EVERYWHERE = [
  '400 answer_too_large',
  '400 query_too_expensive',
  '401 invalid_api_key',
  '401 missing_api_key',
  '401 not_signed_in',
  '403 cross_site_request',
  '403 host_not_allowed',
  '403 insufficient_role',
  '403 insufficient_scope',
  '403 no_tenant',
  '429 rate_limited',
  '429 too_many_reads',
  '500 internal_error',
  '503 overloaded',
  '503 reads_busy',
  '503 storage_full',
  '503 store_unavailable',
]
const WITH_BODY = [
  '400 invalid_content_encoding',
  '400 invalid_json',
  '413 body_too_large',
  '415 unsupported_content_encoding',
  '415 unsupported_media_type',
]
