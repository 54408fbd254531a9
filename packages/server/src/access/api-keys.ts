import { randomBytes } from 'node:crypto'
import { isDeepStrictEqual } from 'node:util'
import type { Selectable } from 'kysely'
import { type Actor, namesIn } from '../operations/audit.ts'
import { isScope, SCOPES, type Scope } from '../operations/scopes.ts'
import { tokenHash } from '../platform/crypto/tokens.ts'
import { notFound, ServiceError, validationError } from '../platform/errors.ts'
import { offsetOf, type Page } from '../platform/http/pagination.ts'
import { newId } from '../platform/ids.ts'
import { requireFewer } from '../platform/limits.ts'
import { requireName } from '../platform/names.ts'
import type { TenantTables } from '../platform/postgres/database.ts'
import { announceChange } from '../platform/postgres/invalidation.ts'
import type { Tenant } from '../platform/tenant.ts'
import { deleteInvitationsOfKey } from './invitations.ts'
import { ALL_TOOLS, allowsMore } from './tool-choice.ts'

const KEY_BYTES = 32
/** Active keys per tenant: neither revoked nor expired. */
const KEYS_MAX = 200
export interface NewApiKey {
  name: string
  /** Scope names, or `all`. */
  scopes: readonly string[]
  expiresAt?: Date | undefined
  /**
   * Whether AI agents that use it over MCP see pseudonyms in place of personal data. With true, it works only over MCP.
   * By default, they do, and the API shows personal data.
   */
  redacts?: boolean | undefined
  /** The names of the tools that it may use over MCP, or `all`, the default. */
  tools?: readonly string[] | undefined
}

/** One page of a tenant's keys, newest first, including revoked and expired ones, and the total. */
export async function listApiKeys(tenant: Tenant, page: Page) {
  const [rows, counted] = await Promise.all([
    tenant.db
      .selectFrom('api_keys')
      .select(KEY_COLUMNS)
      .orderBy('created_at', 'desc')
      .orderBy('key_id', 'desc')
      .limit(page.limit)
      .offset(offsetOf(page))
      .execute(),
    tenant.db
      .selectFrom('api_keys')
      .select(({ fn }) => fn.countAll<number>().as('count'))
      .executeTakeFirst(),
  ])
  return { keys: rows.map(toKey), total: Number(counted?.count ?? 0) }
}

/** @throws ServiceError 404 */
export async function readApiKey(tenant: Tenant, keyId: string) {
  const key = await tenant.db.selectFrom('api_keys').select(KEY_COLUMNS).where('key_id', '=', keyId).executeTakeFirst()
  if (!key) throw notFound('API key')
  return toKey(key)
}

const KEY_COLUMNS = [
  'key_id',
  'name',
  'scopes',
  'redacts',
  'mcp_only',
  'tools',
  'created_at',
  'expires_at',
  'last_used_at',
  'revoked_at',
] as const

/** The names of API keys, for the audit log. */
export function namesOfKeys({ db }: Tenant, ids: readonly string[]) {
  return namesIn(db.selectFrom('api_keys').select(['key_id as id', 'name']).where('key_id', 'in', ids))
}

function toKey(row: Pick<Selectable<TenantTables['api_keys']>, (typeof KEY_COLUMNS)[number]>) {
  return {
    key_id: row.key_id,
    name: row.name,
    scopes: row.scopes,
    redact_personal_data: row.redacts,
    mcp_only: row.mcp_only,
    tools: row.tools,
    created_at: row.created_at.toISOString(),
    expires_at: row.expires_at?.toISOString() ?? null,
    last_used_at: row.last_used_at?.toISOString() ?? null,
    revoked_at: row.revoked_at?.toISOString() ?? null,
  }
}

/** The names of a tenant's keys that are not revoked. */
export async function liveApiKeys(tenant: Tenant): Promise<{ key_id: string; name: string }[]> {
  return tenant.db
    .selectFrom('api_keys')
    .select(['key_id', 'name'])
    .where('revoked_at', 'is', null)
    .orderBy('created_at', 'desc')
    .orderBy('key_id', 'desc')
    .execute()
}

/**
 * Creates an API key.
 * @returns the key itself, which cannot be shown again: only its SHA-256 is stored.
 * @throws ServiceError 400 for a blank name, an unknown scope or an expiry in the past, 409 `too_many_api_keys`.
 */
