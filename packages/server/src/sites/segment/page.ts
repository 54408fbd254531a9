import type { FastifyReply, FastifyRequest } from 'fastify'
import { DAY_SECONDS } from '../../platform/time.ts'
import { sendingHost } from '../track/location.ts'
import { allowPage, domainNotAllowed, type FindTenantOfHost } from '../track/page.ts'

/** What the SDKs send: Segment's its count of retries, RudderStack's the visitor, its clock and how often it retried. */
const HEADERS = [
  'authorization',
  'content-type',
  'x-retry-count',
  'anonymousid',
  'sentat',
  'rsa-recovered',
  'rsa-retry-attempt',
  'rsa-since-last-attempt',
  'rsa-since-first-attempt',
  'rsa-retry-reason',
]

/** CORS for pages on verified domains: they may read the response, so that their SDK knows whether to send it again. */
export async function allowVerifiedPage(
  request: FastifyRequest,
  reply: FastifyReply,
  findTenantOfHost: FindTenantOfHost,
): Promise<void> {
  const host = sendingHost(request.headers)
  const tenantId = host === null ? null : await findTenantOfHost(host)
  if (tenantId !== null) {
    allowPage(request, reply)
    reply.header('access-control-expose-headers', 'Retry-After')
  }
  // The preflight carries no key, so the tenant of the key is checked with the request itself.
  else if (request.method === 'OPTIONS') throw domainNotAllowed(host)
}

/** Responds to the preflight of a page that `allowVerifiedPage` has allowed. */
export async function allowSdkPreflight(_request: FastifyRequest, reply: FastifyReply): Promise<FastifyReply> {
  return reply
    .headers({
      'access-control-allow-methods': 'GET, POST',
      'access-control-allow-headers': HEADERS.join(', '),
      'access-control-max-age': String(DAY_SECONDS),
    })
    .code(204)
    .send()
}
