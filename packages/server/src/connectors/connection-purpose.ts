import { audit } from '../operations/audit.ts'
import { validationError } from '../platform/errors.ts'
import { TIMESTAMP_FORM } from '../platform/http/query-parameters.ts'
import { pathId } from '../platform/http/responses.ts'
import type { Tenant } from '../platform/tenant.ts'
import { parseTimestamp } from '../platform/time.ts'
import type { Authorized, Purpose, PurposeHandler } from '../providers/purpose.ts'
import { type ConnectServices, connect, connectorOf, openChange, openConnection, reconnect } from './connect.ts'
import { connectionEntry } from './connection-object.ts'
import { readConnection } from './connections.ts'
import type { Connector, Settings } from './connector.ts'
import { parseConnection, parseSettings } from './parse-connection.ts'
import { enteredCredentials } from './sign-in.ts'

/**
 * Connects a system through a sign-in at its provider. The purpose contains `connector`, the connector's settings, `source` if
 * it differs from the connector's name, and `read_since` if not everything is read. To sign in again, it contains
 * `connection_id` instead.
 */
export function connectionPurpose(services: ConnectServices): PurposeHandler {
  return {
    requestOf: async ({ tenant }, provider, purpose) => {
      const { connector, settings } = purpose.connection_id
        ? await known(tenant, purpose.connection_id)
        : fromPurpose(purpose)
      const { oauth } = connector
      if (oauth?.provider !== provider) {
        throw validationError([{ path: 'provider', message: `is not the provider for ${connector.label}` }])
      }
      return { scopes: oauth.scopes, settings: textsOf(settings) }
    },
    complete: async ({ tenant, actor, now }, purpose, authorized) => {
      const store = async (action: string, change: (tx: Tenant) => Promise<string>) =>
        tenant.transaction(async (tx) => {
          const connection = await readConnection(tx, await change(tx))
          const entry = connectionEntry(action, connection, { account: connection.account })
          await audit(tx, { actor, ...entry }, now)
          return { path: `/connections/${connection.connection_id}` }
        })
      if (purpose.connection_id) {
        const { connector, settings: before, connectionId } = await known(tenant, purpose.connection_id)
        const connection = {
          connector,
          settings: settingsAfter(connector, before, authorized),
          ...signInOf(authorized),
        }
        const opened = await openChange(services, connection)
        return store('connection.updated', async (tx) => {
          await reconnect(tx, services, connectionId, opened, now)
          return connectionId
        })
      }
      const { connector, source, settings: sent, since } = fromPurpose(purpose)
      const settings = settingsAfter(connector, sent, authorized)
      const connection = { connector, source, settings, ...signInOf(authorized), since }
      const opened = await openConnection(tenant, services, connection, now)
      return store('connection.created', (tx) => connect(tx, services, opened, now))
    },
  }
}

async function known(tenant: Parameters<typeof connectorOf>[0], id: string) {
  const connectionId = pathId(id, 'connection')
  const { row, connector } = await connectorOf(tenant, connectionId)
  return { connectionId, connector, settings: row.settings as Settings }
}

/** @throws ServiceError 404 `unknown_connector`, 400 without a connector or for other fields. */
function fromPurpose({ kind: _, connector, source, read_since: sinceSent, ...settings }: Purpose) {
  if (connector === undefined) {
    throw validationError([{ path: 'purpose.connector', message: 'is required for a connection' }])
  }
  const since = sinceSent === undefined ? null : parseTimestamp(sinceSent)
  if (sinceSent !== undefined && since === null)
    throw validationError([{ path: 'purpose.read_since', message: `must be ${TIMESTAMP_FORM}` }])
  return { ...parseConnection(connector, source, settings), since }
}

/** Adds the settings from the provider's response. @throws ServiceError 400 */
function settingsAfter(connector: Connector, sent: Settings, { response }: Authorized): Settings {
  if (!connector.settingsOfResponse) return sent
  return parseSettings(connector, { ...sent, ...connector.settingsOfResponse(response) })
}

function signInOf({ provider, tokens, settings }: Authorized) {
  return {
    stored: { kind: 'oauth', provider, tokens, providerSettings: settings } as const,
    signIn: enteredCredentials({ access_token: tokens.accessToken }),
  }
}

function textsOf(settings: Settings): Record<string, string> {
  return Object.fromEntries(
    Object.entries(settings).flatMap(([name, value]) => (typeof value === 'string' ? [[name, value]] : [])),
  )
}
