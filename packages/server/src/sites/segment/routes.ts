import type { FastifyRequest } from 'fastify'
import type { Config } from '../../config.ts'
import type { App } from '../../platform/http/app-types.ts'
import { readUncheckedJsonBody } from '../../platform/http/read-body.ts'
import type { ProblemRecorder } from '../problems/record.ts'
import { batchRoutes, callRoutes, pixelRoutes } from './call-routes.ts'
import { type CredentialDependencies, isFromSdk } from './credentials.ts'
import { authenticateSdks } from './hooks.ts'
import type { RecordDependencies } from './record.ts'
import { settingsRoutes } from './settings-routes.ts'

/**
 * The routes that the SDKs of Segment and RudderStack call with a write key. The SDKs send a request again if it is answered
 * with 429 or 5xx, and drop it after any other 4xx.
 */
export async function segmentRoutes(
  app: App,
  dependencies: CredentialDependencies &
    RecordDependencies & { config: Pick<Config, 'publicUrl'>; problems: ProblemRecorder },
): Promise<void> {
  // SDKs send JSON as text/plain, and compressed JSON as a form.
  app.removeAllContentTypeParsers()
  app.addContentTypeParser('*', readUncheckedJsonBody)
  app.addConstraintStrategy(bySdk(dependencies.config.publicUrl))
  authenticateSdks(app, dependencies)
  callRoutes(app, dependencies)
  batchRoutes(app, dependencies)
  pixelRoutes(app, dependencies)
  settingsRoutes(app, dependencies)
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
