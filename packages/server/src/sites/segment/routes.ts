import type { FastifyReply, FastifyRequest } from 'fastify'
import type { Config } from '../../config.ts'
import type { App } from '../../platform/http/app-types.ts'
import { readJsonBody } from '../../platform/http/read-body.ts'
import type { ProblemRecorder } from '../problems/record.ts'
import { batchRoutes, callRoutes, pixelRoutes } from './call-routes.ts'
import { type CredentialDependencies, isFromSdk } from './credentials.ts'
import { authenticateSdks } from './hooks.ts'
import { allowSdkPreflight } from './page.ts'
import type { RecordDependencies } from './record.ts'
import { RECORDED } from './requests.ts'
import { rudderSettings, segmentSettings } from './settings.ts'

const WITH_KEY = { config: { access: 'public', credentials: 'write-key' }, schema: { hide: true } as object } as const
const OPEN = { config: { access: 'public' }, schema: { hide: true } as object } as const
const METRICS_BYTES_MAX = 64 * 1024

/**
 * The routes that the SDKs of Segment and RudderStack call with a write key. The SDKs send a request again after a 429
 * or 5xx, and drop it after any other 4xx.
 */
export async function segmentRoutes(
  app: App,
  dependencies: CredentialDependencies &
    RecordDependencies & { config: Pick<Config, 'publicUrl'>; problems: ProblemRecorder },
): Promise<void> {
  // SDKs send JSON as text/plain, and compressed JSON as a form.
  app.removeAllContentTypeParsers()
  app.addContentTypeParser('*', readJsonBody)
  app.addConstraintStrategy(bySdk(dependencies.config.publicUrl))
  authenticateSdks(app, dependencies)
  callRoutes(app, dependencies)
  batchRoutes(app, dependencies)
  pixelRoutes(app, dependencies)
  settingsRoutes(app, dependencies)
}

/** The settings that SDKs in browsers load first, and a route for metrics about themselves, which are discarded. */
function settingsRoutes(app: App, { config }: { config: Pick<Config, 'publicUrl'> }): void {
  const SEGMENT = '/v1/projects/:writeKey/settings'
  // Segment's SDK reads this path with the key in it.
  app.options(SEGMENT, OPEN, allowSdkPreflight)
  app.get(SEGMENT, WITH_KEY, async (request, reply) => {
    reply.header('cache-control', 'no-store')
    return segmentSettings((request.params as { writeKey: string }).writeKey, config.publicUrl)
  })
  for (const path of ['/sourceConfig', '/sourceConfig/']) {
    app.options(path, OPEN, allowSdkPreflight)
    app.get(path, WITH_KEY, async (request: FastifyRequest, reply: FastifyReply) => {
      reply.header('cache-control', 'no-store')
      return rudderSettings(request.keyedSource?.sourceId ?? '')
    })
  }
  app.options('/v1/m', OPEN, allowSdkPreflight)
  app.post('/v1/m', { ...OPEN, bodyLimit: METRICS_BYTES_MAX }, async () => RECORDED)
}

/**
 * `POST /v1/identify` is a path of the API and of the SDKs. The constraint sends requests with a write key to the route
 * that has `constraints: {sdk: true}`, and all others to the operation.
 */
function bySdk(publicUrl: string) {
  return {
    name: 'sdk',
    storage: <Handler>() => {
      const routes = new Map<unknown, Handler>()
      return {
        get: (value: unknown) => routes.get(value) ?? null,
        set: (value: unknown, route: Handler) => void routes.set(value, route),
      }
    },
    validate: () => {},
    deriveConstraint: (request: FastifyRequest['raw']) => isFromSdk(request, publicUrl) || undefined,
  }
}
