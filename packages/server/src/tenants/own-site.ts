import type { FastifyRequest } from 'fastify'
import { ServiceError } from '../platform/errors.ts'

/** What no page of another site can send without being asked first, and we allow none to ask. */
const HEADER = 'x-requested-by'
const HEADER_VALUE = 'dashboard'
const SAFE_METHODS = ['GET', 'HEAD', 'OPTIONS']

/**
 * A browser adds the session's cookie by itself, so a request that changes something must show that a page of ours
 * sent it: by its origin, and by a header that only script of the same origin can set.
 * @throws ServiceError 403 `cross_site_request`.
 */
export function requireOwnSite({ method, headers }: FastifyRequest, publicUrl: string): void {
  if (SAFE_METHODS.includes(method)) return
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

/** The address that people use, or the very host that was called: a page cannot make up either. */
function isOwnOrigin(origin: string, host: string | undefined, publicUrl: string): boolean {
  if (!/^https?:\/\//.test(origin) || !URL.canParse(origin)) return false
  return origin === new URL(publicUrl).origin || new URL(origin).host === host?.toLowerCase()
}
