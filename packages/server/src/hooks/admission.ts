import type { FastifyReply, FastifyRequest } from 'fastify'
import type { SecretBox } from '../platform/crypto/secret-box.ts'
import { conflict, ServiceError } from '../platform/errors.ts'
import type { RateLimiter, Sender } from '../platform/http/rate-limits.ts'
import type { Clock } from '../platform/time.ts'
import type { HookRow } from './hook-object.ts'
import { hookSecretPlace } from './hooks.ts'
import { type HookKind, type SignatureScheme, schemeOf } from './kinds.ts'
import { requireSignature } from './signatures.ts'
import type { FindHook, FoundHook } from './tokens.ts'

export interface AdmissionServices {
  findHook: FindHook
  secrets: SecretBox
  clock: Clock
  rateLimiter: Pick<
    RateLimiter,
    'checkInvalid' | 'countInvalid' | 'checkInvalidSignatures' | 'countInvalidSignature' | 'checkHook'
  >
}

/** A request that knows the token of an enabled hook. */
export interface Admitted {
  hook: FoundHook
  /** Whether it counts against the limits of the hook: it is signed, or the hook has no secret. */
  isFromSender: boolean
}

/**
 * Admits a request that knows the token of a hook, before its body is read. A request for a hook with a secret does not
 * count against the hook's limits yet: whoever knows the URL but not the secret must not use up the limit of the sender.
 * @throws ServiceError 404 `hook_not_found`, 409 `hook_disabled`, 429 `rate_limited`.
 */
export async function admit(
  { findHook, rateLimiter }: Pick<AdmissionServices, 'findHook' | 'rateLimiter'>,
  token: string,
  sender: Sender,
  reply: FastifyReply,
): Promise<Admitted> {
  const hook = await findHook(token, () => rateLimiter.checkInvalid('hook token', sender))
  if (hook === null) {
    rateLimiter.countInvalid('hook token', sender)
    throw unknownToken()
  }
  const { tenantId, row } = hook
  const isFromSender = schemeOfRow(row) === null
  if (isFromSender) rateLimiter.checkHook(tenantId, row.hook_id, reply)
  else rateLimiter.checkInvalidSignatures(row.hook_id, sender.ip)
  if (!row.is_enabled) throw disabled()
  return { hook, isFromSender }
}

/**
 * Checks the signature of a body if the hook has a secret. From then on the request counts as the sender's.
 * @throws ServiceError 401 `invalid_signature`, 429 `rate_limited`.
 */
export function requireSender(
  { secrets, clock, rateLimiter }: Omit<AdmissionServices, 'findHook'>,
  admitted: Admitted,
  bytes: Buffer,
  headers: FastifyRequest['headers'],
  reply: FastifyReply,
): void {
  const { tenantId, row } = admitted.hook
  const scheme = schemeOfRow(row)
  if (scheme === null || row.secret_sealed === null) return
  const secret = secrets.open(row.secret_sealed, hookSecretPlace(tenantId, row.hook_id))
  requireSignature(scheme, secret, bytes, headers, clock())
  admitted.isFromSender = true
  rateLimiter.checkHook(tenantId, row.hook_id, reply)
}

/** Counts a request that was admitted, but not signed by the sender. */
export function countStranger(
  { rateLimiter }: Pick<AdmissionServices, 'rateLimiter'>,
  { hook, isFromSender }: Admitted,
  ip: string,
): void {
  if (!isFromSender) rateLimiter.countInvalidSignature(hook.row.hook_id, ip)
}

/** How the bodies of a hook must be signed; null if they need not be. */
function schemeOfRow({ kind, signature_header, secret_sealed }: HookRow): SignatureScheme | null {
  return secret_sealed === null ? null : schemeOf(kind as HookKind, signature_header)
}

function unknownToken(): ServiceError {
  const message = 'No hook has this token. The token may be mistyped or replaced, or the hook was deleted.'
  return new ServiceError(404, 'hook_not_found', message)
}

function disabled(): ServiceError {
  return conflict('hook_disabled', 'This hook is off. Turn it on in the settings, then send the body again.')
}
