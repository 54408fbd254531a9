import type { Tenant } from '../../platform/tenant.ts'

/** Why a network rejected a login. */
export const LOGIN_REASONS = ['credentials_rejected', 'code_rejected', 'account_locked', 'login_refused'] as const
export type LoginReason = (typeof LOGIN_REASONS)[number]

/** The state of a login at the network. */
export type LoginState =
  | { state: 'running' }
  | { state: 'awaiting_2fa'; codeRejected?: boolean }
  | { state: 'awaiting_email' }
  | { state: 'completed'; profileId: string }
  | { state: 'failed'; reason: LoginReason }

export interface LoginRequest {
  /** Identifies the login in later calls. Beginning it again with the same id has no effect. */
  sessionId: string
  /** The identity's stored profile. Without credentials, the network's stored session is used. */
  profileId: string | null
  credentials: { username: string; password: string } | null
  /** ISO 3166-1 alpha-2: where the login should appear to come from. */
  country: string
  /** The login fails after this time. */
  expiresInSeconds: number
}

/** Why a network refused a message or an invitation. */
export const REFUSAL_REASONS = ['recipient_not_found', 'not_connected', 'limit_reached', 'not_allowed'] as const
export type RefusalReason = (typeof REFUSAL_REASONS)[number]

export interface SocialMessage {
  recipientProfileUrl: string
  message: string
  /** Messages with the same key are sent once. */
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

/** The network or the gateway gave no usable response. The message contains no secret. */
export class SocialUnavailable extends Error {
  /** Whether a retry may help: false after an invalid response. */
  readonly isTransient: boolean

  constructor(message: string, isTransient: boolean, cause?: unknown) {
    super(message, { cause })
    this.name = 'SocialUnavailable'
    this.isTransient = isTransient
  }
}

/**
 * A connection to a social network. Every call must be repeatable, because a process may die before it stores the
 * response. All calls throw SocialUnavailable.
 */
export interface SocialConnector {
  name: 'sandbox' | 'http'
  begin(tenant: Tenant, request: LoginRequest, signal?: AbortSignal): Promise<LoginState>
  status(tenant: Tenant, sessionId: string, signal?: AbortSignal): Promise<LoginState>
  /** @param number the ordinal of the code, from 1. A repeated number has no effect. */
  submitCode(tenant: Tenant, sessionId: string, code: string, number: number, signal?: AbortSignal): Promise<LoginState>
  /** Whether the stored session of a profile is still valid. */
  check(tenant: Tenant, profileId: string): Promise<boolean>
  sendMessage(tenant: Tenant, profileId: string, message: SocialMessage): Promise<SendOutcome>
  connect(tenant: Tenant, profileId: string, invitation: SocialInvitation): Promise<SendOutcome>
}
