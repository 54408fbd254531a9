import { createHash, randomBytes } from 'node:crypto'
import { cached } from '../platform/cache.ts'
import { ServiceError } from '../platform/errors.ts'
import { newId } from '../platform/ids.ts'
import { requireName } from '../platform/names.ts'
import type { Database } from '../platform/postgres/database.ts'
import type { Invalidation } from '../platform/postgres/invalidation.ts'
import type { Clock } from '../platform/time.ts'
import { isScope, SCOPES, type Scope } from './scopes.ts'

/** 32 random bytes: a key can be neither guessed nor found by trying. */
const KEY_BYTES = 32
const NAME_LENGTH_MAX = 200
const LAST_USE_EVERY_MS = 60_000

export interface ApiKey {
  tenantId: string
  keyId: string
  name: string
  scopes: ReadonlySet<string>
}

export interface NewApiKey {
  name: string
  /** Scope names, or `all`. */
  scopes: readonly string[]
  expiresAt?: Date
}

/**
 * Creates an API key of a tenant.
 * @returns the key itself, which is shown this once: only its SHA-256 is stored.
 */
export async function createApiKey(
  database: Database,
  tenantId: string,
  key: NewApiKey,
  now: Date,
): Promise<{ keyId: string; apiKey: string }> {
  const { apiKey, row } = makeApiKey(key, now)
  await database
    .insertInto('api_keys')
    .values({ tenant_id: tenantId, ...row })
    .execute()
  return { keyId: row.key_id, apiKey }
}

/** A new key with the row that stands for it. @throws ServiceError 400 for a blank name, or a scope that there is not. */
export function makeApiKey({ name, scopes, expiresAt }: NewApiKey, now: Date) {
  const apiKey = `cds_${randomBytes(KEY_BYTES).toString('base64url')}`
  const row = {
    key_id: newId(),
    name: requireName('name', name, NAME_LENGTH_MAX),
    key_hash: hashOf(apiKey),
    scopes: knownScopes(scopes),
    created_at: now,
    expires_at: expiresAt ?? null,
  }
  return { apiKey, row }
}

/** Revokes a key: from its commit on no process accepts it. @returns false when the tenant has no such live key. */
export async function revokeApiKey(database: Database, tenantId: string, keyId: string, now: Date): Promise<boolean> {
  const { numUpdatedRows } = await database
    .updateTable('api_keys')
    .set({ revoked_at: now })
    .where('tenant_id', '=', tenantId)
    .where('key_id', '=', keyId)
    .where('revoked_at', 'is', null)
    .executeTakeFirst()
  return numUpdatedRows > 0n
}

/** Finds the tenant and scopes of a key as callers send it; null for a key that is unknown, expired or revoked. */
export type FindApiKey = (
  apiKey: string,
  /** Called, and may throw, before the database is asked about a key that this process has not accepted before. */
  beforeUnknown?: () => void,
) => Promise<ApiKey | null>

export function createKeyLookup(database: Database, invalidation: Invalidation, clock: Clock): FindApiKey {
  // Unknown keys are not cached: callers can make up any number of them and would evict the valid ones.
  const byHash = cached(
    invalidation,
    (hash) => findByHash(database, hash),
    (key) => key !== null,
  )
  /** When keys that this process has accepted were last noted as used, by their hashes. */
  const lastUse = new Map<string, number>()

  return async (apiKey, beforeUnknown) => {
    const hash = hashOf(apiKey).toString('hex')
    if (!lastUse.has(hash)) beforeUnknown?.()
    const found = await byHash(hash)
    const now = clock()
    if (!found || (found.expiresAt && found.expiresAt <= now)) {
      lastUse.delete(hash)
      return null
    }
    if (now.getTime() - (lastUse.get(hash) ?? 0) > LAST_USE_EVERY_MS) {
      lastUse.set(hash, now.getTime())
      // Of interest to people only: it must neither delay nor fail a request.
      noteUse(database, found, now).catch(() => lastUse.set(hash, 0))
    }
    return found
  }
}

async function findByHash(database: Database, hash: string): Promise<(ApiKey & { expiresAt: Date | null }) | null> {
  const row = await database
    .selectFrom('api_keys')
    .select(['tenant_id', 'key_id', 'name', 'scopes', 'expires_at'])
    .where('key_hash', '=', Buffer.from(hash, 'hex'))
    .where('revoked_at', 'is', null)
    .executeTakeFirst()
  if (!row) return null
  const { tenant_id: tenantId, key_id: keyId, name, expires_at: expiresAt } = row
  return { tenantId, keyId, name, scopes: new Set(row.scopes), expiresAt }
}

async function noteUse(database: Database, { tenantId, keyId }: ApiKey, now: Date): Promise<void> {
  await database
    .updateTable('api_keys')
    .set({ last_used_at: now })
    .where('tenant_id', '=', tenantId)
    .where('key_id', '=', keyId)
    .execute()
}

function knownScopes(scopes: readonly string[]): Scope[] {
  if (scopes.length === 1 && scopes[0] === 'all') return [...SCOPES]
  const unknown = scopes.filter((scope) => !isScope(scope))
  if (unknown.length > 0 || scopes.length === 0) {
    const what = unknown.length > 0 ? `Unknown scope ${unknown.join(', ')}.` : 'A key needs at least one scope.'
    throw new ServiceError(400, 'invalid_scope', `${what} Use all, or some of ${SCOPES.join(', ')}.`)
  }
  return [...new Set(scopes.filter(isScope))]
}

function hashOf(apiKey: string): Buffer {
  return createHash('sha256').update(apiKey).digest()
}
