import type { ExpressionBuilder } from 'kysely'
import { isUuid, newId } from '../../platform/ids.ts'
import { isObject } from '../../platform/is-object.ts'
import type { Database } from '../../platform/postgres/database.ts'
import type { DB } from '../../platform/postgres/generated/tables.ts'
import { isLoopback } from '../loopback.ts'
import { OAuthError } from './oauth-error.ts'

const NAME_CHARACTERS_MAX = 80
const REDIRECT_URIS_MAX = 10
const REDIRECT_URI_LENGTH_MAX = 2_000
/**
 * Applications that nobody has allowed yet, and as many whose grants have all ended. With more, the oldest are forgotten:
 * registration needs no person, and one person can allow and disconnect any number.
 */
const UNUSED_MAX = 5_000
const UNNAMED = 'Unnamed application'

/** An application. It has registered itself, so its name proves nothing. */
export interface Client {
  clientId: string
  name: string
  redirectUris: readonly string[]
}

/** Registers an application (RFC 7591). @returns its registration. @throws OAuthError */
export async function registerClient(database: Database, metadata: unknown, now: Date) {
  const { name, redirectUris } = parseMetadata(metadata)
  const clientId = newId()
  await database
    .insertInto('oauth_clients')
    .values({ client_id: clientId, name, redirect_uris: [...redirectUris], created_at: now })
    .execute()
  await forgetOldest(database)
  return {
    client_id: clientId,
    client_id_issued_at: Math.floor(now.getTime() / 1000),
    client_name: name,
    redirect_uris: redirectUris,
    token_endpoint_auth_method: 'none',
    grant_types: ['authorization_code', 'refresh_token'],
    response_types: ['code'],
  }
}

async function forgetOldest(database: Database): Promise<void> {
  await database
    .deleteFrom('oauth_clients')
    .where('client_id', 'in', (query) =>
      query
        .selectFrom('oauth_clients')
        .where('authorized_at', 'is', null)
        .select('client_id')
        .orderBy('created_at', 'desc')
        .offset(UNUSED_MAX),
    )
    .execute()
  await database
    .deleteFrom('oauth_clients')
    .where('client_id', 'in', (query) =>
      query
        .selectFrom('oauth_clients')
        .where('authorized_at', 'is not', null)
        .where(hasNoGrant)
        .select('client_id')
        .orderBy('authorized_at', 'desc')
        .offset(UNUSED_MAX),
    )
    .execute()
}

/** Whether no person's grant of an application is left. */
export function hasNoGrant({ not, exists, selectFrom }: ExpressionBuilder<DB, 'oauth_clients'>) {
  const ofClient = selectFrom('oauth_grants').whereRef('oauth_grants.client_id', '=', 'oauth_clients.client_id')
  return not(exists(ofClient.select('grant_id')))
}

export async function findClient(database: Database, clientId: string): Promise<Client | null> {
  if (!isUuid(clientId)) return null
  const row = await database
    .selectFrom('oauth_clients')
    .select(['client_id', 'name', 'redirect_uris'])
    .where('client_id', '=', clientId)
    .executeTakeFirst()
  return row ? { clientId: row.client_id, name: row.name, redirectUris: row.redirect_uris } : null
}

/** Whether a redirect URI is one of the client's. On this machine, the port may differ (RFC 8252, section 7.3). */
export function hasRedirectUri({ redirectUris }: Pick<Client, 'redirectUris'>, uri: string): boolean {
  return redirectUris.some((registered) => registered === uri || withoutLocalPort(registered) === withoutLocalPort(uri))
}

/** The URI without its port if it is on this machine; otherwise the URI. */
function withoutLocalPort(uri: string): string {
  if (!isRedirectUri(uri) || !isOnThisMachine(uri)) return uri
  return uri.replace(/^(http:\/\/(?:\[[^\]]*\]|[^/:?]+)):\d+/, '$1')
}

