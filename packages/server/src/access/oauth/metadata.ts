import type { Config } from '../../config.ts'
import { GRANTABLE_SCOPES, READING_SCOPES } from './scopes.ts'

type Address = Pick<Config, 'publicUrl'>

export const RESOURCE_METADATA_PATH = '/.well-known/oauth-protected-resource'
export const SERVER_METADATA_PATH = '/.well-known/oauth-authorization-server'
export const REGISTER_PATH = '/oauth/register'
/** A page of the dashboard. */
export const AUTHORIZE_PATH = '/oauth/authorize'
export const TOKEN_PATH = '/oauth/token'
export const REVOKE_PATH = '/oauth/revoke'

/** The identifier of the MCP server as a resource (RFC 8707). */
export function mcpResource({ publicUrl }: Address): string {
  return `${publicUrl}/mcp`
}

/** Whether a `resource` parameter means the MCP server. */
export function isMcpResource(resource: string, config: Address): boolean {
  const normal = (url: string) => new URL(url).href.replace(/\/+$/, '')
  return URL.canParse(resource) && normal(resource) === normal(mcpResource(config))
}

/** The identifier of this service as an authorization server (RFC 8414). */
export function issuerOf({ publicUrl }: Address): string {
  return publicUrl
}

/** Describes the MCP server to clients (RFC 9728). */
export function resourceMetadata(config: Address) {
  return {
    resource: mcpResource(config),
    authorization_servers: [issuerOf(config)],
    scopes_supported: READING_SCOPES,
    bearer_methods_supported: ['header'],
    resource_name: 'Customer Data Service',
    resource_documentation: `${config.publicUrl}/docs`,
  }
}

/** Describes the authorization server to clients (RFC 8414). */
export function serverMetadata(config: Address) {
  const at = (path: string) => `${config.publicUrl}${path}`
  return {
    issuer: issuerOf(config),
    authorization_endpoint: at(AUTHORIZE_PATH),
    token_endpoint: at(TOKEN_PATH),
    registration_endpoint: at(REGISTER_PATH),
    revocation_endpoint: at(REVOKE_PATH),
    scopes_supported: GRANTABLE_SCOPES,
    response_types_supported: ['code'],
    response_modes_supported: ['query'],
    grant_types_supported: ['authorization_code', 'refresh_token'],
    token_endpoint_auth_methods_supported: ['none'],
    revocation_endpoint_auth_methods_supported: ['none'],
    code_challenge_methods_supported: ['S256'],
    authorization_response_iss_parameter_supported: true,
  }
}

/** The WWW-Authenticate header that leads a client without a token to the metadata. @param error of RFC 6750 */
export function challenge({ publicUrl }: Address, error?: 'invalid_token'): string {
  const metadata = `resource_metadata="${publicUrl}${RESOURCE_METADATA_PATH}/mcp"`
  return `Bearer ${metadata}, scope="${READING_SCOPES.join(' ')}"${error === undefined ? '' : `, error="${error}"`}`
}
