import { createHmac, createSecretKey, type KeyObject, randomBytes, timingSafeEqual } from 'node:crypto'
import { cached } from '../platform/cache.ts'
import type { SecretBox } from '../platform/crypto/secret-box.ts'
import { REPLACED_FOR_MS } from '../platform/crypto/tokens.ts'
import { type FindIgnoredIds, type IgnoredIds, plainWord, toIgnoredIds } from '../platform/ids-of-nobody.ts'
import type { Logger } from '../platform/log.ts'
import type { Invalidation } from '../platform/postgres/invalidation.ts'
import { announceChange } from '../platform/postgres/invalidation.ts'
import { openTenant, type Stores, type Tenant } from '../platform/tenant.ts'

const SECRET_BYTES = 32
const USER_HASH = /^[0-9a-f]{64}$/i

/** A tenant's identification settings, as the API shows them. */
export interface IdentificationSettings {
  requiresSignature: boolean
  /** null if there is no secret. */
  secretCreatedAt: Date | null
  /** When the previous secret expires; null without one. */
  previousUntil: Date | null
  /** The words that the tenant counts as ids of nobody, as written. */
  ignoredIds: string[]
}

/** The keys that verify a page's `user_hash`. */
export interface IdentificationKeys {
  requiresSignature: boolean
  keys: readonly { key: KeyObject; until: Date | null }[]
}

/** Whether a hash is the hexadecimal HMAC-SHA256 of a text with a currently valid secret of the tenant. */
export function isSigned({ keys }: IdentificationKeys, text: string, hash: unknown, now: Date): boolean {
  if (typeof hash !== 'string' || !USER_HASH.test(hash)) return false
  const sent = Buffer.from(hash, 'hex')
  return keys.some(
    ({ key, until }) =>
      (until === null || now < until) && timingSafeEqual(createHmac('sha256', key).update(text).digest(), sent),
  )
}

export type FindIdentificationKeys = (tenantId: string) => Promise<IdentificationKeys>

/** Creates the lookups of a tenant's settings, which are cached until any tenant's settings change. */
export function createIdentificationLookups(
  stores: Stores,
  secrets: SecretBox,
  invalidation: Invalidation,
  log: Logger,
): { findIdentificationKeys: FindIdentificationKeys; findIgnoredIds: FindIgnoredIds } {
  const findSettings = cached(invalidation, (tenantId) => readCached(openTenant(stores, tenantId), secrets, log))
  return {
    findIdentificationKeys: findSettings,
    findIgnoredIds: async ({ id }) => (await findSettings(id)).ignoredIds,
  }
}

/** The words that a tenant counts as ids of nobody, from the database. */
export async function readIgnoredIds(tenant: Tenant): Promise<IgnoredIds> {
  const row = await tenant.db.selectFrom('identification_settings').select('ignored_ids').executeTakeFirst()
  return toIgnoredIds(row?.ignored_ids ?? [])
}

export async function readIdentificationSettings(tenant: Tenant, now: Date): Promise<IdentificationSettings> {
  const row = await tenant.db
    .selectFrom('identification_settings')
    .select(['requires_signature', 'secret_created_at', 'previous_until', 'ignored_ids'])
    .executeTakeFirst()
  const previousUntil = row?.previous_until ?? null
  return {
    requiresSignature: row?.requires_signature ?? false,
    secretCreatedAt: row?.secret_created_at ?? null,
    previousUntil: previousUntil !== null && previousUntil > now ? previousUntil : null,
    ignoredIds: row?.ignored_ids ?? [],
  }
}

/** Sets whether identifications from pages must be signed. */
export async function requireSignature(tx: Tenant, isRequired: boolean): Promise<void> {
  await tx.db
    .insertInto('identification_settings')
    .values({ requires_signature: isRequired })
    .onConflict((row) => row.columns([]).doUpdateSet({ requires_signature: isRequired }))
    .execute()
  await announceChange(tx.db)
}

/** Replaces the words that the tenant counts as ids of nobody. @returns what changed. */
export async function setIgnoredIds(
  tx: Tenant,
  words: readonly string[],
): Promise<{ added: string[]; removed: string[] }> {
  const unique = [...Map.groupBy(words, plainWord).values()].flatMap(([word = '']) => word.trim())
  const before = (await lockSettings(tx)).ignored_ids
  await tx.db.updateTable('identification_settings').set({ ignored_ids: unique }).execute()
  await announceChange(tx.db)
  return {
    added: unique.filter((word) => !before.includes(word)),
    removed: before.filter((word) => !unique.includes(word)),
  }
}

/**
 * Creates or rotates the secret that signs identifications: the previous one stays valid for another day, and the one
 * before it stops working. @returns the secret, which cannot be shown again.
 */
export async function rotateIdentitySecret(
  tx: Tenant,
  secrets: SecretBox,
  now: Date,
): Promise<{ secret: string; previousUntil: Date | null }> {
  const secret = `cdsid_${randomBytes(SECRET_BYTES).toString('base64url')}`
  const sealed = secrets.seal(secret, identitySecretPlace(tx.id))
  // Of two concurrent rotations, the second keeps the first's secret.
  const before = await lockSettings(tx)
  const previousUntil = before.secret_sealed === null ? null : new Date(now.getTime() + REPLACED_FOR_MS)
  await tx.db
    .updateTable('identification_settings')
    .set({
      secret_sealed: sealed,
      secret_created_at: now,
      previous_secret_sealed: before.secret_sealed,
      previous_until: previousUntil,
    })
    .execute()
  await announceChange(tx.db)
  return { secret, previousUntil }
}

/** Locks the tenant's settings. They are inserted first, so that there is a row to lock. */
async function lockSettings(tx: Tenant) {
  await tx.db
    .insertInto('identification_settings')
    .values({ requires_signature: false })
    .onConflict((row) => row.columns([]).doNothing())
    .execute()
  return tx.db
    .selectFrom('identification_settings')
    .select(['secret_sealed', 'ignored_ids'])
    .forUpdate()
    .executeTakeFirstOrThrow()
}

/** The place that both secrets of a tenant are encrypted for. */
export function identitySecretPlace(tenantId: string): string {
  return `${tenantId}/identity-secret`
}

/** What nearly every request from a page needs of the settings. */
async function readCached(
  tenant: Tenant,
  secrets: SecretBox,
  log: Logger,
): Promise<IdentificationKeys & { ignoredIds: IgnoredIds }> {
  const row = await tenant.db.selectFrom('identification_settings').selectAll().executeTakeFirst()
  const sealed = [
    { text: row?.secret_sealed ?? null, until: null },
    { text: row?.previous_secret_sealed ?? null, until: row?.previous_until ?? null },
  ]
  const keys = sealed.flatMap(({ text, until }) => {
    if (text === null) return []
    try {
      return [{ key: createSecretKey(secrets.open(text, identitySecretPlace(tenant.id)), 'utf8'), until }]
    } catch (error) {
      // The secret then verifies nothing, but events that come with an identification must still be recorded.
      log.error({ err: error, tenant_id: tenant.id }, 'an identity secret could not be decrypted; rotate it')
      return []
    }
  })
  const ignoredIds = toIgnoredIds(row?.ignored_ids ?? [])
  return { requiresSignature: row?.requires_signature ?? false, keys, ignoredIds }
}
