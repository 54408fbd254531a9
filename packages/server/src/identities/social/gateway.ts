import { setTimeout as sleep } from 'node:timers/promises'
import { isObject } from '../../platform/is-object.ts'
import { type Outbound, OutboundError } from '../../platform/outbound/client.ts'
import type { Tenant } from '../../platform/tenant.ts'
import {
  LOGIN_REASONS,
  type LoginState,
  REFUSAL_REASONS,
  type SendOutcome,
  type SocialConnector,
  SocialUnavailable,
} from './connector.ts'

const ATTEMPTS_MAX = 3
const PAUSE_MS = 300
/** The network's id of a profile or message: printable, so that it can be stored and displayed. */
const EXTERNAL_ID = /^[\x21-\x7e]{1,200}$/

interface GatewayOptions {
  url: string
  token: string
  outbound: Pick<Outbound, 'post'>
}

type Json = Record<string, unknown>

/** A connector to a hosted account-connection gateway with the protocol of `docs/social-gateway.md`. */
export function createGateway({ url, token, outbound }: GatewayOptions): SocialConnector {
  const base = url.replace(/\/+$/, '')

  async function call(path: string, body: Json, key: string | null, signal?: AbortSignal): Promise<Json> {
    const headers = {
      authorization: `Bearer ${token}`,
      'content-type': 'application/json',
      accept: 'application/json',
      // Only for calls with an effect: the response to a query must not be a cached one.
      ...(key === null ? {} : { 'idempotency-key': key }),
    }
    const bytes = Buffer.from(JSON.stringify(body))
    for (let attempt = 1; ; attempt++) {
      try {
        return await exchange(path, headers, bytes, signal)
      } catch (error) {
        const shouldRetry = error instanceof SocialUnavailable && error.isTransient && attempt < ATTEMPTS_MAX
        if (!shouldRetry || signal?.aborted) throw error
        await sleep(PAUSE_MS * attempt, undefined, signal ? { signal } : {})
      }
    }
  }

  async function exchange(path: string, headers: Record<string, string>, body: Buffer, signal?: AbortSignal) {
    const response = await outbound.post(`${base}${path}`, headers, body, signal).catch((error) => {
      // The code is enough; the error's message may contain an address.
      const code = error instanceof OutboundError ? error.code : 'failed'
      throw new SocialUnavailable(`The gateway's ${path} did not respond (${code}).`, true)
    })
    const { status } = response
    if (status === 200) return parse(path, response.body)
    const isTransient = status === 408 || status === 429 || status >= 500
    throw new SocialUnavailable(`The gateway's ${path} responded with status ${status}.`, isTransient)
  }

  const login = async (
    path: string,
    tenant: Tenant,
    sessionId: string,
    more: Json,
    key: string | null,
    signal?: AbortSignal,
  ) => toLoginState(path, await call(path, { tenant_id: tenant.id, login_id: sessionId, ...more }, key, signal))

  const send = async (path: string, tenant: Tenant, profileId: string, more: Json, key: string) =>
    toOutcome(path, await call(path, { tenant_id: tenant.id, profile_id: profileId, ...more }, key))

  return {
    name: 'http',
    begin: (tenant, { sessionId, profileId, credentials, country, expiresInSeconds }, signal) => {
      const more = { profile_id: profileId, country, expires_in_seconds: expiresInSeconds, ...credentials }
      return login('/v1/logins/begin', tenant, sessionId, more, sessionId, signal)
    },
    status: (tenant, sessionId, signal) => login('/v1/logins/status', tenant, sessionId, {}, null, signal),
    submitCode: (tenant, sessionId, code, number, signal) => {
      const more = { code, code_number: number }
      return login('/v1/logins/code', tenant, sessionId, more, `${sessionId}-${number}`, signal)
    },
    check: async (tenant, profileId) => {
      const path = '/v1/profiles/check'
      const { connected } = await call(path, { tenant_id: tenant.id, profile_id: profileId }, null)
      if (typeof connected !== 'boolean') throw invalidResponse(path)
      return connected
    },
    sendMessage: (tenant, profileId, { recipientProfileUrl, message, idempotencyKey }) => {
      const more = { recipient_profile_url: recipientProfileUrl, message }
      return send('/v1/messages/send', tenant, profileId, more, `${tenant.id}-${idempotencyKey}`)
    },
    connect: (tenant, profileId, { recipientProfileUrl, note, idempotencyKey }) => {
      const more = { recipient_profile_url: recipientProfileUrl, ...(note === undefined ? {} : { note }) }
      return send('/v1/invitations/send', tenant, profileId, more, `${tenant.id}-${idempotencyKey}`)
    },
  }
}

function parse(path: string, body: Buffer): Json {
  try {
    const value: unknown = JSON.parse(body.toString())
    if (isObject(value)) return value
  } catch {
    // Handled below, like JSON of the wrong shape.
  }
  throw invalidResponse(path)
}

function toLoginState(path: string, { state, profile_id, reason, code_rejected }: Json): LoginState {
  if (state === 'running' || state === 'awaiting_email') return { state }
  if (state === 'awaiting_2fa') return { state, codeRejected: code_rejected === true }
  if (state === 'completed' && typeof profile_id === 'string' && EXTERNAL_ID.test(profile_id)) {
    return { state, profileId: profile_id }
  }
  const known = LOGIN_REASONS.find((each) => each === reason)
  // An unknown reason counts as a refusal.
  if (state === 'failed' && typeof reason === 'string') return { state, reason: known ?? 'login_refused' }
  throw invalidResponse(path)
}

function toOutcome(path: string, { outcome, external_id, reason }: Json): SendOutcome {
  if (outcome === 'sent' && typeof external_id === 'string' && EXTERNAL_ID.test(external_id)) {
    return { outcome, externalId: external_id }
  }
  if (outcome === 'session_expired') return { outcome }
  if (outcome === 'refused') {
    return { outcome, reason: REFUSAL_REASONS.find((each) => each === reason) ?? 'not_allowed' }
  }
  throw invalidResponse(path)
}

/** The message does not quote the response, which may echo the request. */
function invalidResponse(path: string): SocialUnavailable {
  return new SocialUnavailable(`The gateway's response to ${path} does not conform to docs/social-gateway.md.`, false)
}
