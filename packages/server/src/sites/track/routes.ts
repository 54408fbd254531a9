import Type from 'typebox'
import { recoverVisitor } from '../../identification/fingerprints.ts'
import { createSeenNetworks } from '../../identification/seen-networks.ts'
import type { GroupCommit } from '../../journal/group-commit.ts'
import type { SecretBox } from '../../platform/crypto/secret-box.ts'
import { ServiceError } from '../../platform/errors.ts'
import type { App } from '../../platform/http/app-types.ts'
import type { RateLimiter } from '../../platform/http/rate-limits.ts'
import { readJsonBody } from '../../platform/http/read-body.ts'
import { errorResponses, success } from '../../platform/http/responses.ts'
import type { Metrics } from '../../platform/metrics.ts'
import { TEXT } from '../../platform/personal.ts'
import type { PlaceOf } from '../../platform/places.ts'
import { openTenant, type Stores } from '../../platform/tenant.ts'
import type { ProblemRecorder } from '../problems/record.ts'
import { watchForProblems } from '../problems/watch.ts'
import { hintsOf } from './client-hints.ts'
import { createCollector } from './collect.ts'
import type { IdentificationDependencies } from './identification.ts'
import type { TakeLead } from './leads.ts'
import { isSecurePage, sendingHost } from './location.ts'
import { allowPage, allowPreflight, type FindTenantOfHost, PAGE_ERRORS, tenantOfPage } from './page.ts'
import { RecoverVisitorBody, TrackBody } from './requests.ts'
import { namedVisitorOf, sessionCookie } from './session.ts'

const BODY_BYTES_MAX = 256 * 1024

declare module 'fastify' {
  interface FastifyRequest {
    /** The tenant that has verified the domain of the page that sent this request. */
    siteTenantId: string
  }
}

/** The endpoints that pages call. The page's domain decides who may use them. */
export async function collectorRoutes(
  app: App,
  dependencies: Omit<IdentificationDependencies, 'externalContactIds'> & {
    stores: Stores
    secrets: SecretBox
    groupCommit: GroupCommit
    placeOf: PlaceOf
    takeLead: TakeLead
    findTenantOfHost: FindTenantOfHost
    rateLimiter: RateLimiter
    metrics: Metrics
    problems: ProblemRecorder
    /** The path that accepts events in addition to /track; recover-visitor is beside it. */
    collectPath: string
  },
): Promise<void> {
  const { stores, findTenantOfHost, rateLimiter, clock, metrics } = dependencies
  const seenNetworks = createSeenNetworks(dependencies)
  const collect = createCollector({ ...dependencies, seenNetworks })

  app.decorateRequest('siteTenantId', '')
  // text/plain needs no preflight, which saves pages a request.
  app.addContentTypeParser('text/plain', readJsonBody)
  app.addHook('onRequest', async (request, reply) => {
    request.siteTenantId = await tenantOfPage(request, findTenantOfHost)
    allowPage(request, reply)
    rateLimiter.checkPage(request.siteTenantId, request.ip, reply)
  })
  app.addHook('onError', async (_request, _reply, error) => {
    metrics.eventsRejected.inc({ code: error instanceof ServiceError ? error.code : 'other' })
  })

  watchForProblems(app, dependencies.problems, ({ siteTenantId }) => ({
    tenantId: siteTenantId || null,
    isVerified: siteTenantId !== '',
  }))

  const trackPaths = new Set(['/track', dependencies.collectPath])
  const recoverPaths = new Set([...trackPaths].map((path) => path.replace(/[^/]+$/, 'recover-visitor')))
  for (const path of [...trackPaths, ...recoverPaths]) {
    app.options(path, { config: { access: 'public' }, schema: { hide: true } as object }, allowPreflight)
  }

  for (const path of trackPaths)
    app.post(
      path,
      {
        config: { access: 'public' },
        bodyLimit: BODY_BYTES_MAX,
        schema: {
          operationId: 'track',
          summary: 'Record up to 10 events of a visitor',
          description:
            'Called by pages of a verified domain, as application/json or as text/plain holding JSON. Ids that name nobody, such as `undefined` or `null`, are ignored with the warning `ignored_id`; an ignored visitor_id is replaced by a new one. Responds once the events are durable; every read that starts after the response sees them.',
          tags: ['Tracker'],
          security: [],
          hide: path !== '/track',
          body: TrackBody,
          response: {
            200: success({ accepted: Type.Integer(), visitor_id: Type.String(TEXT), session_id: Type.String(TEXT) }),
            ...errorResponses(PAGE_ERRORS),
          },
        },
      },
      async (request, reply) => {
        const { body, headers, ip: address, siteTenantId: tenantId } = request
        const sender = {
          tenantId,
          cookies: headers.cookie,
          userAgent: headers['user-agent'] ?? '',
          hints: hintsOf(headers),
          address,
          pageHost: sendingHost(headers),
        }
        const { accepted, visitorId, sessionId, warnings } = await collect(sender, body)
        request.warnings.push(...warnings)
        const isSecure = request.protocol === 'https' || isSecurePage(headers)
        reply.header('set-cookie', sessionCookie(sessionId, isSecure))
        return { status: 'success' as const, accepted, visitor_id: visitorId, session_id: sessionId }
      },
    )

  for (const path of recoverPaths)
    app.post(
      path,
      {
        config: { access: 'public' },
        bodyLimit: BODY_BYTES_MAX,
        schema: {
          operationId: 'recoverVisitor',
          summary: 'Find the visitor of a device that has lost its cookie',
          description:
            'Takes the SHA-256 of a device fingerprint; the fingerprint itself stays in the browser. An unknown fingerprint is registered with the visitor_id sent, else that of the cookie, else a new visitor. An identified visitor is recovered only from a network where it was seen within 30 days, and a fingerprint that two visitors share recovers neither: the response then has that of the request, else a new visitor.',
          tags: ['Tracker'],
          security: [],
          hide: path !== '/recover-visitor',
          body: RecoverVisitorBody,
          response: {
            200: success({ visitor_id: Type.String(TEXT), recovered: Type.Boolean() }),
            ...errorResponses(PAGE_ERRORS),
          },
        },
      },
      async ({ body, headers, siteTenantId, ip: address, warnings }) => {
        const tenant = openTenant(stores, siteTenantId)
        const { fingerprint, visitor_id: sentId } = body
        const ignored = await dependencies.findIgnoredIds(tenant)
        const visitorId = namedVisitorOf(sentId, headers.cookie, ignored, warnings)
        const result = await recoverVisitor(tenant, seenNetworks, { fingerprint, visitorId, address }, clock())
        return { status: 'success' as const, ...result }
      },
    )
}
