import { hasFewerCharacters, hasMoreCharacters } from '../../platform/characters.ts'
import { conflict, notFound, ServiceError, validationError } from '../../platform/errors.ts'
import { isStorableText } from '../../platform/http/json-body.ts'
import { isUuid } from '../../platform/ids.ts'
import type { Tenant } from '../../platform/tenant.ts'
import type { Clock } from '../../platform/time.ts'
import {
  type RefusalReason,
  type SendOutcome,
  type SocialConnector,
  type SocialInvitation,
  type SocialMessage,
  SocialUnavailable,
} from './connector.ts'
import { RETRY_AFTER_SECONDS } from './failures.ts'
import { profileOf, storeCheck } from './profiles.ts'

const URL_LENGTH_MAX = 2_048
const MESSAGE_LENGTH_MAX = 8_000
const NOTE_LENGTH_MAX = 300
const KEY_LENGTH_MAX = 200

export interface SendDependencies {
  social: SocialConnector
  clock: Clock
}

/** The network's id of what was sent. */
export interface Sent {
  external_id: string
}

/**
 * Sends a message as an identity, once per idempotency key.
 * @throws ServiceError 400 for an invalid message, 404 for an unknown identity, 409 `identity_without_social`,
 * `social_session_expired` (log in again) or `social_refused` (permanent),
 * 503 `social_unavailable` (retry with the same key).
 */
export async function sendSocialMessage(
  tenant: Tenant,
  dependencies: SendDependencies,
  identityId: string,
  message: SocialMessage,
): Promise<Sent> {
  checkText('message', message.message, 1, MESSAGE_LENGTH_MAX)
  checkEnvelope(message)
  return send(tenant, dependencies, identityId, (social, profileId) => social.sendMessage(tenant, profileId, message))
}

/** Sends a connection request as an identity, with the same guarantees and errors as `sendSocialMessage`. */
export async function sendSocialConnect(
  tenant: Tenant,
  dependencies: SendDependencies,
  identityId: string,
  invitation: SocialInvitation,
): Promise<Sent> {
  if (invitation.note !== undefined) checkText('note', invitation.note, 0, NOTE_LENGTH_MAX)
  checkEnvelope(invitation)
  return send(tenant, dependencies, identityId, (social, profileId) => social.connect(tenant, profileId, invitation))
}

async function send(
  tenant: Tenant,
  { social, clock }: SendDependencies,
  identityId: string,
  call: (social: SocialConnector, profileId: string) => Promise<SendOutcome>,
): Promise<Sent> {
  await requireIdentity(tenant, identityId)
  const profileId = await profileOf(tenant, identityId)
  if (profileId === null) {
    const message = 'This identity has no social-network profile. Log in first (POST …/social/login).'
    throw conflict('identity_without_social', message)
  }
  const result = await call(social, profileId).catch((error) => {
    throw toServiceError(error)
  })
  if (result.outcome === 'sent') return { external_id: result.externalId }
  if (result.outcome === 'refused') {
    throw conflict('social_refused', REFUSALS[result.reason], [{ path: 'reason', message: result.reason }])
  }
  await storeCheck(tenant, identityId, profileId, false, clock())
  const message = "The identity's session at the network has expired. Log in again (POST …/social/login)."
  throw conflict('social_session_expired', message)
}

const REFUSALS: Record<RefusalReason, string> = {
  recipient_not_found: 'The network does not know this profile. Check the recipient_profile_url.',
  not_connected: 'The network delivers only to connections of this identity. Send a connection request first.',
  limit_reached: "The network's limit for this identity is reached. Try again later.",
  not_allowed: "The network refused the request. Check the profile on the network's own site.",
}

/** Converts SocialUnavailable. Any other error is a bug of ours and is returned unchanged. */
export function toServiceError(error: unknown): unknown {
  if (!(error instanceof SocialUnavailable)) return error
  const message = 'The social network cannot be reached at the moment. Try again shortly.'
  return new ServiceError(503, 'social_unavailable', message, { retryAfterSeconds: RETRY_AFTER_SECONDS, cause: error })
}

/** @throws ServiceError 404 */
export async function requireIdentity(tenant: Tenant, identityId: string): Promise<void> {
  const row = isUuid(identityId)
    ? await tenant.db
        .selectFrom('identities')
        .select('identity_id')
        .where('identity_id', '=', identityId)
        .executeTakeFirst()
    : undefined
  if (!row) throw notFound('identity')
}

function checkEnvelope({ recipientProfileUrl, idempotencyKey }: SocialInvitation): void {
  checkText('idempotencyKey', idempotencyKey, 1, KEY_LENGTH_MAX)
  checkText('recipientProfileUrl', recipientProfileUrl, 1, URL_LENGTH_MAX)
  const isWeb = URL.canParse(recipientProfileUrl) && /^https?:$/.test(new URL(recipientProfileUrl).protocol)
  if (!isWeb) throw validationError([{ path: 'recipientProfileUrl', message: 'must be the https:// URL of a profile' }])
}

function checkText(path: string, text: string, min: number, max: number): void {
  if (!hasFewerCharacters(text, min) && !hasMoreCharacters(text, max) && isStorableText(text)) return
  throw validationError([{ path, message: `must be a string of ${min} to ${max} characters` }])
}
