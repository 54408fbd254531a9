import Type from 'typebox'
import { entryAbout } from '../operations/audit.ts'
import { idInPath, operation } from '../operations/declare.ts'
import { SCOPES } from '../operations/scopes.ts'
import { ServiceError } from '../platform/errors.ts'
import { Pagination, pageParameters, paginationOf } from '../platform/http/pagination.ts'
import { timestampBound } from '../platform/http/query-parameters.ts'
import { Id, Nullable, Timestamp } from '../platform/http/responses.ts'
import { NAME_LENGTH_MAX } from '../platform/names.ts'
import { createApiKey, listApiKeys, readApiKey, revokeApiKey } from './api-keys.ts'

const tag = 'API keys'
const REDACTS = 'Hide personal data from AI agents that use this key over MCP.'

export const Key = Type.Object(
  {
    key_id: Id,
    name: Type.String(),
    scopes: Type.Array(Type.String()),
    redact_personal_data: Type.Boolean({ description: REDACTS }),
    created_at: Timestamp,
    expires_at: Nullable(Timestamp),
    last_used_at: Nullable(Timestamp),
    revoked_at: Nullable(Timestamp),
  },
  { title: 'ApiKey' },
)

const entryOf = entryAbout('api_key')

export const KEY_OPERATIONS = [
  operation({
    name: 'listApiKeys',
    tag,
    http: 'GET /v1/api-keys',
    command: 'key list',
    scope: 'keys:write',
    summary: 'List the API keys, newest first, including revoked and expired ones',
    input: pageParameters(50, 100),
    output: { keys: Type.Array(Key), pagination: Pagination },
    async run({ tenant }, { page, limit }) {
      const { keys, total } = await listApiKeys(tenant, { page, limit })
      return { keys, pagination: paginationOf({ page, limit }, total) }
    },
  }),
  operation({
    name: 'listScopes',
    tag,
    http: 'GET /v1/api-keys/scopes',
    command: 'scope list',
    scope: 'settings:read',
    summary: 'List the scopes that an API key can have',
    input: {},
    output: { scopes: Type.Array(Type.String()) },
    run: async () => ({ scopes: [...SCOPES] }),
  }),
  operation({
    name: 'getApiKey',
    tag,
    http: 'GET /v1/api-keys/:key_id',
    command: 'key get',
    scope: 'keys:write',
    summary: 'Get an API key, without the key itself',
    input: { key_id: idInPath('API key') },
    output: { key: Key },
    run: async ({ tenant }, { key_id }) => ({ key: await readApiKey(tenant, key_id) }),
  }),
  operation({
    name: 'createApiKey',
    tag,
    http: 'POST /v1/api-keys',
    command: 'key create',
    scope: 'keys:write',
    summary: 'Create an API key, which is shown only once',
    input: {
      name: Type.String({ minLength: 1, maxLength: NAME_LENGTH_MAX }),
      scopes: Type.Array(Type.String({ maxLength: 100 }), {
        minItems: 1,
        maxItems: 50,
        description: 'Any of your own scopes, or `all` for all of them.',
      }),
      expires_at: timestampBound('upper', 'When the key expires. Default: never.'),
      redact_personal_data: Type.Optional(Type.Boolean({ description: REDACTS, default: true })),
    },
    output: { key_id: Id, api_key: Type.String({ description: 'Returned only once.' }) },
    status: 201,
    example: { name: 'CRM', scopes: ['all'] },
    errors: ['400 invalid_scope', '409 too_many_api_keys'],
    options: {
      scopes: { name: 'scopes', hint: 'a,b|all', read: (text) => text.split(',').map((word) => word.trim()) },
    },
    async run({ tenant, now, scopes: own }, { name, scopes, expires_at, redact_personal_data: redacts }) {
      const granted = scopes.length === 1 && scopes[0] === 'all' ? SCOPES.filter((scope) => own.has(scope)) : scopes
      const key = { name, scopes: granted, expiresAt: expires_at, redacts }
      const { keyId, apiKey } = await createApiKey(tenant, key, now)
      const missing = granted.find((scope) => !own.has(scope))
      if (missing !== undefined) {
        const message = `You cannot grant the scope ${missing}, because you do not have it.`
        throw new ServiceError(403, 'insufficient_scope', message, { details: [{ path: 'scopes', message: missing }] })
      }
      return { key_id: keyId, api_key: apiKey }
    },
    audit: ({ key_id }, { name, scopes, redact_personal_data = true }) =>
      entryOf('api_key.created', key_id, { name, scopes, redact_personal_data }),
  }),
  operation({
    name: 'revokeApiKey',
    tag,
    http: 'DELETE /v1/api-keys/:key_id',
    command: 'key revoke',
    scope: 'keys:write',
    summary: 'Revoke an API key: it stops working at once',
    description: 'Also deletes the invitations that the key created.',
    input: { key_id: idInPath('API key') },
    output: { revoked: Type.Literal(true), key_id: Id },
    async run({ tenant, actor, now }, { key_id }) {
      await revokeApiKey(tenant, actor, key_id, now)
      return { revoked: true as const, key_id }
    },
    audit: ({ key_id }) => entryOf('api_key.revoked', key_id),
  }),
]
