import { sql } from 'kysely'
import { conflict, notFound, validationError } from '../platform/errors.ts'
import { offsetOf, type Page } from '../platform/http/pagination.ts'
import type { Tenant } from '../platform/tenant.ts'
import { makeApiKey, type NewApiKey } from './api-keys.ts'

/** That can be used. */
const KEYS_MAX = 200
/** Distinguishes this lock from others of the same tenant. */
const LIMIT_LOCK = 18

/** One page of a tenant's keys, those that are revoked or expired too, newest first; and how many there are. */
export async function listApiKeys(tenant: Tenant, page: Page) {
  const [rows, counted] = await Promise.all([
    tenant.db
      .selectFrom('api_keys')
      .select(['key_id', 'name', 'scopes', 'created_at', 'expires_at', 'last_used_at', 'revoked_at'])
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
  const keys = rows.map((row) => ({
    key_id: row.key_id,
    name: row.name,
    scopes: row.scopes,
    created_at: row.created_at.toISOString(),
    expires_at: row.expires_at?.toISOString() ?? null,
    last_used_at: row.last_used_at?.toISOString() ?? null,
    revoked_at: row.revoked_at?.toISOString() ?? null,
  }))
  return { keys, total: Number(counted?.count ?? 0) }
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

/** The same as `createApiKey`, in the tenant's transaction. @throws ServiceError 400, 409 `too_many_api_keys`. */
export async function addApiKey(tx: Tenant, key: NewApiKey, now: Date): Promise<{ keyId: string; apiKey: string }> {
  if (key.expiresAt && key.expiresAt <= now) {
    throw validationError([{ path: 'expires_at', message: 'must lie in the future' }])
  }
  const { apiKey, row } = makeApiKey(key, now)
  await requireRoom(tx, now)
  await tx.db.insertInto('api_keys').values(row).execute()
  return { keyId: row.key_id, apiKey }
}

/** Revokes a key: from its commit on no process accepts it. @throws ServiceError 404 when there is no such live key. */
export async function withdrawApiKey(tx: Tenant, keyId: string, now: Date): Promise<void> {
  const { numUpdatedRows } = await tx.db
    .updateTable('api_keys')
    .set({ revoked_at: now })
    .where('key_id', '=', keyId)
    .where('revoked_at', 'is', null)
    .executeTakeFirst()
  if (numUpdatedRows === 0n) throw notFound('API key')
}

/** Waits for whoever else is adding one, then counts. */
async function requireRoom(tx: Tenant, now: Date): Promise<void> {
  await sql`SELECT pg_advisory_xact_lock(hashtextextended(${tx.id}, ${LIMIT_LOCK}))`.execute(tx.db)
  const { count } = await tx.db
    .selectFrom('api_keys')
    .select(({ fn }) => fn.countAll().as('count'))
    .where('revoked_at', 'is', null)
    .where(({ or, eb }) => or([eb('expires_at', 'is', null), eb('expires_at', '>', now)]))
    .executeTakeFirstOrThrow()
  if (Number(count) >= KEYS_MAX) {
    throw conflict('too_many_api_keys', `A tenant has at most ${KEYS_MAX} live API keys. Revoke one that is not used.`)
  }
}
