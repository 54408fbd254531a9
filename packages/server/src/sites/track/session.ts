import { type IgnoredIds, unlessNobody } from '../../platform/ids-of-nobody.ts'

export const SESSION_COOKIE = 'service_session_id'
const VISITOR_COOKIE = 'service_visitor_id'
/** A session ends after half an hour without an event. */
const SESSION_SECONDS = 1_800
/** The service itself sets UUIDs; pages may choose other ids of this form. */
const USABLE = /^[A-Za-z0-9._~-]{1,200}$/

export function sessionOf(cookies: string | undefined): string | undefined {
  return cookieOf(cookies, SESSION_COOKIE)
}

/**
 * The session that a tracker proposes in its context before its first response. The cookie takes precedence, because it
 * may come from a visit to another subdomain.
 */
export function proposedSession({ context }: { context?: Record<string, unknown> }): string | undefined {
  const proposed = context?.session_id
  return typeof proposed === 'string' && USABLE.test(proposed) ? proposed : undefined
}

/** The visitor of a request: its body comes before the cookie. null if neither names one. */
export function namedVisitorOf(
  sentId: string | undefined,
  cookies: string | undefined,
  ignored: IgnoredIds,
  warnings: string[],
): string | null {
  return firstNamed(ignored, warnings, [
    ['visitor_id', sentId],
    [`the cookie ${VISITOR_COOKIE}`, cookieOf(cookies, VISITOR_COOKIE)],
  ])
}

/** The first id that is sent and names somebody; null if none does. */
export function firstNamed(
  ignored: IgnoredIds,
  warnings: string[],
  ids: readonly (readonly [name: string, id: string | undefined])[],
): string | null {
  for (const [name, id] of ids) {
    const named = unlessNobody(name, id ?? null, ignored, warnings)
    if (named !== null) return named
  }
  return null
}

/** Extends the session by another half hour. */
export function sessionCookie(sessionId: string, secure: boolean): string {
  const attributes = `Path=/; Max-Age=${SESSION_SECONDS}; HttpOnly; SameSite=Strict${secure ? '; Secure' : ''}`
  return `${SESSION_COOKIE}=${encodeURIComponent(sessionId)}; ${attributes}`
}

function cookieOf(cookies: string | undefined, name: string): string | undefined {
  for (const pair of cookies?.split(';') ?? []) {
    const at = pair.indexOf('=')
    const value = pair.slice(at + 1).trim()
    if (at > 0 && pair.slice(0, at).trim() === name && USABLE.test(value)) return value
  }
  return undefined
}
