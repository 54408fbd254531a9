import { cached } from '../platform/cache.ts'
import { tokenHash } from '../platform/crypto/tokens.ts'
import type { Database } from '../platform/postgres/database.ts'
import type { Invalidation } from '../platform/postgres/invalidation.ts'
import { type Clock, MINUTE_MS } from '../platform/time.ts'

const LAST_USE_EVERY_MS = MINUTE_MS

/** The key that authenticated a request. */
export interface ApiKey {
  tenantId: string
  keyId: string
  name: string
  scopes: ReadonlySet<string>
  /** Whether it hides personal data from AI agents that use it over MCP. */
  redacts: boolean
  /** Whether it works only over MCP. */
  mcpOnly: boolean
  /** The names of the tools that it may use over MCP, or `all`. */
  tools: ReadonlySet<string>
}

/** Finds the tenant and scopes of an API key as sent; null if it is unknown, expired or revoked. */
export type FindApiKey = (
  apiKey: string,
  /** Called before the database is queried for a key that this process has not accepted before; may throw. */
  beforeUnknown?: () => void,
) => Promise<ApiKey | null>

export function createKeyLookup(
  database: Database,
  invalidation: Pick<Invalidation, 'listening' | 'onChange'>,
  clock: Clock,
): FindApiKey {
  // Unknown keys are not cached: callers can invent any number of them, which would evict the valid ones.
  const byHash = cached(
    invalidation,
    (hash) => findByHash(database, hash),
    (key) => key !== null,
  )
  /** When this process last stored the use of each key that it accepted, by hash. */
  const lastUse = new Map<string, number>()

  return async (apiKey, beforeUnknown) => {
    const hash = tokenHash(apiKey).toString('hex')
    if (!lastUse.has(hash)) beforeUnknown?.()
    const found = await byHash(hash)
    const now = clock()
    if (!found || (found.expiresAt && found.expiresAt <= now)) {
      lastUse.delete(hash)
      return null
    }
    if (now.getTime() - (lastUse.get(hash) ?? 0) > LAST_USE_EVERY_MS) {
      lastUse.set(hash, now.getTime())
      // Only displayed to people, so it must neither delay nor fail a request.
      noteUse(database, found, now).catch(() => lastUse.set(hash, 0))
    }
    return found
  }
}

async function findByHash(database: Database, hash: string): Promise<(ApiKey & { expiresAt: Date | null }) | null> {
  const row = await database
    .selectFrom('api_keys')
    .select(['tenant_id', 'key_id', 'name', 'scopes', 'redacts', 'mcp_only', 'tools', 'expires_at'])
    .where('key_hash', '=', Buffer.from(hash, 'hex'))
    .where('revoked_at', 'is', null)
    .executeTakeFirst()
  if (!row) return null
  const { tenant_id: tenantId, key_id: keyId, name, redacts, mcp_only: mcpOnly, expires_at: expiresAt } = row
  const tools = new Set(row.tools)
  return { tenantId, keyId, name, scopes: new Set(row.scopes), redacts, mcpOnly, tools, expiresAt }
}

async function noteUse(database: Database, { tenantId, keyId }: ApiKey, now: Date): Promise<void> {
  await database
    .updateTable('api_keys')
    .set({ last_used_at: now })
    .where('tenant_id', '=', tenantId)
    .where('key_id', '=', keyId)
    .execute()
}
