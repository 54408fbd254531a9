import { createHash, randomBytes } from 'node:crypto'

const BYTES = 32
/** Kinds of codes and tokens. A prefix each, so that scanners of source code recognize a leaked one. */
const PREFIXES = { code: 'cdsc_', access: 'cdsa_', refresh: 'cdsr_' } as const

export type TokenKind = keyof typeof PREFIXES

/** A new code or token. Only its SHA-256 is stored. */
export function newToken(kind: TokenKind): string {
  return PREFIXES[kind] + randomBytes(BYTES).toString('base64url')
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
