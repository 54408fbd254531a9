import type { FastifyReply, FastifyRequest } from 'fastify'
import type { Config } from '../../config.ts'
import { ServiceError } from '../../platform/errors.ts'
import { OIDC_PROVIDER, SIGN_IN_PAGE } from './auth.ts'
import { type ForwardDependencies, forward } from './forward.ts'
import { codePage } from './links.ts'

type OidcDependencies = ForwardDependencies & { config: Pick<Config, 'oidc'> }

/**
 * Starts a sign-in at the OpenID provider. @param callbackURL the page to show afterwards.
 * @throws ServiceError 404 `oidc_not_configured`, 503 `oidc_unavailable`.
 */
export async function startOidcSignIn(
  dependencies: OidcDependencies,
  request: FastifyRequest,
  reply: FastifyReply,
  callbackURL: string,
): Promise<Record<string, unknown>> {
  const { label } = requireOidc(dependencies)
  if (!(await dependencies.auth()).hasOidc) {
    const message = `${label} is not responding. Try again shortly.`
    throw new ServiceError(503, 'oidc_unavailable', message, { retryAfterSeconds: 5 })
  }
  const body = { provider: OIDC_PROVIDER, callbackURL, errorCallbackURL: SIGN_IN_PAGE, disableRedirect: true }
  return forward(dependencies, request, reply, { method: 'POST', path: '/sign-in/social', body })
}

/**
 * Ends a sign-in with what the provider sent in the query, and redirects: to the page for the code if the person uses
 * two-factor authentication. The state cookie proves that this browser started the sign-in.
 * @throws ServiceError 404 `oidc_not_configured`.
 */
export async function finishOidcSignIn(
  dependencies: OidcDependencies,
  request: FastifyRequest,
  reply: FastifyReply,
): Promise<void> {
  requireOidc(dependencies)
  const at = request.url.indexOf('?')
  const path = `/callback/${OIDC_PROVIDER}${at < 0 ? '' : request.url.slice(at)}`
  const { twoFactorRedirect } = await forward(dependencies, request, reply, { method: 'GET', path })
  const target = String(reply.getHeader('location'))
  if (twoFactorRedirect === true) reply.header('location', codePage(target))
}

function requireOidc({ config: { oidc } }: OidcDependencies): NonNullable<Config['oidc']> {
  if (oidc === null) throw new ServiceError(404, 'oidc_not_configured', 'No OpenID provider is configured.')
  return oidc
}
