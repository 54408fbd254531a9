import type { App } from '../../platform/http/app-types.ts'
import type { Compressed } from '../../platform/http/compressed.ts'
import type { RateLimiter } from '../../platform/http/rate-limits.ts'
import { errorResponses, fileResponse, ROUTE_ERRORS } from '../../platform/http/responses.ts'
import { type FindTenantOfHost, tenantOfPage } from './page.ts'
import { sendTrackerScript } from './script.ts'

/** The tracker script. Pages that send an Origin or Referer must be on a verified domain; others are served. */
export async function scriptRoutes(
  app: App,
  dependencies: {
    script: Compressed
    /** The path that serves the script in addition to /tracker.js. */
    scriptPath: string
    findTenantOfHost: FindTenantOfHost
    rateLimiter: RateLimiter
  },
): Promise<void> {
  const { script, scriptPath, findTenantOfHost, rateLimiter } = dependencies
  app.addHook('onRequest', async (request, reply) => {
    // A module script needs it. "*", so that caches keep one copy for all pages.
    reply.header('access-control-allow-origin', '*')
    rateLimiter.checkScript(request.ip, reply)
    const { origin, referer } = request.headers
    if (origin !== undefined || referer !== undefined) await tenantOfPage(request, findTenantOfHost)
  })
  for (const path of new Set(['/tracker.js', scriptPath])) {
    app.get(
      path,
      {
        config: { access: 'public' },
        schema: {
          operationId: 'trackerScript',
          summary: 'The tracker script',
          description:
            'Minified, compressed with brotli or gzip if the browser accepts it, with an ETag. Include it with one async script tag.',
          tags: ['Tracker'],
          security: [],
          hide: path !== '/tracker.js',
          response: {
            200: fileResponse('text/javascript', 'The script.'),
            ...errorResponses([...ROUTE_ERRORS, '403 domain_not_allowed']),
          },
        },
      },
      async (request, reply) => sendTrackerScript(script, request, reply),
    )
  }
}
