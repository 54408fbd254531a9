import Type from 'typebox'
import { addApiKey, listApiKeys, withdrawApiKey } from '../access/keys-of-tenant.ts'
import { SCOPES } from '../access/scopes.ts'
import { validationError } from '../platform/errors.ts'
import type { App } from '../platform/http/app-types.ts'
import { Pagination, pageParameters, paginationOf } from '../platform/http/pagination.ts'
import { TIMESTAMP_FORM } from '../platform/http/query-parameters.ts'
import { Id, Nullable, pathId, success, Timestamp } from '../platform/http/responses.ts'
import { type Clock, parseTimestamp } from '../platform/time.ts'
import { ADMIN, VIEWER } from './access.ts'
import { audited } from './audited.ts'

const Key = Type.Object({
  key_id: Id,
  name: Type.String(),
  scopes: Type.Array(Type.String()),
  created_at: Timestamp,
  expires_at: Nullable(Timestamp),
  last_used_at: Nullable(Timestamp),
  revoked_at: Nullable(Timestamp),
})
export type Key = Type.Static<typeof Key>

const CreateBody = Type.Object(
  {
    name: Type.String({ minLength: 1, maxLength: 200 }),
    scopes: Type.Array(Type.String({ maxLength: 100 }), { minItems: 1, maxItems: 50 }),
    expires_at: Type.Optional(
      Type.Union([Type.String({ maxLength: 40 }), Type.Null()], { 'x-expected': 'a timestamp' }),
    ),
  },
  { additionalProperties: false },
)

/** API keys: list, create, revoke. */
export function keyRoutes(app: App, { clock }: { clock: Clock }): void {
  app.get(
    '/api/scopes',
    {
      config: { access: VIEWER },
      schema: { hide: true, response: { 200: success({ scopes: Type.Array(Type.String()) }) } },
    },
    async () => ({ status: 'success' as const, scopes: [...SCOPES] }),
  )

  app.get(
    '/api/keys',
    {
      config: { access: ADMIN },
      schema: {
        hide: true,
        querystring: Type.Object(pageParameters(50, 100)),
        response: { 200: success({ keys: Type.Array(Key), pagination: Pagination }) },
      },
    },
    async ({ tenant, query: { page = 1, limit = 50 } }) => {
      const { keys, total } = await listApiKeys(tenant, { page, limit })
      return { status: 'success' as const, keys, pagination: paginationOf({ page, limit }, total) }
    },
  )

  app.post(
    '/api/keys',
    {
      config: { access: ADMIN },
      schema: {
        hide: true,
        body: CreateBody,
        response: { 201: success({ key_id: Id, api_key: Type.String() }) },
      },
    },
    async (request, reply) => {
      const now = clock()
      const { name, scopes, expires_at } = request.body
      const expiresAt = expiryOf(expires_at ?? undefined)
      const key = { name, scopes, ...(expiresAt ? { expiresAt } : {}) }
      const { keyId, apiKey } = await audited(
        request,
        now,
        (tx) => addApiKey(tx, key, now),
        (made) => ({ ...entryOf('api_key.created', made.keyId), details: { name, scopes } }),
      )
      return reply.code(201).send({ status: 'success', key_id: keyId, api_key: apiKey })
    },
  )

  app.delete(
    '/api/keys/:key_id',
    {
      config: { access: ADMIN },
      schema: {
        hide: true,
        params: Type.Object({ key_id: Type.String() }),
        response: { 200: success({ revoked: Type.Literal(true), key_id: Id }) },
      },
    },
    async (request) => {
      const now = clock()
      const keyId = pathId(request.params.key_id, 'API key')
      await audited(
        request,
        now,
        (tx) => withdrawApiKey(tx, keyId, now),
        () => entryOf('api_key.revoked', keyId),
      )
      return { status: 'success' as const, revoked: true as const, key_id: keyId }
    },
  )
}

function entryOf(action: string, keyId: string) {
  return { action, subjectKind: 'api_key', subjectId: keyId }
}

/** @throws ServiceError 400 */
function expiryOf(text: string | undefined): Date | undefined {
  if (text === undefined) return undefined
  const moment = parseTimestamp(text, 'end')
  if (!moment) throw validationError([{ path: 'expires_at', message: `must be ${TIMESTAMP_FORM}` }])
  return moment
}
