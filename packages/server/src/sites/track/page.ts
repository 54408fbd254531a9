import type { FastifyReply, FastifyRequest } from 'fastify'
import { isLocalDomain, isLoopback } from '../../access/loopback.ts'
import { HOST_LENGTH_MAX, shown } from '../../platform/characters.ts'
import { ServiceError } from '../../platform/errors.ts'
import { BODY_ERRORS, type NamedError, ROUTE_ERRORS } from '../../platform/http/responses.ts'
import { isUuid } from '../../platform/ids.ts'
import { DAY_SECONDS } from '../../platform/time.ts'
import { sendingHost } from './location.ts'

/** Finds the tenant that has verified a host's domain; null if none has. */
export type FindTenantOfHost = (host: string) => Promise<string | null>

/** The errors of the routes that pages call with JSON. */
export const PAGE_ERRORS: readonly NamedError[] = [
  ...ROUTE_ERRORS,
  ...BODY_ERRORS,
  '400 validation_error',
  '403 domain_not_allowed',
  '403 tenant_closed',
  '415 unsupported_media_type',
]

/** The tenant whose page sent a request. @throws ServiceError 403 `domain_not_allowed`. */
export async function tenantOfPage(request: FastifyRequest, findTenantOfHost: FindTenantOfHost): Promise<string> {
  const host = sendingHost(request.headers)
  const tenantId = host === null ? null : await findTenantOfHost(host)
  if (tenantId === null) throw domainNotAllowed(host)
  return tenantId
}

/** 403: the page's domain is not verified, or not by the tenant in question. */
export function domainNotAllowed(host: string | null): ServiceError {
  return new ServiceError(403, 'domain_not_allowed', notVerified(host))
}

/** The tenant that a URL names, whether or not it exists; null if it is not an id. */
export function tenantNamed(text: unknown): string | null {
  return typeof text === 'string' && isUuid(text) ? text.toLowerCase() : null
}

/** Why a page is refused, and what to do. */
export function notVerified(host: string | null): string {
  return host === null
    ? 'The request has no page: it needs an Origin or a Referer header.'
    : `${shown(host, HOST_LENGTH_MAX)} is not one of your verified domains. Add and verify it in the settings.`
}

/** What the console says on a page that gets no tracker, for whoever installs it. */
export function toldInConsole(host: string | null, publicUrl: string): string {
  if (host === null) return notVerified(null)
  const name = shown(host, HOST_LENGTH_MAX)
  return isLocalDomain(host) && !isLoopback(publicUrl)
    ? `${name} is each visitor's own computer. Test on a host of a domain that you have verified, or run the service on the same computer.`
    : `${name} is not one of your verified domains. Add it at ${publicUrl}/settings/domains and reload this page.`
}

/** CORS for this page only: it may read the response and send cookies. */
export function allowPage(request: FastifyRequest, reply: FastifyReply): void {
  const { origin } = request.headers
  reply.header('vary', 'Origin')
  if (origin === undefined) return
  reply.header('access-control-allow-origin', origin).header('access-control-allow-credentials', 'true')
}

/** Responds to a preflight: pages of the tenant may POST JSON. */
export async function allowPreflight(_request: FastifyRequest, reply: FastifyReply): Promise<FastifyReply> {
  return reply
    .headers({
      'access-control-allow-methods': 'POST',
      'access-control-allow-headers': 'content-type, x-request-id',
      'access-control-max-age': String(DAY_SECONDS),
    })
    .code(204)
    .send()
}
