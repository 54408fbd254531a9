import Type from 'typebox'
import type { InsightServices } from '../insights/question.ts'
import { notFound, ServiceError } from '../platform/errors.ts'
import type { App } from '../platform/http/app-types.ts'
import type { RateLimiter } from '../platform/http/rate-limits.ts'
import { errorResponses, ROUTE_ERRORS, success } from '../platform/http/responses.ts'
import { openTenant, type Stores } from '../platform/tenant.ts'
import type { Clock } from '../platform/time.ts'
import { findShareLink } from './share-links.ts'
import { SharedView, sharedView } from './shared-view.ts'

/** What a shared link shows. The token in the path is the credential. */
export function sharedRoutes(
  app: App,
  services: InsightServices & {
    stores: Stores
    clock: Clock
    rateLimiter: Pick<RateLimiter, 'checkShared' | 'checkInvalid' | 'countInvalid'>
  },
): void {
  const { stores, rateLimiter } = services
  app.get(
    '/v1/public/shared/:token',
    {
      config: { access: 'public' },
      schema: {
        operationId: 'readShared',
        tags: ['Public'],
        security: [],
        summary: 'Read the figures of a shared report or dashboard',
        description:
          'For anybody who has the link. The response has numbers, and never people: neither conditions nor values that may be about a person. It is computed once a minute.',
        params: Type.Object({ token: Type.String({ description: 'The last part of the link.' }) }),
        response: {
          200: success(SharedView),
          ...errorResponses([...ROUTE_ERRORS, '404 not_found']),
        },
      },
    },
    async (request, reply) => {
      rateLimiter.checkInvalid('shared link', request)
      rateLimiter.checkShared(request, reply)
      reply.headers(HEADERS)
      const link = await findShareLink(stores.database, request.params.token)
      // Of a closed workspace as of a link that nobody has: the response tells nothing about it.
      if (link === null || stores.closed.has(link.tenantId)) {
        rateLimiter.countInvalid('shared link', request)
        throw notFound('shared link')
      }
      try {
        const view = await sharedView(openTenant(stores, link.tenantId), services, link)
        return { status: 'success' as const, ...view }
      } catch (error) {
        // Deleted or closed meanwhile.
        if (error instanceof ServiceError && error.status < 500) throw notFound('shared link')
        throw error
      }
    },
  )
}

const HEADERS = {
  // A link that was deleted shows nothing from then on.
  'cache-control': 'no-store',
  'referrer-policy': 'no-referrer',
  'x-robots-tag': 'noindex',
}
