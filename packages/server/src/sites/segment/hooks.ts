import type { FastifyReply, FastifyRequest } from 'fastify'
import { missingApiKey } from '../../access/authentication.ts'
import type { App } from '../../platform/http/app-types.ts'
import type { KeyedSource } from '../../sources/write-keys.ts'
import type { ProblemRecorder } from '../problems/record.ts'
import { watchForProblems } from '../problems/watch.ts'
import {
  type CredentialDependencies,
  keyBeforeBody,
  keyInBody,
  missingWriteKey,
  requirePlaceOfKey,
  sourceOfKey,
} from './credentials.ts'
import { allowVerifiedPage } from './page.ts'
import { SHARED_PATH } from './requests.ts'

declare module 'fastify' {
  interface FastifyRequest {
    /** The source of the request's write key; null before the key is known. */
    keyedSource: KeyedSource | null
    /** Whether the key may be used where the request comes from. */
    isKeyInPlace: boolean
  }
  interface FastifyContextConfig {
    /** `write-key`: the route needs a write key, in a header, the query or the body. */
    credentials?: 'write-key'
  }
}

/** Lets verified pages call a scope of routes, authenticates routes that need a write key, and notes rejected requests. */
export function authenticateSdks(app: App, dependencies: CredentialDependencies & { problems: ProblemRecorder }): void {
  app.decorateRequest('keyedSource', null)
  app.decorateRequest('isKeyInPlace', false)

  async function admit(request: FastifyRequest, reply: FastifyReply, key: string): Promise<void> {
    const source = await sourceOfKey(dependencies, key, request)
    request.keyedSource = source
    await requirePlaceOfKey(dependencies, source, request, reply)
    request.isKeyInPlace = true
  }

  app.addHook('onRequest', async (request, reply) => {
    // SDKs add their own parameters, so unknown ones are not the caller's mistakes.
    request.warnings = []
    await allowVerifiedPage(request, reply, dependencies.findTenantOfHost)
    const key = keyBeforeBody(request)
    if (needsKey(request) && key !== null) await admit(request, reply, key)
  })
  app.addHook('preValidation', async (request, reply) => {
    if (!needsKey(request) || request.isKeyInPlace) return
    const key = keyInBody(request.body)
    if (key === null) throw isAlsoOperation(request) ? missingApiKey() : missingWriteKey()
    await admit(request, reply, key)
  })
  watchForProblems(app, dependencies.problems, ({ keyedSource, isKeyInPlace }) => ({
    tenantId: keyedSource?.tenantId ?? null,
    isVerified: isKeyInPlace,
  }))
}

function needsKey({ routeOptions }: FastifyRequest): boolean {
  return routeOptions.config.credentials === 'write-key'
}

/** Whether the API has the same path: see `bySdk`. */
function isAlsoOperation({ routeOptions }: FastifyRequest): boolean {
  return routeOptions.url === SHARED_PATH
}
