import type { ServerResponse } from 'node:http'
import { type Certificate, type Received, type Receiver, startReceiver } from './receiver.ts'

export const GATEWAY_TOKEN = 'gateway-token-of-this-test'

export interface Asked {
  path: string
  key: string | undefined
  // biome-ignore lint/suspicious/noExplicitAny: a test looks into bodies of every shape
  body: any
}

export interface TestGateway {
  /** The environment of the service. */
  environment: Record<string, string>
  asked: Asked[]
  /** Overrides the responses of a path, until it is deleted. */
  overrides: Map<string, (response: ServerResponse, asked: Asked) => void>
  /** The requests to one path. */
  askedOf(path: string): Asked[]
  close(): Promise<void>
}

interface GatewayLogin {
  state: string
  profile_id: string
  codes: number
}

/**
 * A gateway as docs/social-gateway.md describes it, over HTTPS. User names that start with `2fa` need a code (424242);
 * `wrong` and `locked` fail accordingly; a profile whose name contains `gone` has lost its session.
 */
export async function startGateway(certificate: Certificate): Promise<TestGateway> {
  const receiver: Receiver = await startReceiver(certificate)
  const logins = new Map<string, GatewayLogin>()
  const sent = new Map<string, string>()
  const asked: Asked[] = []
  const overrides: TestGateway['overrides'] = new Map()

  function responseTo({ path, key, body }: Asked): object | null {
    const login = logins.get(body.login_id)
    switch (path) {
      case '/v1/logins/begin': {
        if (login) return stateOf(login)
        const name = String(body.username ?? body.profile_id)
        const state = /^(wrong|locked|odd)/.exec(name)?.[1] ?? (name.startsWith('2fa') ? 'awaiting_2fa' : 'completed')
        const begun = { state, profile_id: body.profile_id ?? `profile-${name.split('@')[0]}`, codes: 0 }
        logins.set(body.login_id, begun)
        return stateOf(begun)
      }
      case '/v1/logins/status':
        return login ? stateOf(login) : null
      case '/v1/logins/code': {
        if (!login) return null
        login.codes = Math.max(login.codes, body.code_number)
        if (body.code !== '424242') return { ...stateOf(login), code_rejected: true }
        login.state = 'completed'
        return stateOf(login)
      }
      case '/v1/profiles/check':
        return { connected: !body.profile_id.includes('gone') }
      case '/v1/messages/send':
      case '/v1/invitations/send': {
        if (body.profile_id.includes('gone')) return { outcome: 'session_expired' }
        if (body.recipient_profile_url.endsWith('/nobody')) return { outcome: 'refused', reason: 'recipient_not_found' }
        if (body.recipient_profile_url.endsWith('/odd')) return { outcome: 'refused', reason: 'mercury_retrograde' }
        const id = sent.get(key ?? '') ?? `sent-${sent.size + 1}`
        sent.set(key ?? '', id)
        return { outcome: 'sent', external_id: id }
      }
      default:
        return null
    }
  }

  receiver.respond = (response: ServerResponse, { path, headers, body }: Received) => {
    if (headers.authorization !== `Bearer ${GATEWAY_TOKEN}`) {
      response.writeHead(401).end()
      return
    }
    const key = headers['idempotency-key']
    const request = {
      path: path.replace(/^\/base/, ''),
      key: key === undefined ? key : String(key),
      body: JSON.parse(String(body)),
    }
    asked.push(request)
    const override = overrides.get(request.path)
    if (override) {
      override(response, request)
      return
    }
    const result = responseTo(request)
    response.writeHead(result === null ? 404 : 200, { 'content-type': 'application/json' })
    response.end(JSON.stringify(result ?? {}))
  }
  return {
    environment: {
      CDS_SOCIAL_GATEWAY_URL: receiver.url('/base/', 'localhost'),
      CDS_SOCIAL_GATEWAY_TOKEN: GATEWAY_TOKEN,
    },
    asked,
    overrides,
    askedOf: (path) => asked.filter((each) => each.path === path),
    close: () => receiver.close(),
  }
}

function stateOf({ state, profile_id }: GatewayLogin): object {
  if (state === 'completed') return { state, profile_id }
  if (state === 'wrong') return { state: 'failed', reason: 'credentials_rejected' }
  if (state === 'locked') return { state: 'failed', reason: 'account_locked' }
  if (state === 'odd') return { state: 'failed', reason: 'a_reason_of_tomorrow' }
  return { state }
}
