import { isRole } from '../../operations/roles.ts'
import { scopesOf } from '../../operations/scopes.ts'
import { tokenHash } from '../../platform/crypto/tokens.ts'
import type { Database } from '../../platform/postgres/database.ts'
import { type Clock, MINUTE_MS } from '../../platform/time.ts'

const LAST_USE_EVERY_MS = MINUTE_MS
const KNOWN_MAX = 10_000

/** What an application may do now for the person who allowed it. */
export interface Grant {
  tenantId: string
  grantId: string
  user: { id: string; name: string }
  /** The application's name, which nothing proves. */
  clientName: string
  /** Never more than the person's role includes now. */
  scopes: ReadonlySet<string>
  redacts: boolean
  /** The names of the tools that it may use, or `all`. */
  tools: ReadonlySet<string>
}

/**
 * Finds the grant of an access token as sent; null if it is unknown, expired or revoked, or if its person has left the
 * tenant.
 */
export type FindGrant = (
  accessToken: string,
  /** Called before the database is queried for a token that this process has not accepted before; may throw. */
  beforeUnknown?: () => void,
) => Promise<Grant | null>

/**
 * Creates the lookup. Like the one of sessions, it queries PostgreSQL every time: a revocation, a removal or a lesser role
 * takes effect with its commit, on every process.
 */
export function createGrantLookup(database: Database, clock: Clock): FindGrant {
  /** When this process last stored the use of each token that it accepted, by hash; the oldest first. */
  const lastUse = new Map<string, number>()

  return async (accessToken, beforeUnknown) => {
    const hash = tokenHash(accessToken)
    const key = hash.toString('hex')
    if (!lastUse.has(key)) beforeUnknown?.()
    const now = clock()
    const grant = await findByHash(database, hash, now)
    if (grant === null) {
      lastUse.delete(key)
      return null
    }
    if (now.getTime() - (lastUse.get(key) ?? 0) > LAST_USE_EVERY_MS) {
      remember(lastUse, key, now.getTime())
      // Only displayed to people, so it must neither delay nor fail a request.
      noteUse(database, grant, now).catch(() => lastUse.set(key, 0))
    }
    return grant
  }
}

function remember(lastUse: Map<string, number>, key: string, at: number): void {
  lastUse.delete(key)
  lastUse.set(key, at)
  if (lastUse.size <= KNOWN_MAX) return
  for (const oldest of lastUse.keys()) {
    lastUse.delete(oldest)
    return
  }
}

async function findByHash(database: Database, hash: Buffer, now: Date): Promise<Grant | null> {
  const row = await database
    .selectFrom('oauth_tokens')
    .innerJoin('oauth_grants', (join) =>
      join
        .onRef('oauth_grants.tenant_id', '=', 'oauth_tokens.tenant_id')
        .onRef('oauth_grants.grant_id', '=', 'oauth_tokens.grant_id'),
    )
    .innerJoin('tenant_users', (join) =>
      join
        .onRef('tenant_users.tenant_id', '=', 'oauth_grants.tenant_id')
        .onRef('tenant_users.user_id', '=', 'oauth_grants.user_id'),
    )
    .innerJoin('users', 'users.id', 'oauth_grants.user_id')
    .where('oauth_tokens.token_hash', '=', hash)
    .where('oauth_tokens.kind', '=', 'access')
    .where('oauth_tokens.expires_at', '>', now)
    .where('oauth_tokens.ended_at', 'is', null)
    .where('oauth_grants.revoked_at', 'is', null)
    .select(['oauth_grants.tenant_id', 'oauth_grants.grant_id', 'oauth_grants.client_name', 'oauth_grants.scopes'])
    .select([
      'oauth_grants.redacts',
      'oauth_grants.tools',
      'tenant_users.role',
      'users.id as user_id',
      'users.name',
      'users.email',
    ])
    .executeTakeFirst()
  if (!row || !isRole(row.role)) return null
  const ofRole = scopesOf(row.role)
  return {
    tenantId: row.tenant_id,
    grantId: row.grant_id,
    user: { id: row.user_id, name: row.name || row.email },
    clientName: row.client_name,
    scopes: new Set(row.scopes.filter((scope) => ofRole.has(scope))),
    redacts: row.redacts,
    tools: new Set(row.tools),
  }
}

async function noteUse(database: Database, { tenantId, grantId }: Grant, now: Date): Promise<void> {
  await database
    .updateTable('oauth_grants')
    .set({ last_used_at: now })
    .where('tenant_id', '=', tenantId)
    .where('grant_id', '=', grantId)
    .execute()
}
