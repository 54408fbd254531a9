import type { Config } from '../../config.ts'
import type { App } from '../../platform/http/app-types.ts'
import type { Compressed } from '../../platform/http/compressed.ts'
import type { RateLimiter } from '../../platform/http/rate-limits.ts'
import { errorResponses, fileResponse, ROUTE_ERRORS } from '../../platform/http/responses.ts'
import type { ProblemRecorder } from '../problems/record.ts'
import { refusalOf } from '../problems/watch.ts'
import { sendingHost } from './location.ts'
import { type FindTenantOfHost, notVerified, tenantNamed, toldInConsole } from './page.ts'
import { sendScriptThatSays, sendTrackerScript } from './script.ts'

/**
 * The tracker script. A page whose Origin or Referer is not on a verified domain gets a script that only says so: to
 * whoever installs the tracker, a 403 would say nothing but "blocked".
 */
export async function scriptRoutes(
  app: App,
  dependencies: {
    script: Compressed
    /** The path that serves the script in addition to /tracker.js. */
    scriptPath: string
    findTenantOfHost: FindTenantOfHost
    rateLimiter: RateLimiter
    config: Pick<Config, 'publicUrl'>
    problems: Pick<ProblemRecorder, 'refuse'>
  },
): Promise<void> {
  const { script, scriptPath, findTenantOfHost, rateLimiter, problems } = dependencies
  const { publicUrl } = dependencies.config
  app.addHook('onRequest', async (request, reply) => {
    // A module script needs it. "*", so that caches keep one copy for all pages.
    reply.header('access-control-allow-origin', '*')
    rateLimiter.checkScript(request.ip, reply)
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
            'Minified, compressed with brotli or gzip if the browser accepts it, with an ETag. Include it with one async script tag. A page whose domain is not verified gets a script that calls nothing and says in the console what to do. The tenant that `?tenant=` names then finds the page among its problems.',
          tags: ['Tracker'],
          security: [],
          hide: path !== '/tracker.js',
          response: {
            200: fileResponse('text/javascript', 'The script.'),
            ...errorResponses(ROUTE_ERRORS),
          },
        },
      },
      async (request, reply) => {
        const { origin, referer } = request.headers
        const host = sendingHost(request.headers)
        const isOfPage = origin !== undefined || referer !== undefined
        if (isOfPage && (host === null || (await findTenantOfHost(host)) === null)) {
          const tenantId = tenantNamed((request.query as { tenant?: unknown }).tenant)
          if (host !== null) {
            problems.refuse(refusalOf(request, { tenantId, host, status: 200, messages: [notVerified(host)] }))
          }
          return sendScriptThatSays(toldInConsole(host, publicUrl), reply)
        }
        return sendTrackerScript(script, request, reply)
      },
    )
  }
}
