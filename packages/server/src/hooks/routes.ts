import Type from 'typebox'
import type { App } from '../platform/http/app-types.ts'
import { readBody } from '../platform/http/read-body.ts'
import { BODY_ERRORS, errorResponses, Id, ROUTE_ERRORS, success } from '../platform/http/responses.ts'
import { openTenant, type Stores } from '../platform/tenant.ts'
import { type AdmissionServices, type Admitted, admit, countStranger, requireSender } from './admission.ts'
import { BODY_FIELDS, toResult } from './bodies.ts'
import { parseBody, receiveBody } from './receive.ts'
import { NOTHING, type RecordServices } from './record.ts'
import { HOOK_PATH } from './tokens.ts'

/** The largest body that a hook accepts. */
export const HOOK_BODY_BYTES_MAX = 512 * 1024
const Path = Type.Object({ token: Type.String() })

/** For openapi.json: the handler parses the bytes. */
const AnyBody = Type.Unknown({
  'x-record': {
    type: 'object',
    additionalProperties: true,
    examples: [{ type: 'order_paid', order: { id: 'o-1', total: 49.9 }, email: 'ada@example.com' }],
  },
})
/** The response to the sender. It does not reveal which person the body is about. */
const Received = success({
  body_id: Id,
  state: BODY_FIELDS.state,
  error: BODY_FIELDS.error,
  event: BODY_FIELDS.event,
})

declare module 'fastify' {
  interface FastifyRequest {
    /** The hook of the token in the path; null on other routes. */
    admittedToHook: Admitted | null
  }
}

/** The route that other systems call to send bodies. The token in the path is the credential. */
export async function hookRoutes(
  app: App,
  dependencies: RecordServices & AdmissionServices & { stores: Stores },
): Promise<void> {
  // The signature covers the bytes, so they are parsed only after it is checked.
  app.removeAllContentTypeParsers()
  app.addContentTypeParser('*', readBody)
  app.decorateRequest('admittedToHook', null)

  app.addHook('onRequest', async (request, reply) => {
    const { token } = request.params as Type.Static<typeof Path>
    request.admittedToHook = await admit(dependencies, token, request, reply)
  })

  // After the response, because the signature of a body that is too large is never checked.
  app.addHook('onResponse', async ({ admittedToHook: admitted, ip }) => {
    if (admitted !== null) countStranger(dependencies, admitted, ip)
  })

  app.post(
    HOOK_PATH,
    {
      config: { access: 'public' },
      bodyLimit: HOOK_BODY_BYTES_MAX,
      schema: {
        operationId: 'receiveHook',
        summary: 'Send a body to an incoming webhook',
        description:
          "Called by other systems. The token in the path is the hook's. The body is a JSON object or array, or a form (`application/x-www-form-urlencoded`), of at most 512 KiB. If the hook has a signing secret, the signature header must match the body. The response is 200 with the outcome, even if the mapping could not turn the body into records, so that the sender does not send it again. It is 202 if the body is stored and will be recorded later.",
        tags: ['Public'],
        security: [],
        params: Path,
        body: AnyBody,
        response: {
          200: Received,
          202: Received,
          ...errorResponses([
            ...ROUTE_ERRORS,
            ...BODY_ERRORS,
            '400 validation_error',
            '401 invalid_signature',
            '403 tenant_closed',
            '404 hook_not_found',
            '409 hook_disabled',
          ]),
        },
      },
    },
    async (request, reply) => {
      const { admittedToHook: admitted, body, headers } = request
      if (admitted === null) throw new Error('The route has no hook.')
      const bytes = body instanceof Buffer ? body : Buffer.alloc(0)
      requireSender(dependencies, admitted, bytes, headers, reply)
      const { tenantId, row } = admitted.hook
      const tenant = openTenant(dependencies.stores, tenantId)
      const received = parseBody(bytes, headers['content-type'])
      request.warnings.push(...received.warnings)
      const { bodyId, outcome } = await receiveBody(tenant, dependencies, row, received)
      request.warnings.push(...(outcome?.outcome_warnings ?? []))
      const { state, error, event } = toResult(outcome ?? { ...NOTHING, state: 'pending' })
      reply.code(outcome === null ? 202 : 200)
      return { status: 'success' as const, body_id: bodyId, state, error, event }
    },
  )
}
