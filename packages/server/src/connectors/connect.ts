import { isDeepStrictEqual } from 'node:util'
import Type from 'typebox'
import { parseConversationSource } from '../conversations/push-requests.ts'
import { type Actor, audit } from '../operations/audit.ts'
import { conflict, type ErrorDetail, ServiceError, validationError } from '../platform/errors.ts'
import { recordCheck } from '../platform/http/records.ts'
import { newId } from '../platform/ids.ts'
import type { JsonApi } from '../platform/outbound/json-api.ts'
import type { Tenant } from '../platform/tenant.ts'
import type { Clock } from '../platform/time.ts'
import { noteConnector } from '../sources/connectors.ts'
import { parseSourceName } from '../sources/requests.ts'
import { connectorNamed } from './all-connectors.ts'
import { ApiRefused, openClient, problemOf, type SignIn } from './client.ts'
import { type ConnectionRow, change, findConnection, lockConnection, sealedPlace } from './connections.ts'
import type { Account, Connector, Credentials, Settings } from './connector.ts'
import { startPosition } from './position.ts'
import { enteredCredentials, openSignIn, type SignInServices, type StoredSecrets } from './sign-in.ts'

const CREDENTIAL_LENGTH_MAX = 4_096
/** Credentials become headers: no spaces, no line ends. */
const CREDENTIAL = /^[\x21-\x7e]+$/
const CONNECTIONS_MAX = 50

export interface ConnectServices extends SignInServices {
  connectorApi: JsonApi
  clock: Clock
  /** For tests: where each connector's API is. */
  connectorUrls: Readonly<Record<string, string>>
}

/** The input for a connection, before its account is known. */
export interface NewConnection {
  connector: Connector
  source: string
  settings: Settings
  stored: StoredSecrets
  signIn: SignIn
  /** The first read includes changes since this time; null: everything. */
  since: Date | null
}

/** A change of a connection. */
interface ConnectionChange {
  connector: Connector
  settings: Settings
  /** null: the connection keeps its sign-in. */
  stored: StoredSecrets | null
  signIn: SignIn
}

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
 * Parses a change of the credentials, the settings or both. Without credentials, the connection keeps its sign-in and the
 * settings that only a sign-in sets, such as the URL of the account's API.
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
  // A person who may change the settings must not learn the secrets, so they go only to the hosts that they were entered for.
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

/**
 * Connects a system after it has accepted the credentials. A running service starts the first pull at once.
 * @returns the connection's id.
 * @throws ServiceError 400 `connection_refused` with the system's response, 409 `source_name_taken`,
 * `source_of_another_account`, `too_many_connections`.
 */
export async function connect(
  tenant: Tenant,
  services: ConnectServices,
  actor: Actor,
  connection: NewConnection,
  now: Date,
): Promise<string> {
  const { connector, source, settings, stored, since } = connection
  const { id: accountId, label: account } = await accountOf(services, connection)
  const connectionId = newId()
  await noteConnector(tenant, source, connector.kind, now)
  await tenant.transaction(async (tx) => {
    const { count } = await tx.db
      .selectFrom('connections')
      .select(({ fn }) => fn.countAll<number>().as('count'))
      .executeTakeFirstOrThrow()
    if (count >= CONNECTIONS_MAX) {
      const message = `A workspace can have at most ${CONNECTIONS_MAX} connections. Delete an unused one.`
      throw conflict('too_many_connections', message)
    }
    const inserted = await tx.db
      .insertInto('connections')
      .values({
        connection_id: connectionId,
        connector: connector.name,
        source,
        account,
        settings: JSON.stringify(settings),
        sealed: seal(tenant, services, connectionId, stored),
        position: JSON.stringify(startPosition(connector, since)),
        state: 'waiting',
        error: null,
        next_pull_at: now,
        created_at: now,
        updated_at: now,
      })
      .onConflict((row) => row.columns(['source']).doNothing())
      .returning('connection_id')
      .executeTakeFirst()
    if (!inserted) {
      const message = `Another connection already uses the source ${source}. Choose another source, or delete that connection.`
      throw conflict('source_name_taken', message)
    }
    await claimSource(tx, source, connector, accountId)
    const details = { connector: connector.name, source, account }
    await audit(
      tx,
      { actor, action: 'connection.created', subjectKind: 'connection', subjectId: connectionId, details },
      now,
    )
  })
  return connectionId
}

