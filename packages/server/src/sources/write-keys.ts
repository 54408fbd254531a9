import { randomBytes } from 'node:crypto'
import { cached } from '../platform/cache.ts'
import { tokenHash } from '../platform/crypto/tokens.ts'
import { newId } from '../platform/ids.ts'
import type { Database } from '../platform/postgres/database.ts'
import type { Invalidation } from '../platform/postgres/invalidation.ts'
import type { Tenant } from '../platform/tenant.ts'
import type { Clock } from '../platform/time.ts'

const KEY_BYTES = 24
const HINT_LENGTH = 4

export type WriteKeyType = 'browser' | 'server'

/** The source of a write key. */
export interface KeyedSource {
  tenantId: string
  sourceId: string
  type: WriteKeyType
}

/** Finds the source of a write key as sent; null if the key is unknown, or expired, or its source was deleted. */
export type FindSource = (
  writeKey: string,
  /** Called before the database is queried for a key that this process has not accepted before; may throw. */
  beforeUnknown?: () => Promise<void>,
) => Promise<KeyedSource | null>

export function createSourceLookup(database: Database, invalidation: Invalidation, clock: Clock): FindSource {
  // Unknown keys are not cached: callers can invent any number of them, which would evict the valid ones.
  const byHash = cached(
    invalidation,
    (hash) => findByHash(database, hash),
    (key) => key !== null,
  )
  const accepted = new Set<string>()
  invalidation.onChange(() => accepted.clear())

  return async (writeKey, beforeUnknown) => {
    const hash = tokenHash(writeKey).toString('hex')
    if (!accepted.has(hash)) await beforeUnknown?.()
    const found = await byHash(hash)
    if (!found || (found.expiresAt && found.expiresAt <= clock())) {
      accepted.delete(hash)
      return null
    }
    accepted.add(hash)
    return found.source
  }
}

async function findByHash(
  database: Database,
  hash: string,
): Promise<{ source: KeyedSource; expiresAt: Date | null } | null> {
  const row = await database
    .selectFrom('write_keys')
    .innerJoin('sources', (join) =>
      join
        .onRef('sources.tenant_id', '=', 'write_keys.tenant_id')
        .onRef('sources.source_id', '=', 'write_keys.source_id'),
    )
    .select(['write_keys.tenant_id', 'write_keys.source_id', 'write_keys.expires_at', 'sources.type'])
    .where('write_keys.key_hash', '=', Buffer.from(hash, 'hex'))
    .executeTakeFirst()
  if (!row) return null
  const { tenant_id: tenantId, source_id: sourceId, expires_at: expiresAt } = row
  return { source: { tenantId, sourceId, type: row.type as WriteKeyType }, expiresAt }
}

/** Creates a write key of a source. @returns the key, which cannot be shown again: only its SHA-256 is stored. */
export async function addWriteKey(tx: Tenant, sourceId: string, now: Date): Promise<string> {
  const writeKey = `wk_${randomBytes(KEY_BYTES).toString('base64url')}`
  await tx.db
    .insertInto('write_keys')
    .values({
      key_id: newId(),
      source_id: sourceId,
      key_hash: tokenHash(writeKey),
      hint: writeKey.slice(-HINT_LENGTH),
      created_at: now,
      expires_at: null,
    })
    .execute()
  return writeKey
}

/** Lets the keys of a source expire: its current one at this time, and those replaced before no later than that. */
export async function expireWriteKeys(tx: Tenant, sourceId: string, at: Date): Promise<void> {
  await tx.db
    .updateTable('write_keys')
    .set({ expires_at: at })
    .where('source_id', '=', sourceId)
    .where(({ or, eb }) => or([eb('expires_at', 'is', null), eb('expires_at', '>', at)]))
    .execute()
}
