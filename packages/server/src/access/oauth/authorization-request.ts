import type { Config } from '../../config.ts'
import type { Scope } from '../../operations/scopes.ts'
import { ServiceError } from '../../platform/errors.ts'
import type { Database } from '../../platform/postgres/database.ts'
import { type Client, findClient, hasRedirectUri } from './clients.ts'
import { isMcpResource, issuerOf } from './metadata.ts'
import { OAuthError } from './oauth-error.ts'
import { scopesRequested } from './scopes.ts'
import { isChallenge } from './token-texts.ts'

/** What an application asks a person for. */
export interface AuthorizationRequest {
  client: Client
  redirectUri: string
  challenge: string
  scopes: Scope[]
  /** The URL that takes the person back to the application with the response. */
  responseUrl(parameters: { code: string } | { error: OAuthError }): string
}

/** A request of a known application that asks wrongly. */
export interface RefusedRequest {
  client: Client
  redirectUri: string
  error: OAuthError
  /** The URL that takes the person back with the error. Nobody goes there without a click: anyone can register one. */
  redirectTo: string
}

/**
 * Reads the query of an authorization request.
 * @throws ServiceError 400 `unknown_application` or `invalid_redirect_uri`: nobody is ever redirected to a URI that no
 * known application has registered.
 */
export async function readAuthorizationRequest(
  database: Database,
  config: Pick<Config, 'publicUrl'>,
  query: string,
): Promise<AuthorizationRequest | RefusedRequest> {
  const parameters = new URLSearchParams(query)
  const client = await findClient(database, single(parameters, 'client_id') ?? '')
  if (client === null) {
    const message =
      'This application is not registered here, or its registration has expired. Go back to it and connect again.'
    throw new ServiceError(400, 'unknown_application', message)
  }
  const redirectUri = single(parameters, 'redirect_uri')
  if (redirectUri === null || !hasRedirectUri(client, redirectUri)) {
    const message = 'The application wants to send you to an address that it has not registered. Do not continue.'
    throw new ServiceError(400, 'invalid_redirect_uri', message)
  }
  const state = single(parameters, 'state')
  const responseUrl = (given: { code: string } | { error: OAuthError }) => {
    const url = new URL(redirectUri)
    if ('code' in given) url.searchParams.set('code', given.code)
    else {
      url.searchParams.set('error', given.error.code)
      url.searchParams.set('error_description', given.error.message)
    }
    if (state !== null) url.searchParams.set('state', state)
    url.searchParams.set('iss', issuerOf(config))
    return url.href
  }
  const error = problemOf(parameters, config)
  if (error !== null) return { client, redirectUri, error, redirectTo: responseUrl({ error }) }
  const scopes = scopesRequested(single(parameters, 'scope') ?? undefined)
  return { client, redirectUri, challenge: single(parameters, 'code_challenge') ?? '', scopes, responseUrl }
}

const REPEATABLE_NOWHERE = ['response_type', 'code_challenge', 'code_challenge_method', 'scope', 'state', 'resource']

function problemOf(parameters: URLSearchParams, config: Pick<Config, 'publicUrl'>): OAuthError | null {
  const repeated = REPEATABLE_NOWHERE.find((name) => parameters.getAll(name).length > 1)
  if (repeated !== undefined) return new OAuthError('invalid_request', `${repeated} is given twice.`)
  if (parameters.get('response_type') !== 'code') {
    return new OAuthError('unsupported_response_type', 'response_type must be code.')
  }
  const challenge = parameters.get('code_challenge') ?? ''
  if (parameters.get('code_challenge_method') !== 'S256' || !isChallenge(challenge)) {
    return new OAuthError('invalid_request', 'Send a code_challenge with the code_challenge_method S256.')
  }
  const resource = parameters.get('resource')
  if (resource !== null && !isMcpResource(resource, config)) {
    return new OAuthError('invalid_target', 'resource must be the URL of this MCP server.')
  }
  return null
}

/** A parameter that is given once and not empty; otherwise null. */
function single(parameters: URLSearchParams, name: string): string | null {
  const [value = '', ...others] = parameters.getAll(name)
  return value === '' || others.length > 0 ? null : value
}
