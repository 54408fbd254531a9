import { createHash, randomBytes } from 'node:crypto'

const BYTES = 32
/** Kinds of codes and tokens. A prefix each, so that scanners of source code recognize a leaked one. */
const PREFIXES = { code: 'cdsc_', access: 'cdsa_', refresh: 'cdsr_' } as const

export type TokenKind = keyof typeof PREFIXES

/** A new code or access token. Only its SHA-256 is stored. */
export function newToken(kind: 'code' | 'access'): string {
  return PREFIXES[kind] + randomBytes(BYTES).toString('base64url')
}

const FAMILY_BYTES = 16
const REFRESH_TOKEN = new RegExp(`^${PREFIXES.refresh}([A-Za-z0-9_-]{22})[A-Za-z0-9_-]{43}$`)

/** The part that all refresh tokens of a grant share. Only its SHA-256 is stored. */
export function newFamily(): string {
  return randomBytes(FAMILY_BYTES).toString('base64url')
}

/** A new refresh token of a family. */
export function newRefreshToken(family: string): string {
  return PREFIXES.refresh + family + randomBytes(BYTES).toString('base64url')
}

/** The family of a refresh token; null for any other text. */
export function familyOf(text: string): string | null {
  return REFRESH_TOKEN.exec(text)?.[1] ?? null
}

/** Whether a text has the form of an access token, so it cannot be an API key. */
export function isAccessToken(text: string): boolean {
  return text.startsWith(PREFIXES.access)
}

const VERIFIER = /^[A-Za-z0-9._~-]{43,128}$/
const CHALLENGE = /^[A-Za-z0-9_-]{43}$/

/** Whether a text can be the challenge of a verifier (PKCE with S256). */
export function isChallenge(text: string): boolean {
  return CHALLENGE.test(text)
}

/** Whether a verifier is the one of the challenge. */
export function isVerifierOf(verifier: string, challenge: string): boolean {
  return VERIFIER.test(verifier) && createHash('sha256').update(verifier).digest('base64url') === challenge
}