export async function createApiKey(
  tenant: Tenant,
  { name, scopes, expiresAt, redacts, tools = ALL_TOOLS }: NewApiKey,
  now: Date,
): Promise<{ keyId: string; apiKey: string }> {
  if (expiresAt && expiresAt <= now) {
    throw validationError([{ path: 'expires_at', message: 'must be in the future' }])
  }
  const apiKey = `cds_${randomBytes(KEY_BYTES).toString('base64url')}`
  const row = {
    key_id: newId(),
    name: requireName(name),
    key_hash: tokenHash(apiKey),
    scopes: knownScopes(scopes),
    redacts: redacts ?? true,
    mcp_only: redacts ?? false,
    tools: [...tools],
    created_at: now,
    expires_at: expiresAt ?? null,
  }
  await tenant.transaction(async (tx) => {
    await requireKeyLimit(tx, now)
    await tx.db.insertInto('api_keys').values(row).execute()
    await announceChange(tx.db)
  })
  return { keyId: row.key_id, apiKey }
}

/** What may change about a key. */
export interface KeyChanges {
  name?: string | undefined
  tools?: readonly string[] | undefined
}

/**
 * Changes a key's name or tools; undefined fields are unchanged. After the commit, every process knows it.
 * @param tx a transaction's handle.
 * @param own the caller's scopes. A caller who lacks a scope of the key cannot allow it more tools.
 * @returns the names of the changed fields.
 * @throws ServiceError 404 if there is no such active key, 400 for a blank name, 403 `insufficient_scope`
 */
export async function updateApiKey(
  tx: Tenant,
  keyId: string,
  { name, tools }: KeyChanges,
  own: ReadonlySet<string>,
): Promise<string[]> {
  const wanted = {
    ...(name === undefined ? {} : { name: requireName(name) }),
    ...(tools === undefined ? {} : { tools: [...tools] }),
  }
  const before = await tx.db
    .selectFrom('api_keys')
    .select(['name', 'tools', 'scopes'])
    .where('key_id', '=', keyId)
    .where('revoked_at', 'is', null)
    .forUpdate()
    .executeTakeFirst()
  if (!before) throw notFound('API key')
  const changed = (['name', 'tools'] as const).filter(
    (field) => field in wanted && !isDeepStrictEqual(wanted[field], before[field]),
  )
  if (changed.length === 0) return []
  const missing = before.scopes.find((scope) => !own.has(scope))
  if (missing !== undefined && allowsMore(tools ?? [], before.tools)) {
    const message = `You cannot allow this key more tools, because it has the scope ${missing}, which you do not have.`
    throw new ServiceError(403, 'insufficient_scope', message, { details: [{ path: 'tools', message: missing }] })
  }
  await tx.db.updateTable('api_keys').set(wanted).where('key_id', '=', keyId).execute()
  await announceChange(tx.db)
  return changed
}

/**
 * Revokes a key and deletes the invitations that it created. After the commit, no process accepts it.
 * @param tx a transaction's handle.
 * @throws ServiceError 404 if there is no such active key.
 */
export async function revokeApiKey(tx: Tenant, actor: Actor, keyId: string, now: Date): Promise<void> {
  const { numUpdatedRows } = await tx.db
    .updateTable('api_keys')
    .set({ revoked_at: now })
    .where('key_id', '=', keyId)
    .where('revoked_at', 'is', null)
    .executeTakeFirst()
  if (numUpdatedRows === 0n) throw notFound('API key')
  await announceChange(tx.db)
  await deleteInvitationsOfKey(tx, actor, keyId, now)
}

/** @throws ServiceError 409 `too_many_api_keys` */
async function requireKeyLimit(tx: Tenant, now: Date): Promise<void> {
  const live = tx.db
    .selectFrom('api_keys')
    .select(({ fn }) => fn.countAll<number>().as('count'))
    .where('revoked_at', 'is', null)
    .where(({ or, eb }) => or([eb('expires_at', 'is', null), eb('expires_at', '>', now)]))
  const message = `A tenant can have at most ${KEYS_MAX} active API keys. Revoke an unused one.`
  await requireFewer(tx, 'api_keys', KEYS_MAX, () => live.executeTakeFirstOrThrow(), message)
}

function knownScopes(scopes: readonly string[]): Scope[] {
  if (scopes.length === 1 && scopes[0] === 'all') return [...SCOPES]
  const unknown = scopes.filter((scope) => !isScope(scope))
  if (unknown.length > 0 || scopes.length === 0) {
    const what = unknown.length > 0 ? `Unknown scope ${unknown.join(', ')}.` : 'A key needs at least one scope.'
    throw new ServiceError(400, 'invalid_scope', `${what} Use all, or any of ${SCOPES.join(', ')}.`)
  }
  return [...new Set(scopes.filter(isScope))]
}
