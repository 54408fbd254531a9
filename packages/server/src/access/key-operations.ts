import Type from 'typebox'
import { entryAbout } from '../operations/audit.ts'
import { idInPath, operationsWith } from '../operations/declare.ts'
import { SCOPES } from '../operations/scopes.ts'
import { ServiceError } from '../platform/errors.ts'
import { Pagination, pageParameters, paginationOf } from '../platform/http/pagination.ts'
import { timestampBound } from '../platform/http/query-parameters.ts'
import { Changed, Id, Nullable, Timestamp } from '../platform/http/responses.ts'
import { NAME_LENGTH_MAX } from '../platform/names.ts'
import { LABEL, WITHHELD, WORD } from '../platform/personal.ts'
import { createApiKey, listApiKeys, readApiKey, revokeApiKey, updateApiKey } from './api-keys.ts'
import { ALL_TOOLS, storedTools, TOOLS_OPTION, type ToolChoiceServices, Tools } from './tool-choice.ts'

const tag = 'API keys'
const REDACTS =
  'Whether personal data is hidden from AI agents that use the key over MCP. `true`: hide it, and let the key work only at /mcp. `false`: show it. Default: hide it over MCP, and let the key use the API, which shows personal data.'

export const Key = Type.Object(
  {
    key_id: Id,
    name: Type.String(LABEL),
    scopes: Type.Array(Type.String(WORD)),
    redact_personal_data: Type.Boolean({
      description: 'Whether personal data is hidden from AI agents that use the key over MCP.',
    }),
    mcp_only: Type.Boolean({
      description: 'Whether the key works only at /mcp, because it was created with `redact_personal_data: true`.',
    }),
    tools: Tools,
    created_at: Timestamp,
    expires_at: Nullable(Timestamp),
    last_used_at: Nullable(Timestamp),
    revoked_at: Nullable(Timestamp),
  },
  { title: 'ApiKey' },
)

const OfferedTool = Type.Object(
  {
    name: Type.String(WORD),
    title: Type.String(WORD),
    description: Type.String(WORD),
    scopes: Type.Array(Type.String(WORD), { description: 'The scopes that it needs.' }),
    reads: Type.Boolean({ description: 'Whether it only reads.' }),
  },
  { title: 'OfferedTool' },
)

const entryOf = entryAbout('api_key')

const operation = operationsWith<ToolChoiceServices>()

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
    output: { scopes: Type.Array(Type.String(WORD)) },
    run: async () => ({ scopes: [...SCOPES] }),
  }),
  operation({
    name: 'listTools',
    tag,
    http: 'GET /v1/api-keys/tools',
    command: 'tool list',
    scope: 'settings:read',
    summary: 'List the tools that an API key or a connected application can use over MCP',
    input: {},
    output: { tools: Type.Array(OfferedTool) },
    run: async ({ offeredTools }) => ({ tools: [...offeredTools] }),
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
      redact_personal_data: Type.Optional(Type.Boolean({ description: REDACTS })),
      tools: Type.Optional(Tools),
    },
    output: { key_id: Id, api_key: Type.String({ description: 'Returned only once.', ...WITHHELD }) },
    status: 201,
    example: { name: 'CRM', scopes: ['all'] },
    errors: ['400 invalid_scope', '400 unknown_tool', '409 too_many_api_keys'],
    options: {
      scopes: { name: 'scopes', hint: 'a,b|all', read: (text) => text.split(',').map((word) => word.trim()) },
      tools: TOOLS_OPTION,
    },
    async run(
      { tenant, now, scopes: own, offeredTools },
      { name, scopes, expires_at, redact_personal_data: redacts, tools = ALL_TOOLS },
    ) {
      const granted = scopes.length === 1 && scopes[0] === 'all' ? SCOPES.filter((scope) => own.has(scope)) : scopes
      const chosen = storedTools(tools, offeredTools)
      const key = { name, scopes: granted, expiresAt: expires_at, redacts, tools: chosen }
      const { keyId, apiKey } = await createApiKey(tenant, key, now)
      const missing = granted.find((scope) => !own.has(scope))
      if (missing !== undefined) {
        const message = `You cannot grant the scope ${missing}, because you do not have it.`
        throw new ServiceError(403, 'insufficient_scope', message, { details: [{ path: 'scopes', message: missing }] })
      }
      return { key_id: keyId, api_key: apiKey }
    },
    audit: ({ key_id }, { name, scopes, redact_personal_data: redacts, tools = ALL_TOOLS }) =>
      entryOf('api_key.created', key_id, {
        name,
        scopes,
        redact_personal_data: redacts ?? true,
        mcp_only: redacts ?? false,
        tools,
      }),
  }),
  operation({
    name: 'updateApiKey',
    tag,
    http: 'PATCH /v1/api-keys/:key_id',
    command: 'key update',
    scope: 'keys:write',
    summary: 'Change the name of an API key, or the tools that it may use over MCP',
    description: 'To allow it more tools, you need all of its scopes.',
    input: {
      key_id: idInPath('API key'),
      name: Type.Optional(Type.String({ minLength: 1, maxLength: NAME_LENGTH_MAX })),
      tools: Type.Optional(Tools),
    },
    output: { key: Key, changed: Changed },
    example: { tools: ['describe_schema', 'search_contacts'] },
    errors: ['400 unknown_tool'],
    options: { tools: TOOLS_OPTION },
    async run({ tenant, scopes: own, offeredTools }, { key_id, name, tools }) {
      const chosen = tools && storedTools(tools, offeredTools)
      const changed = await updateApiKey(tenant, key_id, { name, tools: chosen }, own)
      return { key: await readApiKey(tenant, key_id), changed }
    },
    audit: ({ key, changed }) =>
      changed.length === 0
        ? null
        : entryOf('api_key.updated', key.key_id, { name: key.name, changed, tools: key.tools }),
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