/** What a person is shown of a redirect URI: its host, or the scheme of an installed application. */
export function displayedHost(uri: string): string {
  const { protocol, host } = new URL(uri)
  return protocol === 'https:' || protocol === 'http:' ? host : protocol
}

/** Whether a redirect URI leads to a program on the person's own machine. */
export function isOnThisMachine(uri: string): boolean {
  return uri.startsWith('http:') && isLoopback(uri)
}

function parseMetadata(metadata: unknown): { name: string; redirectUris: string[] } {
  if (!isObject(metadata)) {
    throw new OAuthError('invalid_client_metadata', 'Send the metadata of the client as a JSON object.')
  }
  const { client_name: name, redirect_uris: uris } = metadata as { client_name?: unknown; redirect_uris?: unknown }
  if (name !== undefined && typeof name !== 'string') {
    throw new OAuthError('invalid_client_metadata', 'client_name must be a text.')
  }
  if (!Array.isArray(uris) || uris.length === 0 || uris.length > REDIRECT_URIS_MAX) {
    throw new OAuthError('invalid_redirect_uri', `redirect_uris must have 1 to ${REDIRECT_URIS_MAX} URIs.`)
  }
  return { name: displayedName(name ?? ''), redirectUris: uris.map(requireRedirectUri) }
}

/** The name without characters that could make a page show something else, such as a change of direction. */
function displayedName(name: string): string {
  const shown = [...name.replace(/\p{C}/gu, ' ').replace(/\s+/g, ' ').trim()].slice(0, NAME_CHARACTERS_MAX).join('')
  return shown.trim() || UNNAMED
}

function requireRedirectUri(uri: unknown): string {
  if (typeof uri === 'string' && isRedirectUri(uri)) return uri
  const schemes = `a scheme of your own in reverse-domain form, such as com.example.app, or one of ${[...KNOWN_SCHEMES].join(', ')}`
  const forms = `https, http on localhost, 127.0.0.1 or [::1], ${schemes}`
  const message = `A redirect URI must use ${forms}. It must not have a user, a fragment, a backslash, or a * in its host.`
  throw new OAuthError('invalid_redirect_uri', message)
}

/**
 * The schemes of known MCP clients, which are not the reverse domains that RFC 8252 asks for. Cursor registers grokbot
 * too.
 */
const KNOWN_SCHEMES: ReadonlySet<string> = new Set([
  'claude',
  'code-oss',
  'cursor',
  'goose',
  'grokbot',
  'kiro',
  'raycast',
  'trae',
  'vscode',
  'vscode-insiders',
  'vscodium',
  'warp',
  'windsurf',
  'zed',
])

/**
 * A reverse domain (RFC 8252, section 7.1), which belongs to whoever owns the domain. Any other scheme may be handled
 * by the browser or the system, such as `javascript` and `ms-settings`, or by a program that would show or run what it
 * gets.
 */
const REVERSE_DOMAIN = /^[a-z][a-z0-9]*(\.[a-z0-9-]+)+$/

function isRedirectUri(uri: string): boolean {
  if (uri.length > REDIRECT_URI_LENGTH_MAX || !/^[\x21-\x7e]+$/.test(uri) || /[#\\]/.test(uri)) return false
  if (!URL.canParse(uri)) return false
  const { protocol, host } = new URL(uri)
  // `URL` drops an empty user, so the text itself is searched.
  const [, authority = ''] = /^[^:]*:\/\/([^/?]*)/.exec(uri) ?? []
  if (authority.includes('@') || host.includes('*') || /%2a/i.test(authority)) return false
  if (protocol === 'https:') return uri.startsWith('https://') && authority !== ''
  if (protocol === 'http:') return uri.startsWith('http://') && authority !== '' && isLoopback(uri)
  const scheme = protocol.slice(0, -1)
  return KNOWN_SCHEMES.has(scheme) || REVERSE_DOMAIN.test(scheme)
}
