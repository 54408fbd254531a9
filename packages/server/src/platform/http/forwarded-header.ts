import type { FastifyInstance } from 'fastify'

/**
 * Warns once when a request has X-Forwarded-For although no proxy is trusted: behind a proxy, all clients would then
 * count as one address and share its limits. Anyone can send the header, so this is only a hint.
 */
export function warnOfIgnoredHeader(app: FastifyInstance, trustedProxies: number): void {
  let isDone = trustedProxies > 0
  app.addHook('onRequest', async ({ headers, log }) => {
    if (isDone || headers['x-forwarded-for'] === undefined) return
    isDone = true
    log.warn(
      'a request has the header X-Forwarded-For, which is ignored because CDS_TRUST_PROXY is 0. If this service is behind a proxy, set CDS_TRUST_PROXY to the number of proxies: until then, all clients behind it share the limits of one address',
    )
  })
}
