import { isDeepStrictEqual } from 'node:util'
import Type from 'typebox'
import { parseConversationSource } from '../conversations/push-requests.ts'
import { type ErrorDetail, validationError } from '../platform/errors.ts'
import { recordCheck } from '../platform/http/records.ts'
import type { Tenant } from '../platform/tenant.ts'
import { parseSourceName } from '../sources/requests.ts'
import { connectorNamed } from './all-connectors.ts'
import { type ConnectionChange, type ConnectServices, type NewConnection, refusalOf } from './connect.ts'
import type { ConnectionRow } from './connections.ts'
import type { Connector, Credentials, Settings } from './connector.ts'
import { enteredCredentials, openSignIn } from './sign-in.ts'

const CREDENTIAL_LENGTH_MAX = 4_096
/** Credentials become headers: no spaces, no line ends. */
const CREDENTIAL = /^[\x21-\x7e]+$/

/** @throws ServiceError 404 `unknown_connector`, 400 for settings or a name that are not valid. */
export function parseConnection(name: string, source: string | undefined, settings: Record<string, unknown>) {
  const connector = connectorNamed(name)
  const parseName = connector.kind === 'messaging' ? parseConversationSource : parseSourceName
  return { connector, source: parseName(source ?? connector.name), settings: parseSettings(connector, settings) }
}

/** @throws ServiceError 400 */
export function parseSettings(connector: Connector, settings: Record<string, unknown>): Settings {
  const check = recordCheck(Type.Object(connector.settings, { additionalProperties: false }))
  const details = check(settings).map(({ path, message }) => ({
    path: path === 'the record' ? 'settings' : `settings.${path}`,
    message,
  }))
  if (details.length > 0) throw validationError(details)
  connector.baseUrl(settings as Settings)
  return settings as Settings
}

/** @throws ServiceError 400 */
export function parseCredentials(
  { label, credentials: fields }: Connector,
  sent: Record<string, unknown>,
): Credentials {
  const names = Object.keys(fields)
  const details: ErrorDetail[] = Object.keys(sent)
    .filter((name) => !names.includes(name))
    .map((name) => ({ path: `credentials.${name}`, message: `is not a credential of ${label}` }))
  const values = names.map((name) => {
    const value = sent[name]
    const text = typeof value === 'string' ? value.trim() : ''
    const isValid = CREDENTIAL.test(text) && text.length <= CREDENTIAL_LENGTH_MAX
    const message = `must be 1 to ${CREDENTIAL_LENGTH_MAX} printable characters without spaces`
    if (!isValid) details.push({ path: `credentials.${name}`, message })
    return [name, text] as const
  })
  if (names.length === 0) {
    details.push({ path: 'credentials', message: `are not accepted. Sign in at ${label} with POST /v1/authorizations` })
  }
  if (details.length > 0) throw validationError(details)
  return Object.fromEntries(values)
}

export function entered(credentials: Credentials): Pick<NewConnection, 'stored' | 'signIn'> {
  return { stored: { kind: 'entered', credentials }, signIn: enteredCredentials(credentials) }
}

/**
 * What a person changes: the credentials, the settings or both. Without credentials, the connection keeps its sign-in, and
 * the settings that only a sign-in sets, such as the URL of the account's API.
 * @throws ServiceError 400 for values that are not valid, 400 `connection_refused` if the kept sign-in cannot be used.
 */
export function parseChange(
  tenant: Tenant,
  services: ConnectServices,
  { row, connector }: { row: ConnectionRow; connector: Connector },
  sent: { credentials?: Record<string, unknown> | undefined; settings?: Record<string, unknown> | undefined },
): ConnectionChange {
  const before = row.settings as Record<string, unknown>
  const settings = sent.settings ?? before
  if (sent.credentials) {
    return {
      connector,
      settings: parseSettings(connector, settings),
      ...entered(parseCredentials(connector, sent.credentials)),
    }
  }
  const isOfSignIn = (name: string) => (connector.settings[name] as { readOnly?: boolean } | undefined)?.readOnly
  const kept = Object.fromEntries(Object.entries(before).filter(([name]) => isOfSignIn(name)))
  const parsed = parseSettings(connector, { ...settings, ...kept })
  // Whoever may change the settings may not learn the secrets, so these go only to the hosts that they were given for.
  if (!isDeepStrictEqual(urlsOf(connector, parsed), urlsOf(connector, row.settings as Settings))) {
    const message = 'are required, because these settings change the host that they are sent to'
    throw validationError([{ path: 'credentials', message }])
  }
  try {
    return { connector, settings: parsed, stored: null, signIn: openSignIn(tenant, services, connector, row) }
  } catch (error) {
    throw refusalOf(connector, error)
  }
}

function urlsOf({ baseUrl, otherUrls }: Connector, settings: Settings) {
  return [baseUrl(settings), otherUrls?.(settings)]
}
