import type { FastifyRequest } from 'fastify'
import { HOST_LENGTH_MAX, shown } from '../platform/characters.ts'
import { ServiceError } from '../platform/errors.ts'
import { isLoopback } from './loopback.ts'

/** Other sites' pages can only send this header after a preflight, which is never granted. */
const HEADER = 'x-requested-by'
const HEADER_VALUE = 'dashboard'
const SAFE_METHODS = ['GET', 'HEAD', 'OPTIONS']

const HOST = /^([a-z0-9._-]+|\[[0-9a-f:.]+\])(:\d{1,5})?$/i

/**
 * Admits only requests to the service's own address, and writes only from its own pages.
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
 * Any site can point its domain at this service (DNS rebinding). The browser then treats the service as that site, whose
 * pages can read and write everything. Only the Host header reveals it. X-Forwarded-Host is ignored, because those pages
 * can set it and many proxies pass it on.
 */
function requireOwnHost(host: string | undefined, publicUrl: string): void {
  if (host !== undefined && isOwnHost(host, publicUrl)) return
  const called = host === undefined ? 'A request without a Host header' : `The host ${shown(host, HOST_LENGTH_MAX)}`
  const message = `${called} is not this service's public host, ${new URL(publicUrl).host}. Use that host, or set CDS_PUBLIC_URL to the URL that people use; a proxy must pass on the Host header.`
  throw new ServiceError(403, 'host_not_allowed', message)
}

/** On this machine, every port and local name is accepted: no site can point these at another address. */
function isOwnHost(host: string, publicUrl: string): boolean {
  if (!HOST.test(host)) return false
  const { protocol, host: own } = new URL(publicUrl)
  const called = `${protocol}//${host}`
  if (!URL.canParse(called)) return false
  return new URL(called).host === own || (isLoopback(publicUrl) && isLoopback(called))
}

/**
 * Browsers attach the session's cookie to every request, so a write must prove that one of our pages sent it: by its
 * origin, and by a header that only scripts of the same origin can set.
 */
function requireOwnPage(headers: FastifyRequest['headers'], publicUrl: string): void {
  const { origin, host } = headers
  const site = headers['sec-fetch-site']
  const isOwn = origin === undefined ? site === 'same-origin' : isOwnOrigin(origin, host, publicUrl)
  // If the browser sends Sec-Fetch-Site, it must agree.
  const fits = isOwn && (site === undefined || site === 'same-origin')
  if (fits && headers[HEADER] === HEADER_VALUE) return
  const message = isOwn
    ? `Send the header ${HEADER}: ${HEADER_VALUE}, as the dashboard does.`
    : 'This request does not come from the dashboard. Behind a proxy, set CDS_PUBLIC_URL to the URL that people use.'
  throw new ServiceError(403, 'cross_site_request', message)
}

/** The public origin; on this machine also the host that was called, which a page cannot forge. */
function isOwnOrigin(origin: string, host: string | undefined, publicUrl: string): boolean {
  if (!/^https?:\/\//.test(origin) || !URL.canParse(origin)) return false
  if (origin === new URL(publicUrl).origin) return true
  return isLoopback(publicUrl) && new URL(origin).host === host?.toLowerCase()
}
