import { createSecretKey, type KeyObject, randomBytes } from 'node:crypto'
import { cached } from '../platform/cache.ts'
import type { SecretBox } from '../platform/crypto/secret-box.ts'
import type { Invalidation } from '../platform/postgres/invalidation.ts'
import { openTenant, type Stores, type Tenant } from '../platform/tenant.ts'

const SECRET_BYTES = 32
/** How long pages that were signed with the secret before are still believed. */
const OVERLAP_MS = 24 * 3_600_000

/** How a tenant's pages prove who a visitor is, as it is shown. */
export interface IdentificationSettings {
  requiresSignature: boolean
  /** null: there is no secret. */
  secretCreatedAt: Date | null
  /** Until when the secret before is good; null without one. */
  previousUntil: Date | null
}

/** What checks a page's proof. */
export interface IdentificationKeys {
  requiresSignature: boolean
  keys: readonly { key: KeyObject; until: Date | null }[]
}

export type FindIdentificationKeys = (tenantId: string) => Promise<IdentificationKeys>

/** Makes the look-up of a tenant's keys, which are remembered until those of any tenant change. */
export function createIdentificationLookup(
  stores: Stores,
  secrets: SecretBox,
  invalidation: Invalidation,
): FindIdentificationKeys {
  return cached(invalidation, (tenantId) => readKeys(openTenant(stores, tenantId), secrets))
}

export async function getIdentificationSettings(tenant: Tenant, now: Date): Promise<IdentificationSettings> {
  const row = await tenant.db
    .selectFrom('identification_settings')
    .select(['requires_signature', 'secret_created_at', 'previous_until'])
    .executeTakeFirst()
  const previousUntil = row?.previous_until ?? null
  return {
    requiresSignature: row?.requires_signature ?? false,
    secretCreatedAt: row?.secret_created_at ?? null,
    previousUntil: previousUntil !== null && previousUntil > now ? previousUntil : null,
  }
}

/** Decides whether an identification that a page sends must be signed. */
export async function requireSignature(tx: Tenant, isRequired: boolean): Promise<void> {
  await tx.db
    .insertInto('identification_settings')
    .values({ requires_signature: isRequired })
    .onConflict((row) => row.columns([]).doUpdateSet({ requires_signature: isRequired }))
    .execute()
}

/**
 * Makes the secret that signs identifications, or a new one: the one before is good for another day, and the one before
 * that no more.
 * @returns the secret, which is shown this once.
 */
export async function rotateIdentitySecret(
  tx: Tenant,
  secrets: SecretBox,
  now: Date,
): Promise<{ secret: string; previousUntil: Date | null }> {
  const secret = `cdsid_${randomBytes(SECRET_BYTES).toString('base64url')}`
  const sealed = secrets.seal(secret, identitySecretPlace(tx.id))
  const until = new Date(now.getTime() + OVERLAP_MS)
  const { previous_until } = await tx.db
    .insertInto('identification_settings')
    .values({ secret_sealed: sealed, secret_created_at: now })
    .onConflict((row) =>
      row.columns([]).doUpdateSet(({ ref, eb }) => ({
        secret_sealed: sealed,
        secret_created_at: now,
        previous_secret_sealed: ref('identification_settings.secret_sealed'),
        previous_until: eb
          .case()
          .when('identification_settings.secret_sealed', 'is not', null)
          .then(until)
          .else(null)
          .end(),
      })),
    )
    .returning('previous_until')
    .executeTakeFirstOrThrow()
  return { secret, previousUntil: previous_until }
}

/** Where both secrets of a tenant are sealed for. */
export function identitySecretPlace(tenantId: string): string {
  return `${tenantId}/identity-secret`
}

async function readKeys(tenant: Tenant, secrets: SecretBox): Promise<IdentificationKeys> {
  const row = await tenant.db.selectFrom('identification_settings').selectAll().executeTakeFirst()
  const sealed = [
    { text: row?.secret_sealed ?? null, until: null },
    { text: row?.previous_secret_sealed ?? null, until: row?.previous_until ?? null },
  ]
  const keys = sealed.flatMap(({ text, until }) => {
    if (text === null) return []
    return [{ key: createSecretKey(secrets.open(text, identitySecretPlace(tenant.id)), 'utf8'), until }]
  })
  return { requiresSignature: row?.requires_signature ?? false, keys }
}
