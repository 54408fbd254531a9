import { randomBytes } from 'node:crypto'
import { cached } from '../platform/cache.ts'
import { tokenHash } from '../platform/crypto/tokens.ts'
import type { Database } from '../platform/postgres/database.ts'
import type { Invalidation } from '../platform/postgres/invalidation.ts'
import type { Clock } from '../platform/time.ts'
import { HOOK_COLUMNS, type HookRow } from './hook-object.ts'

const TOKEN_BYTES = 24
const HINT_LENGTH = 4

/** The path that the sender of a hook's bodies calls. */
export const HOOK_PATH = '/v1/public/hooks/:token'

/** The URL of that path, with a token. */
export function urlOfHook(publicUrl: string, token: string): string {
  return `${publicUrl.replace(/\/$/, '')}${HOOK_PATH.replace(':token', token)}`
}

/** The hook that a token belongs to. */
export interface FoundHook {
  tenantId: string
  row: HookRow
}

/** Finds the hook of a token; null if the token is unknown, or was replaced too long ago. */
export type FindHook = (
  token: string,
  /** Called before the database is queried for a token that this process has not accepted yet. It may throw. */
  beforeUnknown: () => void,
) => Promise<FoundHook | null>

/** A new token, and what finds it. */
export function newToken(): { token: string; stored: { token_hash: Buffer; token_hint: string } } {
  const token = `hk_${randomBytes(TOKEN_BYTES).toString('base64url')}`
  return { token, stored: { token_hash: tokenHash(token), token_hint: token.slice(-HINT_LENGTH) } }
}

export function createHookLookup(
  database: Database,
  invalidation: Pick<Invalidation, 'listening' | 'onChange'>,
  clock: Clock,
): FindHook {
  // Unknown tokens are not cached, because callers could invent enough of them to evict the valid ones.
  const byHash = cached(
    invalidation,
    (hash) => findByHash(database, Buffer.from(hash, 'hex')),
    (hook) => hook !== null,
  )
  const accepted = new Set<string>()
  invalidation.onChange(() => accepted.clear())

  return async (token, beforeUnknown) => {
    const hash = tokenHash(token).toString('hex')
    if (!accepted.has(hash)) beforeUnknown()
    const found = await byHash(hash)
    if (found === null || (found.until !== null && found.until <= clock())) {
      accepted.delete(hash)
      return null
    }
    accepted.add(hash)
    return found
  }
}

async function findByHash(database: Database, hash: Buffer): Promise<(FoundHook & { until: Date | null }) | null> {
  const row = await database
    .selectFrom('hooks')
    .select([...HOOK_COLUMNS, 'tenant_id', 'token_hash'])
    .where(({ eb, or }) => or([eb('token_hash', '=', hash), eb('previous_token_hash', '=', hash)]))
    .executeTakeFirst()
  if (!row) return null
  const { tenant_id: tenantId, token_hash: current, ...hook } = row
  return { tenantId, row: hook, until: current.equals(hash) ? null : hook.previous_token_until }
}
