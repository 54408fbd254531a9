import type { FastifyRequest } from 'fastify'
import Type from 'typebox'
import type { SecretBox } from '../platform/crypto/secret-box.ts'
import { conflict, ServiceError, validationError } from '../platform/errors.ts'
import type { App } from '../platform/http/app-types.ts'
import { parseExactJsonBody, requireStorable } from '../platform/http/json-body.ts'
import type { RateLimiter } from '../platform/http/rate-limits.ts'
import { readBody, textOf } from '../platform/http/read-body.ts'
import { Id, success } from '../platform/http/responses.ts'
import { openTenant, type Stores } from '../platform/tenant.ts'
import { BODY_FIELDS, pruneBodies, storeBody, toResult } from './bodies.ts'
import { hookSecretPlace } from './hooks.ts'
import { type HookKind, type SignatureScheme, schemeOf } from './kinds.ts'
import { tryBody } from './process.ts'
import { NOTHING, type RecordServices } from './record.ts'
import { requireSignature } from './signatures.ts'
import type { FindHook, FoundHook } from './tokens.ts'

/** The largest body that a hook accepts. */
export const HOOK_BODY_BYTES_MAX = 512 * 1024
const FORM_FIELDS_MAX = 1_000
const PATH = '/v1/public/hooks/:token'
const Path = Type.Object({ token: Type.String() })
const FORM = 'application/x-www-form-urlencoded'

/** The response to the sender. It does not reveal which person the body is about. */
const Received = success({
  body_id: Id,
  state: BODY_FIELDS.state,
  error: BODY_FIELDS.error,
  event: BODY_FIELDS.event,
})

type RateLimits =
  | 'checkInvalidKeys'
  | 'countInvalidKey'
  | 'checkInvalidSignatures'
  | 'countInvalidSignature'
  | 'checkHook'

declare module 'fastify' {
  interface FastifyRequest {
    /** The hook of the token in the path; null on other routes. */
    hook: FoundHook | null
    /** Whether its body counts against the limits of its hook: it is signed, or the hook has no secret. */
    isFromSender: boolean
  }
}

/** The URL that the sender of a hook's bodies calls. */
export function urlOfHook(publicUrl: string, token: string): string {
  return `${publicUrl.replace(/\/$/, '')}${PATH.replace(':token', token)}`
}

/** The route that other systems call to send bodies. The token in the path is the credential. */
export async function hookRoutes(
  app: App,
  dependencies: RecordServices & {
    stores: Stores
    secrets: SecretBox
    findHook: FindHook
    rateLimiter: Pick<RateLimiter, RateLimits>
  },
): Promise<void> {
  const { stores, secrets, findHook, rateLimiter, clock } = dependencies
  // The signature covers the bytes, so they are parsed only after it is checked.
  app.removeAllContentTypeParsers()
  app.addContentTypeParser('*', readBody)
  app.decorateRequest('hook', null)
  app.decorateRequest('isFromSender', false)

  app.addHook('onRequest', async (request, reply) => {
    const { token } = request.params as Type.Static<typeof Path>
    const hook = await findHook(token, () => rateLimiter.checkInvalidKeys(request.ip))
    if (hook === null) {
      rateLimiter.countInvalidKey(request.ip)
      throw unknownToken()
    }
    const { tenantId, row } = hook
    if (schemeOfRow(row) === null) {
      rateLimiter.checkHook(tenantId, row.hook_id, reply)
      request.isFromSender = true
    } else {
      // Before the body is read. A caller who knows the URL but not the secret must not use up the sender's limit.
      rateLimiter.checkInvalidSignatures(row.hook_id, request.ip)
    }
    if (!row.is_enabled) throw disabled()
    request.hook = hook
  })

  // After the response, because the signature of a body that is too large is never checked.
  app.addHook('onResponse', async ({ hook, isFromSender, ip }) => {
    if (hook !== null && !isFromSender) rateLimiter.countInvalidSignature(hook.row.hook_id, ip)
  })

  app.post(
    PATH,
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
        response: { 200: Received, 202: Received },
      },
    },
    async (request, reply) => {
      const { tenantId, row } = hookOf(request)
      const bytes = request.body instanceof Buffer ? request.body : Buffer.alloc(0)
      const scheme = schemeOfRow(row)
      if (scheme !== null && row.secret_sealed !== null) {
        const secret = secrets.open(row.secret_sealed, hookSecretPlace(tenantId, row.hook_id))
        requireSignature(scheme, secret, bytes, request.headers, clock())
        request.isFromSender = true
        rateLimiter.checkHook(tenantId, row.hook_id, reply)
      }
      const text = JSON.stringify(parseBody(bytes, request.headers['content-type']))
      const tenant = openTenant(stores, tenantId)
      const body = await storeBody(tenant, row.hook_id, text, clock())
      const outcome = await tryBody(tenant, dependencies, row, body)
      // The body is stored, so a failure from here on must not make the sender send it again.
      await pruneBodies(tenant, row.hook_id).catch((err: unknown) =>
        request.log.warn({ err }, 'the oldest bodies of a hook could not be deleted'),
      )
      const { state, error, event } = toResult(outcome ?? { ...NOTHING, state: 'pending' })
      reply.code(outcome === null ? 202 : 200)
      return { status: 'success' as const, body_id: body.bodyId, state, error, event }
    },
  )
}

/** How the bodies of a hook must be signed; null if they need not be. */
function schemeOfRow({ kind, signature_header, secret_sealed }: FoundHook['row']): SignatureScheme | null {
  return secret_sealed === null ? null : schemeOf(kind as HookKind, signature_header)
}

function hookOf({ hook }: FastifyRequest): FoundHook {
  if (hook === null) throw new Error('The route has no hook.')
  return hook
}

/** @throws ServiceError 400 `invalid_json` or `validation_error`. */
function parseBody(bytes: Buffer, contentType: string | undefined): object {
  const text = textOf(bytes)
  const body = contentType?.trim().toLowerCase().startsWith(FORM) ? parseForm(text) : parseExactJsonBody(text)
  if (body !== null && typeof body === 'object') return body
  throw validationError([{ path: '', message: 'must be a JSON object or array, or a form' }])
}

/** Converts a form to an object. A name that occurs more than once gets a list. */
function parseForm(text: string): object {
  const fields = new Map<string, string | string[]>()
  let count = 0
  for (const [name, value] of new URLSearchParams(text)) {
    if (++count > FORM_FIELDS_MAX) {
      throw validationError([{ path: '', message: `has more than ${FORM_FIELDS_MAX} fields` }])
    }
    const known = fields.get(name)
    fields.set(name, known === undefined ? value : [known, value].flat())
  }
  const form = Object.fromEntries(fields)
  if (count === 0) throw validationError([{ path: '', message: 'has no fields' }])
  requireStorable(form)
  return form
}

function unknownToken(): ServiceError {
  const message = 'No hook has this token. The token may be mistyped or replaced, or the hook was deleted.'
  return new ServiceError(404, 'hook_not_found', message)
}

function disabled(): ServiceError {
  return conflict('hook_disabled', 'This hook is off. Turn it on in the settings, then send the body again.')
}
