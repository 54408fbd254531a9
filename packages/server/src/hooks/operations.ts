import Type from 'typebox'
import type { Config } from '../config.ts'
import { entryAbout } from '../operations/audit.ts'
import { idInPath, operationsWith, secret } from '../operations/declare.ts'
import { WRITES_DATA } from '../operations/further-scopes.ts'
import type { SecretBox } from '../platform/crypto/secret-box.ts'
import { Pagination, pageParameters, paginationOf } from '../platform/http/pagination.ts'
import { Changed, Id, Nullable, Timestamp } from '../platform/http/responses.ts'
import { NAME_LENGTH_MAX } from '../platform/names.ts'
import { LABEL, WITHHELD } from '../platform/personal.ts'
import { retryBodies } from './bodies.ts'
import { Hook } from './hook-object.ts'
import {
  createHook,
  deleteHook,
  HOOKS_MAX,
  listHooks,
  readHook,
  readHookToken,
  rotateHookToken,
  updateHook,
} from './hooks.ts'
import { HOOK_KINDS } from './kinds.ts'
import { Mapping } from './mapping.ts'
import { urlOfHook } from './tokens.ts'

/** The services for operations on hooks. */
export interface HookServices {
  secrets: SecretBox
  config: Pick<Config, 'publicUrl'>
}

const operation = operationsWith<HookServices>()
export const tag = 'Hooks'
export const HookPath = { hook_id: idInPath('hook') }
const Name = Type.String({ minLength: 1, maxLength: NAME_LENGTH_MAX, examples: ['Stripe'] })
const SigningSecret = secret({
  minLength: 8,
  maxLength: 500,
  description:
    'The secret with which the sender signs bodies. It is stored encrypted and never shown. A hook of a ready-made kind accepts bodies only once it has a secret.',
})
const SignatureHeader = Type.String({
  pattern: '^[A-Za-z0-9-]{1,100}$',
  'x-expected': 'the name of a header',
  description:
    'Kind `custom` only: the header that contains the HMAC-SHA256 of the body, as hexadecimal digits or base64, with or without the prefix `sha256=`.',
  examples: ['X-Signature'],
})
const Token = Type.String({
  description: 'The last part of the URL. Whoever has it can send bodies.',
  examples: ['hk_N5rAzt4nK0uVrcCqZmFh3TnHqy1XjQ0d'],
  ...WITHHELD,
})
const Url = Type.String({
  description: 'The URL to enter in the sending system. It contains the token.',
  examples: ['https://cds.example.com/v1/public/hooks/hk_N5rAzt4nK0uVrcCqZmFh3TnHqy1XjQ0d'],
  ...WITHHELD,
})

/** An audit entry about a hook. It must not contain a token or a secret. */
export const entryOf = entryAbout('hook')

