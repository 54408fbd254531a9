import type { FastifyError, FastifyReply, FastifyRequest } from 'fastify'
import { toServiceError } from '../../platform/http/conventions.ts'

type Code =
  | 'access_denied'
  | 'invalid_client'
  | 'invalid_client_metadata'
  | 'invalid_grant'
  | 'invalid_redirect_uri'
  | 'invalid_request'
  | 'invalid_scope'
  | 'invalid_target'
  | 'unsupported_grant_type'
  | 'unsupported_response_type'

/** A refusal in the form that OAuth clients understand (RFC 6749, section 5.2). */
export class OAuthError extends Error {
  readonly code: Code
  readonly status: number

  constructor(code: Code, message: string, status = 400) {
    super(message)
    this.name = 'OAuthError'
    this.code = code
    this.status = status
  }
}

/** Sends an error of an endpoint that only OAuth clients call. */
export function sendOAuthError(error: FastifyError | OAuthError, request: FastifyRequest, reply: FastifyReply) {
  if (error instanceof OAuthError) return send(reply, error.status, error.code, error.message)
  const known = toServiceError(error)
  if (known.status >= 500) request.log.error({ err: error, code: known.code }, 'request failed')
  reply.headers(known.headers)
  return send(reply, known.status, codeOf(known.status), known.message)
}

function codeOf(status: number): string {
  if (status === 429 || status === 503) return 'temporarily_unavailable'
  return status >= 500 ? 'server_error' : 'invalid_request'
}

function send(reply: FastifyReply, status: number, error: string, description: string) {
  return reply.code(status).send({ error, error_description: description })
}
