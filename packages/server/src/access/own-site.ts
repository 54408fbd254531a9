import type { FastifyRequest } from 'fastify'
import { ServiceError } from '../platform/errors.ts'

/** What no page of another site can send without being asked first, and we allow none to ask. */
const HEADER = 'x-requested-by'
const HEADER_VALUE = 'dashboard'
const SAFE_METHODS = ['GET', 'HEAD', 'OPTIONS']

const HOST = /^([a-z0-9._-]+|\[[0-9a-f:.]+\])(:\d{1,5})?$/i
const LOOPBACK = /^(localhost|127(\.\d{1,3}){3}|\[::1\])$/

/**
 * Lets in what people's browsers send to this service: requests for its own address that a page of its own wrote.
 * @throws ServiceError 403 `host_not_allowed` or `cross_site_request`.
 */
export function requireOwnSite(
  { method, headers }: Pick<FastifyRequest, 'method' | 'headers'>,
  publicUrl: string,
): void {
  requireOwnHost(headers.host, publicUrl)
  if (!SAFE_METHODS.includes(method)) requireOwnPage(headers, publicUrl)
}

/**
 * A site can point its name at this service (DNS rebinding): the browser then treats the service as that site, whose
 * pages can read and write everything. Only the Host header shows it. X-Forwarded-Host is ignored: those pages can
 * set it, and many proxies pass it on.
 */
function requireOwnHost(host: string | undefined, publicUrl: string): void {
  if (host !== undefined && isOwnHost(host, publicUrl)) return
  const called = host === undefined ? 'A request without a Host header' : `The host ${host.slice(0, 200)}`
  const message = `${called} is not this service's public address, ${new URL(publicUrl).host}. Use that address, or set CDS_PUBLIC_URL to the one that people use; a proxy must pass on the Host header.`
  throw new ServiceError(403, 'host_not_allowed', message)
}

/** On this machine any port and any local name is accepted: no site can take those over. */
function isOwnHost(host: string, publicUrl: string): boolean {
  if (!HOST.test(host)) return false
  const { protocol, host: own } = new URL(publicUrl)
  const called = `${protocol}//${host}`
  if (!URL.canParse(called)) return false
  return new URL(called).host === own || (isLoopback(publicUrl) && isLoopback(called))
}

function isLoopback(url: string): boolean {
  return LOOPBACK.test(new URL(url).hostname)
}

/**
 * A browser adds the session's cookie by itself, so a request that changes something must show that a page of ours
 * sent it: by its origin, and by a header that only script of the same origin can set.
 */
function requireOwnPage(headers: FastifyRequest['headers'], publicUrl: string): void {
  const { origin, host } = headers
  const site = headers['sec-fetch-site']
  const isOwn = origin === undefined ? site === 'same-origin' : isOwnOrigin(origin, host, publicUrl)
  // A browser that says where the request comes from must say the same.
  const fits = isOwn && (site === undefined || site === 'same-origin')
  if (fits && headers[HEADER] === HEADER_VALUE) return
  const message = isOwn
    ? `Send the header ${HEADER}: ${HEADER_VALUE}, as the dashboard does.`
    : 'This request does not come from the dashboard. Behind a proxy, set CDS_PUBLIC_URL to the address people use.'
  throw new ServiceError(403, 'cross_site_request', message)
}

/** The address that people use; on this very machine also the host that was called, which a page cannot make up. */
function isOwnOrigin(origin: string, host: string | undefined, publicUrl: string): boolean {
  if (!/^https?:\/\//.test(origin) || !URL.canParse(origin)) return false
  if (origin === new URL(publicUrl).origin) return true
  return isLoopback(publicUrl) && new URL(origin).host === host?.toLowerCase()
}
