import type { FastifyReply, FastifyRequest } from 'fastify'
import type { Config } from '../../config.ts'
import type { App } from '../../platform/http/app-types.ts'
import { answerSdkPreflight } from './page.ts'
import { RECORDED } from './requests.ts'

const WITH_KEY = { config: { access: 'public', credentials: 'write-key' }, schema: { hide: true } as object } as const
const OPEN = { config: { access: 'public' }, schema: { hide: true } as object } as const

/** The settings that SDKs in browsers load first, and a route for metrics about themselves, which are discarded. */
export function settingsRoutes(app: App, { config }: { config: Pick<Config, 'publicUrl'> }): void {
  const SEGMENT = '/v1/projects/:writeKey/settings'
  // Segment's SDK reads this path with the key in it.
  app.options(SEGMENT, OPEN, answerSdkPreflight)
  app.get(SEGMENT, WITH_KEY, async (request, reply) => {
    reply.header('cache-control', 'no-store')
    return segmentSettings((request.params as { writeKey: string }).writeKey, config.publicUrl)
  })
  for (const path of ['/sourceConfig', '/sourceConfig/']) {
    app.options(path, OPEN, answerSdkPreflight)
    app.get(path, WITH_KEY, async (request: FastifyRequest, reply: FastifyReply) => {
      reply.header('cache-control', 'no-store')
      return rudderSettings(request.keyedSource?.sourceId ?? '')
    })
  }
  app.options('/v1/m', OPEN, answerSdkPreflight)
  app.post('/v1/m', { ...OPEN, bodyLimit: 64 * 1024 }, async () => RECORDED)
}

/** Segment's `GET /v1/projects/:key/settings`. */
function segmentSettings(writeKey: string, publicUrl: string) {
  const { protocol, host, pathname } = new URL(publicUrl)
  const apiHost = `${host}${pathname.replace(/\/$/, '')}/v1`
  const allowed = { enabled: true, integrations: {} }
  return {
    integrations: {
      'Segment.io': {
        apiKey: writeKey,
        apiHost,
        protocol: protocol.replace(':', ''),
        addBundledMetadata: false,
        bundlingStatus: 'bundled',
        type: 'server',
      },
    },
    plan: { track: { __default: allowed }, identify: { __default: allowed }, group: { __default: allowed } },
    edgeFunction: {},
    analyticsNextEnabled: true,
    middlewareSettings: {},
    enabledMiddleware: {},
    // With this rate, the SDK sends no metrics about itself.
    metrics: { sampleRate: 0, host: apiHost },
    legacyVideoPluginsEnabled: false,
    remotePlugins: [],
  }
}

/** RudderStack's `GET /sourceConfig/`. */
function rudderSettings(sourceId: string) {
  const nothing = { enabled: false }
  return {
    source: {
      id: sourceId,
      name: 'Customer Data Service',
      enabled: true,
      config: { statsCollection: { errors: nothing, metrics: nothing } },
      destinations: [],
    },
  }
}
