import type { FastifyInstance } from 'fastify'

/**
 * Warns once when a request has X-Forwarded-For although no proxy is trusted: behind a proxy, all clients would then
 * count as one address, and share its limits. Anyone can send the header, so it says no more than that.
 */
export function warnOfIgnoredHeader(app: FastifyInstance, trustedProxies: number): void {
  let isDone = trustedProxies > 0
  app.addHook('onRequest', async ({ headers, log }) => {
    if (isDone || headers['x-forwarded-for'] === undefined) return
    isDone = true
    log.warn(
      'a request has X-Forwarded-For, which is ignored because CDS_TRUST_PROXY is 0. If a proxy stands in front of this service, set CDS_TRUST_PROXY to the number of proxies: until then, all clients behind it share the limits of one address',
    )
  })
}
