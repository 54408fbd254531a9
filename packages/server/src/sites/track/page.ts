import type { FastifyReply, FastifyRequest } from 'fastify'
import { ServiceError } from '../../platform/errors.ts'
import { sendingHost } from './location.ts'

/** Finds the tenant that has verified a host's domain; null when none has. */
export type FindTenantOfHost = (host: string) => Promise<string | null>

/** The tenant whose page sent a request. @throws ServiceError 403 `domain_not_allowed`. */
export async function tenantOfPage(request: FastifyRequest, findTenantOfHost: FindTenantOfHost): Promise<string> {
  const host = sendingHost(request.headers)
  const tenantId = host === null ? null : await findTenantOfHost(host)
  if (tenantId === null) throw domainNotAllowed(host)
  return tenantId
}

/** 403: nobody, or not the tenant that is meant, has verified the domain of the page. */
export function domainNotAllowed(host: string | null): ServiceError {
  const message =
    host === null
      ? 'The request names no page: it needs an Origin or a Referer header.'
      : `The domain ${host.slice(0, 253)} is not verified for this. Add and verify it in the settings.`
  return new ServiceError(403, 'domain_not_allowed', message)
}

/** CORS for this very page: it may read the answer, and its cookies come along. */
export function allowPage(request: FastifyRequest, reply: FastifyReply): void {
  const { origin } = request.headers
  reply.header('vary', 'Origin')
  if (origin === undefined) return
  reply.header('access-control-allow-origin', origin).header('access-control-allow-credentials', 'true')
}

/** Answers a preflight: a page of the tenant may POST JSON. */
export async function answerPreflight(_request: FastifyRequest, reply: FastifyReply): Promise<FastifyReply> {
  return reply
    .headers({
      'access-control-allow-methods': 'POST',
      'access-control-allow-headers': 'content-type, x-request-id',
      'access-control-max-age': '86400',
    })
    .code(204)
    .send()
}
