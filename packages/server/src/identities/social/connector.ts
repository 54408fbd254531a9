import type { Tenant } from '../../platform/tenant.ts'

/** Why a network did not let somebody in. */
export const LOGIN_REASONS = ['credentials_rejected', 'code_rejected', 'account_locked', 'login_refused'] as const
export type LoginReason = (typeof LOGIN_REASONS)[number]

/** How a login stands. */
export type LoginState =
  | { state: 'running' }
  | { state: 'awaiting_2fa'; codeRejected?: boolean }
  | { state: 'awaiting_email' }
  | { state: 'completed'; profileId: string }
  | { state: 'failed'; reason: LoginReason }

export interface LoginRequest {
  /** Names the login from here on; beginning it again under the same id begins nothing new. */
  sessionId: string
  /** The profile that the identity is known to be; alone, without credentials, it asks for the stored session. */
  profileId: string | null
  credentials: { username: string; password: string } | null
  /** ISO 3166-1 alpha-2: where the login should seem to come from. */
  country: string
  /** Nobody waits for it any longer after that. */
  expiresInSeconds: number
}

/** Why a network took no message. */
export const REFUSAL_REASONS = ['recipient_not_found', 'not_connected', 'limit_reached', 'not_allowed'] as const
export type RefusalReason = (typeof REFUSAL_REASONS)[number]

export interface SocialMessage {
  recipientProfileUrl: string
  message: string
  /** What is sent twice under one key is sent once. */
  idempotencyKey: string
}

export interface SocialInvitation {
  recipientProfileUrl: string
  note?: string
  idempotencyKey: string
}

export type SendOutcome =
  | { outcome: 'sent'; externalId: string }
  | { outcome: 'session_expired' }
  | { outcome: 'refused'; reason: RefusalReason }

/** The network, or what stands between us and it, gave no answer that can be used. The message holds no secret. */
export class SocialUnavailable extends Error {
  /** Whether asking again may help: false after an answer that made no sense. */
  readonly isPassing: boolean

  constructor(message: string, isPassing: boolean, cause?: unknown) {
    super(message, { cause })
    this.name = 'SocialUnavailable'
    this.isPassing = isPassing
  }
}

/**
 * The way to a social network. Every call may be repeated, because a process may die between the call and writing
 * its answer down. All throw SocialUnavailable.
 */
export interface SocialConnector {
  name: 'sandbox' | 'http'
  begin(tenant: Tenant, request: LoginRequest, signal?: AbortSignal): Promise<LoginState>
  look(tenant: Tenant, sessionId: string, signal?: AbortSignal): Promise<LoginState>
  /** @param number counts the codes of a login from 1; a number that was tried is not tried again. */
  submitCode(tenant: Tenant, sessionId: string, code: string, number: number, signal?: AbortSignal): Promise<LoginState>
  /** Whether the stored session of a profile is still good. */
  check(tenant: Tenant, profileId: string): Promise<boolean>
  sendMessage(tenant: Tenant, profileId: string, message: SocialMessage): Promise<SendOutcome>
  connect(tenant: Tenant, profileId: string, invitation: SocialInvitation): Promise<SendOutcome>
}