/** Incoming webhooks. */
export const HOOK_OPERATIONS = [
  operation({
    name: 'createHook',
    tag,
    http: 'POST /v1/hooks',
    command: 'hook create',
    scope: 'settings:write',
    also: [{ scopes: WRITES_DATA }],
    summary: 'Create an incoming webhook, and get the URL to enter in the sending system',
    description:
      "Other systems send JSON to the URL, and the mapping turns it into records of the source. A ready-made kind has a mapping and checks the sender's signature. Without `signing_secret`, it is off until you add one, because some senders show their secret only after you enter the URL.",
    input: {
      name: Name,
      kind: Type.Enum([...HOOK_KINDS]),
      source: Type.Optional(
        Type.String({
          maxLength: 64,
          description: 'The name of the source that it writes as. Default: derived from the name, such as `stripe`.',
        }),
      ),
      signing_secret: Type.Optional(SigningSecret),
      signature_header: Type.Optional(SignatureHeader),
      mapping: Type.Optional(Mapping),
      enabled: Type.Optional(
        Type.Boolean({ description: 'Default: true, or false while a required secret is missing.' }),
      ),
    },
    output: { hook: Hook, token: Token, url: Url },
    status: 201,
    example: {
      name: 'Shop orders',
      kind: 'custom',
      mapping: {
        only_when: [{ path: 'type', equals: ['order.paid'] }],
        event: { name: { value: 'order_paid' }, id: { path: 'order.id' }, data: { total: { path: 'order.total' } } },
        contact: { email: { path: 'customer.email' }, properties: { firstname: { path: 'customer.first_name' } } },
      },
    },
    errors: ['409 signing_secret_required', '409 source_name_taken', '409 too_many_hooks', '503 secret_key_missing'],
    async run({ tenant, secrets, config, now }, input) {
      const { hookId, token } = await createHook(tenant, secrets, input, now)
      return { hook: await readHook(tenant, hookId, now), token, url: urlOfHook(config.publicUrl, token) }
    },
    audit: ({ hook: { hook_id, name, kind, source } }) => entryOf('hook.created', hook_id, { name, kind, source }),
  }),
  operation({
    name: 'listHooks',
    tag,
    http: 'GET /v1/hooks',
    command: 'hook list',
    scope: 'settings:read',
    summary: 'List the incoming webhooks, newest first',
    input: pageParameters(50, HOOKS_MAX),
    output: { hooks: Type.Array(Hook), pagination: Pagination },
    async run({ tenant, now }, { page, limit }) {
      const { hooks, total } = await listHooks(tenant, { page, limit }, now)
      return { hooks, pagination: paginationOf({ page, limit }, total) }
    },
  }),
  operation({
    name: 'getHook',
    tag,
    http: 'GET /v1/hooks/:hook_id',
    command: 'hook get',
    scope: 'settings:read',
    summary: 'Get an incoming webhook, without its token',
    input: HookPath,
    output: { hook: Hook },
    run: async ({ tenant, now }, { hook_id }) => ({ hook: await readHook(tenant, hook_id, now) }),
  }),
  operation({
    name: 'updateHook',
    tag,
    http: 'PATCH /v1/hooks/:hook_id',
    command: 'hook update',
    scope: 'settings:write',
    also: [{ scopes: WRITES_DATA }],
    summary: 'Change the name, the mapping or the signature of an incoming webhook, or turn it on or off',
    description:
      'While it is off, it rejects bodies. A new mapping applies to bodies that arrive from now on; with `retry_bodies`, also to kept bodies that were not recorded.',
    input: {
      ...HookPath,
      name: Type.Optional(Name),
      mapping: Type.Optional(Mapping),
      enabled: Type.Optional(Type.Boolean()),
      signing_secret: Type.Optional(SigningSecret),
      signature_header: Type.Optional(
        Nullable(SignatureHeader, 'null: bodies are no longer signed, and the secret is removed.'),
      ),
      retry_bodies: Type.Optional(
        Type.Boolean({
          default: false,
          description: 'Whether kept bodies that were skipped or failed are recorded with the mapping, within seconds.',
        }),
      ),
    },
    output: {
      hook: Hook,
      changed: Changed,
      retried_bodies: Type.Integer({ description: 'The number of kept bodies that are now recorded.' }),
    },
    example: { enabled: false },
    errors: ['409 signing_secret_required', '503 secret_key_missing'],
    async run({ tenant, secrets, now }, { hook_id, retry_bodies = false, ...settings }) {
      const changed = await updateHook(tenant, secrets, hook_id, settings, now)
      const retried_bodies = retry_bodies ? await retryBodies(tenant, hook_id) : 0
      return { hook: await readHook(tenant, hook_id, now), changed, retried_bodies }
    },
    audit: ({ hook: { hook_id, name }, changed, retried_bodies }) =>
      changed.length === 0 && retried_bodies === 0
        ? null
        : entryOf('hook.updated', hook_id, { name, changed, ...(retried_bodies === 0 ? {} : { retried_bodies }) }),
  }),
  operation({
    name: 'revealHookUrl',
    tag,
    http: 'POST /v1/hooks/:hook_id/reveal',
    command: 'hook reveal',
    scope: 'settings:write',
    also: [{ scopes: WRITES_DATA }],
    summary: 'Show the URL of an incoming webhook again; the audit log records who saw it',
    input: HookPath,
    output: { hook_id: Id, name: Type.String(LABEL), url: Url },
    errors: ['503 secret_key_missing'],
    async run({ tenant, secrets, config, now }, { hook_id }) {
      const token = await readHookToken(tenant, secrets, hook_id)
      const { name } = await readHook(tenant, hook_id, now)
      return { hook_id, name, url: urlOfHook(config.publicUrl, token) }
    },
    audit: ({ hook_id, name }) => entryOf('hook.url_shown', hook_id, { name }),
  }),
  operation({
    name: 'rotateHookToken',
    tag,
    http: 'POST /v1/hooks/:hook_id/rotate',
    command: 'hook rotate',
    scope: 'settings:write',
    also: [{ scopes: WRITES_DATA }],
    summary: 'Replace the token of an incoming webhook; the old URL works for another 24 hours',
    input: {
      ...HookPath,
      revoke_old_url: Type.Optional(
        Type.Boolean({
          default: false,
          description: 'Whether the old URL stops working at once. Use this after a leak.',
        }),
      ),
    },
    output: { hook: Hook, token: Token, url: Url, old_token_expires_at: Timestamp },
    example: { revoke_old_url: false },
    errors: ['503 secret_key_missing'],
    async run({ tenant, secrets, config, now }, { hook_id, revoke_old_url = false }) {
      const rotated = await rotateHookToken(tenant, secrets, hook_id, { revokeOld: revoke_old_url }, now)
      const { token, oldTokenUntil } = rotated
      const hook = await readHook(tenant, hook_id, now)
      const url = urlOfHook(config.publicUrl, token)
      return { hook, token, url, old_token_expires_at: oldTokenUntil.toISOString() }
    },
    audit: ({ hook: { hook_id, name }, old_token_expires_at }) =>
      entryOf('hook.token_rotated', hook_id, { name, old_token_expires_at }),
  }),
  operation({
    name: 'deleteHook',
    tag,
    http: 'DELETE /v1/hooks/:hook_id',
    command: 'hook delete',
    scope: 'settings:write',
    summary: 'Delete an incoming webhook with its kept bodies: its URL stops working at once',
    description: 'The records that it wrote stay.',
    input: HookPath,
    output: { deleted: Type.Literal(true), hook_id: Id, name: Type.String(LABEL) },
    async run({ tenant }, { hook_id }) {
      const { name } = await deleteHook(tenant, hook_id)
      return { deleted: true as const, hook_id, name }
    },
    audit: ({ hook_id, name }) => entryOf('hook.deleted', hook_id, { name }),
  }),
]