/**
 * Changes the sign-in or the settings of a connection, and starts a pull. If the settings changed, it reads from the start.
 * @throws ServiceError 404, 400 `connection_refused`, 409 `source_of_another_account`.
 */
export async function reconnect(
  tenant: Tenant,
  services: ConnectServices,
  actor: Actor,
  connectionId: string,
  connection: ConnectionChange,
  now: Date,
): Promise<void> {
  const { connector, settings, stored } = connection
  const { id: accountId, label: account } = await accountOf(services, connection)
  await tenant.transaction(async (tx) => {
    const before = await lockConnection(tx, connectionId)
    await claimSource(tx, before.source, connector, accountId)
    const isSame = isDeepStrictEqual(before.settings, settings)
    const state = before.state === 'paused' ? 'paused' : 'waiting'
    const changes = {
      settings: JSON.stringify(settings),
      account,
      ...(stored === null ? {} : { sealed: seal(tenant, services, connectionId, stored) }),
      ...(isSame ? {} : { position: JSON.stringify(startPosition(connector, null)) }),
    }
    await change(tx, connectionId, { ...changes, state, error: null, failures: 0, next_pull_at: now }, now)
    const details = { connector: connector.name, source: before.source, account }
    await audit(
      tx,
      { actor, action: 'connection.updated', subjectKind: 'connection', subjectId: connectionId, details },
      now,
    )
  })
}

/**
 * Remembers which account writes under a source's name, even after the connection is deleted, because the records that it
 * wrote keep the account's ids. Under the same name, person 1 of another account would be taken for person 1 of this one.
 * @throws ServiceError 409 `source_of_another_account`
 */
async function claimSource(
  tx: Tenant,
  source: string,
  { name: connector }: Connector,
  accountId: string,
): Promise<void> {
  await tx.db
    .insertInto('source_accounts')
    .values({ source, connector, account_id: accountId })
    .onConflict((row) => row.columns(['source']).doNothing())
    .execute()
  const known = await tx.db
    .selectFrom('source_accounts')
    .select(['connector', 'account_id'])
    .where('source', '=', source)
    .executeTakeFirstOrThrow()
  if (known.connector === connector && known.account_id === accountId) return
  const message = `The source ${source} contains data from another account, and the ids of the two accounts would mix. Connect this account under another source name.`
  throw conflict('source_of_another_account', message)
}

/** @throws ServiceError 404 */
export async function connectorOf(tenant: Tenant, connectionId: string) {
  const row = await findConnection(tenant, connectionId)
  if (!row) throw new ServiceError(404, 'not_found', 'There is no such connection.')
  return { row, connector: connectorNamed(row.connector) }
}

async function accountOf(
  { connectorApi, clock, connectorUrls }: ConnectServices,
  { connector, settings, signIn }: Pick<NewConnection, 'connector' | 'settings' | 'signIn'>,
): Promise<Account & { id: string }> {
  const signal = new AbortController().signal
  const client = openClient({
    connector,
    settings,
    signIn,
    api: connectorApi,
    clock,
    signal,
    baseUrl: connectorUrls[connector.name],
  })
  try {
    const { id, label } = await connector.account(client, settings)
    if (id === null) {
      const message = `${connector.label} did not return the id of this account. Check the permissions of the sign-in, then try again.`
      throw new ApiRefused(0, message)
    }
    return { id, label }
  } catch (error) {
    throw refusalOf(connector, error)
  }
}

function urlsOf({ baseUrl, otherUrls }: Connector, settings: Settings) {
  return [baseUrl(settings), otherUrls?.(settings)]
}

/** Turns an error of the system into 400 `connection_refused`. Returns an unexpected error unchanged. */
function refusalOf({ label }: Connector, error: unknown): unknown {
  const problem = problemOf(label, error)
  return problem === null ? error : new ServiceError(400, 'connection_refused', problem, { cause: error })
}

function seal(tenant: Tenant, { secrets }: ConnectServices, connectionId: string, stored: StoredSecrets): string {
  return secrets.seal(JSON.stringify(stored), sealedPlace(tenant.id, connectionId))
}
