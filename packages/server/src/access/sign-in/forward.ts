import type { FastifyReply, FastifyRequest } from 'fastify'
import type { Config } from '../../config.ts'
import { ServiceError } from '../../platform/errors.ts'
import { cookiesOf } from '../sessions.ts'
import { type Auth, CLIENT_IP_HEADER, publicOrigin } from './auth.ts'

export interface ForwardDependencies {
  config: Pick<Config, 'publicUrl'>
  auth: () => Promise<Auth>
}

const FOREIGN_KEY_VIOLATION = '23503'

/** An endpoint of the library, without its prefix `/api/auth`, and the body to send. */
export interface Endpoint {
  method: 'GET' | 'POST'
  path: string
  body?: object
}

const USER_AGENT_LENGTH_MAX = 500

/**
 * Calls the sign-in library for a request that has passed our own checks, and returns its cookies, body or redirect to
 * the caller. From the request, the library receives only the cookies, the user agent and the address.
 * @throws ServiceError with the library's code in lower case if it rejects the request.
 */
export async function forward(
  { config, auth }: ForwardDependencies,
  request: FastifyRequest,
  reply: FastifyReply,
  { method, path, body }: Endpoint,
): Promise<Record<string, unknown>> {
  const origin = publicOrigin(config)
  const headers = new Headers({ origin, [CLIENT_IP_HEADER]: request.ip })
  const { cookie, 'user-agent': userAgent } = request.headers
  const cookies = [...cookiesOf(cookie)].map(([name, value]) => `${name}=${encodeURIComponent(value)}`)
  if (cookies.length > 0) headers.set('cookie', cookies.join('; '))
  if (userAgent !== undefined) headers.set('user-agent', userAgent.slice(0, USER_AGENT_LENGTH_MAX))
  if (body !== undefined) headers.set('content-type', 'application/json')
  const { handle } = await auth()
  const sent = { method, headers, ...(body === undefined ? {} : { body: JSON.stringify(body) }) }
  const response = await handle(new Request(`${origin}/api/auth${path}`, sent)).catch((error) => {
    throw isAccountReplaced(error) ? accountReplaced(error) : error
  })
  const newCookies = response.headers.getSetCookie()
  if (newCookies.length > 0) reply.header('set-cookie', newCookies)
  reply.header('cache-control', 'no-store')
  const text = await response.text()
  const parsed = (text.startsWith('{') ? JSON.parse(text) : {}) as Record<string, unknown>
  const location = response.headers.get('location')
  if (response.status >= 300 && response.status < 400 && location !== null) {
    // Only the path for our own pages: the person may have used another name of the host.
    reply.code(302).header('location', location.startsWith(`${origin}/`) ? location.slice(origin.length) : location)
    return parsed
  }
  if (!response.ok) throw refusal(response.status, parsed)
  // The session's token belongs in the cookie, where no script can read it. Of the user, only the id is returned: the
  // library's address may not be the real one.
  const { token: _token, user, ...shown } = parsed
  const { id } = (user ?? {}) as { id?: unknown }
  return id === undefined ? shown : { ...shown, user_id: id }
}

/** Whether another account replaced this one during the request, because its address was verified. */
function isAccountReplaced(error: unknown): boolean {
  return (error as { code?: unknown } | null)?.code === FOREIGN_KEY_VIOLATION
}

function accountReplaced(cause: unknown): ServiceError {
  return new ServiceError(401, 'account_replaced', 'This account was replaced during the request. Sign in again.', {
    cause,
  })
}

function refusal(status: number, { code, message }: Record<string, unknown>): ServiceError {
  if (status >= 500) throw new Error(`The sign-in library responded with status ${status}: ${String(code ?? message)}`)
  const stable = typeof code === 'string' ? code.toLowerCase() : 'sign_in_refused'
  return new ServiceError(status, stable, typeof message === 'string' ? message : 'The sign-in was refused.')
}
