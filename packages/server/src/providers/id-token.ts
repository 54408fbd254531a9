import { isStorableText } from '../platform/http/json-body.ts'
import { isObject } from '../platform/is-object.ts'
import type { Provider } from './provider.ts'

/** The maximum difference between the clocks of two hosts. */
const SKEW_SECONDS = 300
const LENGTH_MAX = 16_384

/** The claims of a checked ID token. */
export type IdClaims = Readonly<Record<string, unknown>>

/**
 * Reads an ID token from the token URL. It came over TLS from the provider itself, so its signature does not need to be
 * checked (OpenID Connect Core, section 3.1.3.7, item 6); its issuer, audience, expiry and nonce must be.
 * @returns the claims, or the problem.
 */
export function readIdToken(
  token: string,
  { provider, clientId, nonce, now }: { provider: Provider; clientId: string; nonce: string; now: Date },
): IdClaims | string {
  const claims = token.length > LENGTH_MAX ? null : decode(token)
  if (claims === null) return 'the ID token cannot be read'
  const { iss, aud, azp, exp } = claims
  if (typeof iss !== 'string' || !provider.isIssuer(iss)) return 'the ID token is from another issuer'
  const audiences = Array.isArray(aud) ? aud : [aud]
  const isForOthersToo = audiences.length > 1 && azp !== clientId
  if (!audiences.includes(clientId) || isForOthersToo) return 'the ID token is for another client'
  if (typeof exp !== 'number' || exp + SKEW_SECONDS < now.getTime() / 1000) return 'the ID token has expired'
  if (claims.nonce !== nonce) return 'the ID token belongs to another sign-in'
  return claims
}

function decode(token: string): IdClaims | null {
  const parts = token.split('.')
  if (parts.length !== 3) return null
  try {
    const claims: unknown = JSON.parse(Buffer.from(parts[1] ?? '', 'base64url').toString('utf8'))
    return isObject(claims) ? (claims as IdClaims) : null
  } catch {
    return null
  }
}

/** A text claim; null if it is missing or contains characters that cannot be stored. */
export function textClaim(claims: IdClaims, name: string): string | null {
  const value = Object.hasOwn(claims, name) ? claims[name] : null
  return typeof value === 'string' && value !== '' && isStorableText(value) ? value : null
}
