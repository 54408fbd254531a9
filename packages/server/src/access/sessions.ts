import { createHmac, timingSafeEqual } from 'node:crypto'
import { isRole, type Role } from '../operations/roles.ts'
import { tokenHash } from '../platform/crypto/tokens.ts'
import type { Database } from '../platform/postgres/database.ts'
import { type Clock, DAY_SECONDS } from '../platform/time.ts'

/** A session expires this long after its last renewal. */
export const SESSION_SECONDS = 7 * DAY_SECONDS
/** A visit renews a session whose last renewal is older than this. */
export const RENEW_AFTER_SECONDS = DAY_SECONDS

/** A person who is signed in, with their membership in the session's tenant. */
export interface SignedIn {
  sessionId: string
  expiresAt: Date
  user: { id: string; email: string; emailVerified: boolean; name: string; twoFactorEnabled: boolean }
  /** The active tenant; null if none is chosen, or the person is no longer a member of it. */
  membership: { tenantId: string; role: Role } | null
}

/** Name of the session cookie. Browsers accept one with the prefix over HTTPS only. */
export function sessionCookieName(publicUrl: string): string {
  return cookieName(publicUrl, 'session_token')
}

function cookieName(publicUrl: string, name: string): string {
  return `${publicUrl.startsWith('https:') ? '__Secure-' : ''}${COOKIE_PREFIX}.${name}`
}

export const COOKIE_PREFIX = 'cds'

/**
 * Creates the lookup from a Cookie header to the person who is signed in. It queries PostgreSQL every time: people send
 * few requests, and a removal or a lesser role must take effect with its commit, on every process.
 */
export function createSessionLookup(
  database: Database,
  secret: () => Promise<string>,
  publicUrl: string,
  clock: Clock,
): (cookies: string | undefined) => Promise<SignedIn | null> {
  const name = sessionCookieName(publicUrl)
  return async (cookies) => {
    const value = cookieOf(cookies, name)
    const token = value === null ? null : tokenOf(value, await secret())
    return token === null ? null : findSession(database, token, clock())
  }
}

/**
 * Creates the lookup from a Cookie header to the person who has passed the first step of a sign-in (the password or the
 * provider) and must still enter the code of the second factor.
 */
export function createChallengeLookup(
  database: Database,
  secret: () => Promise<string>,
  publicUrl: string,
): (cookies: string | undefined) => Promise<string | null> {
  const name = cookieName(publicUrl, 'two_factor')
  return async (cookies) => {
    const value = cookieOf(cookies, name)
    const challenge = value === null ? null : tokenOf(value, await secret())
    if (challenge === null) return null
    const row = await database
      .selectFrom('user_verifications')
      .select('value')
      .where('identifier', '=', verificationIdentifier(challenge))
      .executeTakeFirst()
    return row?.value ?? null
  }
}

/** The identifier under which the sign-in library stores a pending verification. */
export function verificationIdentifier(token: string): string {
  return tokenHash(token).toString('base64url')
}

/** Whether a request has a session cookie, valid or not. */
export function hasSessionCookie(cookies: string | undefined, publicUrl: string): boolean {
  return cookieOf(cookies, sessionCookieName(publicUrl)) !== null
}

/** Whether a browser has started a sign-in at the OpenID provider and not ended it. */
export function hasStateCookie(cookies: string | undefined, publicUrl: string): boolean {
  return cookieOf(cookies, cookieName(publicUrl, 'state')) !== null
}

/**
 * The decoded cookies of a request; of two with the same name, the first counts. The sign-in library receives these and
 * never the header: a cookie that it parses differently, such as a quoted value, would bypass our checks.
 */
export function cookiesOf(header: string | undefined): Map<string, string> {
  const cookies = new Map<string, string>()
  for (const pair of header?.split(';') ?? []) {
    const at = pair.indexOf('=')
    const name = pair.slice(0, at).trim()
    if (at > 0 && !cookies.has(name)) cookies.set(name, decoded(pair.slice(at + 1).trim()))
  }
  return cookies
}

function cookieOf(header: string | undefined, name: string): string | null {
  return cookiesOf(header).get(name) ?? null
}

/** The cookie is `token.signature`, signed by the sign-in library. Unsigned tokens never reach the database. */
function tokenOf(value: string, secret: string): string | null {
  const [, token, signature] = /^([A-Za-z0-9_-]{16,128})\.([A-Za-z0-9+/]{43}=)$/.exec(value) ?? []
  if (token === undefined || signature === undefined) return null
  const expected = createHmac('sha256', secret).update(token).digest()
  return timingSafeEqual(expected, Buffer.from(signature, 'base64')) ? token : null
}

function decoded(value: string): string {
  try {
    return decodeURIComponent(value)
  } catch {
    return ''
  }
}

async function findSession(database: Database, token: string, now: Date): Promise<SignedIn | null> {
  const row = await database
    .selectFrom('user_sessions')
    .innerJoin('users', 'users.id', 'user_sessions.user_id')
    .leftJoin('tenant_users', (join) =>
      join
        .onRef('tenant_users.user_id', '=', 'users.id')
        .onRef('tenant_users.tenant_id', '=', 'user_sessions.active_tenant_id'),
    )
    .where('user_sessions.token', '=', token)
    .where('user_sessions.expires_at', '>', now)
    .select(['users.email', 'users.email_verified', 'users.name', 'users.two_factor_enabled'])
    .select(['tenant_users.tenant_id', 'tenant_users.role'])
    .select(['user_sessions.id as session_id', 'user_sessions.expires_at', 'users.id as user_id'])
    .executeTakeFirst()
  if (!row) return null
  const { tenant_id: tenantId, role } = row
  return {
    sessionId: row.session_id,
    expiresAt: row.expires_at,
    user: {
      id: row.user_id,
      email: row.email,
      emailVerified: row.email_verified,
      name: row.name,
      twoFactorEnabled: row.two_factor_enabled,
    },
    membership: tenantId !== null && role !== null && isRole(role) ? { tenantId, role } : null,
  }
}

/** The active tenant of a person's new session: the one used last, else the first joined; null if they have none. */
export async function tenantOfNewSession(database: Database, userId: string): Promise<string | null> {
  const row = await database
    .selectFrom('tenant_users')
    .where('user_id', '=', userId)
    .select('tenant_id')
    .orderBy('chosen_at', (order) => order.desc().nullsLast())
    .orderBy('created_at')
    .orderBy('tenant_id')
    .limit(1)
    .executeTakeFirst()
  return row?.tenant_id ?? null
}

/** Switches a session to another tenant of its person. @returns false if they are not a member of that tenant. */
export async function chooseTenant(
  database: Database,
  { sessionId, user }: SignedIn,
  tenantId: string,
  now: Date,
): Promise<boolean> {
  // One statement, so that the membership cannot end between the check and the update.
  const { numUpdatedRows } = await database
    .with('chosen', (query) =>
      query
        .updateTable('tenant_users')
        .set({ chosen_at: now })
        .where('tenant_id', '=', tenantId)
        .where('user_id', '=', user.id)
        .returning('tenant_id'),
    )
    .updateTable('user_sessions')
    .from('chosen')
    .set(({ ref }) => ({ active_tenant_id: ref('chosen.tenant_id'), updated_at: now }))
    .where('id', '=', sessionId)
    .executeTakeFirst()
  return numUpdatedRows > 0n
}
