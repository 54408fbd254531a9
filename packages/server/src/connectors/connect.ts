import { isDeepStrictEqual } from 'node:util'
import { conflict, ServiceError } from '../platform/errors.ts'
import { newId } from '../platform/ids.ts'
import { requireFewer } from '../platform/limits.ts'
import type { JsonApi } from '../platform/outbound/json-api.ts'
import type { Tenant } from '../platform/tenant.ts'
import type { Clock } from '../platform/time.ts'
import type { Timer } from '../platform/timer.ts'
import { noteConnector } from '../sources/connectors.ts'
import { connectorNamed } from './all-connectors.ts'
import { ApiRefused, problemOf } from './client.ts'
import { change, findConnection, lockConnection, sealedPlace } from './connections.ts'
import type { Account, Connector, Settings } from './connector.ts'
import { openClient, type SignIn } from './open-client.ts'
import { startPosition } from './position.ts'
import type { SignInServices, StoredSecrets } from './sign-in.ts'

const CONNECTIONS_MAX = 50

export interface ConnectServices extends SignInServices {
  connectorApi: JsonApi
  clock: Clock
  timer: Timer
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
export interface ConnectionChange {
  connector: Connector
  settings: Settings
  /** null: the connection keeps its sign-in. */
  stored: StoredSecrets | null
  signIn: SignIn
}

/** A connection whose account is known, because its system has accepted the credentials. */
type Opened<Connection> = Connection & { account: Account & { id: string } }

/**
 * Asks a system for the account of a new connection, and registers its source.
 * @throws ServiceError 400 `connection_refused` with the system's response, 409 `source_name_taken`.
 */
export async function openConnection(
  tenant: Tenant,
  services: ConnectServices,
  connection: NewConnection,
  now: Date,
): Promise<Opened<NewConnection>> {
  const account = await accountOf(services, connection)
  // Outside the transaction of the connection; otherwise, all writes of the source would wait for this row.
  await noteConnector(tenant, connection.source, connection.connector.kind, now)
  return { ...connection, account }
}

/**
 * Stores a new connection, in the caller's transaction. A running service starts the first pull at once.
 * @returns the connection's id.
 * @throws ServiceError 409 `source_name_taken`, `source_of_another_account`, `too_many_connections`.
 */
export async function connect(
  tx: Tenant,
  services: ConnectServices,
  connection: Opened<NewConnection>,
  now: Date,
): Promise<string> {
  const { connector, source, settings, stored, since, account } = connection
  const connectionId = newId()
  const all = tx.db.selectFrom('connections').select(({ fn }) => fn.countAll<number>().as('count'))
  const tooMany = `A workspace can have at most ${CONNECTIONS_MAX} connections. Delete an unused one.`
  await requireFewer(tx, 'connections', CONNECTIONS_MAX, () => all.executeTakeFirstOrThrow(), tooMany)
  const inserted = await tx.db
    .insertInto('connections')
    .values({
      connection_id: connectionId,
      connector: connector.name,
      source,
      account: account.label,
      settings: JSON.stringify(settings),
      sealed: seal(tx, services, connectionId, stored),
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
  await bindSource(tx, source, connector, account.id)
  return connectionId
}

/** Asks a system for the account of a changed connection. @throws ServiceError 400 `connection_refused`. */
export async function openChange(
  services: ConnectServices,
  connection: ConnectionChange,
): Promise<Opened<ConnectionChange>> {
  return { ...connection, account: await accountOf(services, connection) }
}

/**
 * Changes the sign-in or the settings of a connection, in the caller's transaction, and starts a pull. If the settings
 * changed, the pull reads from the start.
 * @throws ServiceError 404, 409 `source_of_another_account`.
 */
export async function reconnect(
  tx: Tenant,
  services: ConnectServices,
  connectionId: string,
  { connector, settings, stored, account }: Opened<ConnectionChange>,
  now: Date,
): Promise<void> {
  const before = await lockConnection(tx, connectionId)
  await bindSource(tx, before.source, connector, account.id)
  const isSame = isDeepStrictEqual(before.settings, settings)
  const state = before.state === 'paused' ? 'paused' : 'waiting'
  const changes = {
    settings: JSON.stringify(settings),
    account: account.label,
    ...(stored === null ? {} : { sealed: seal(tx, services, connectionId, stored) }),
    ...(isSame ? {} : { position: JSON.stringify(startPosition(connector, null)) }),
  }
  await change(tx, connectionId, { ...changes, state, error: null, failures: 0, next_pull_at: now }, now)
}

/**
 * Binds a source to the account that writes under its name, even after the connection is deleted, because the records that it
 * wrote keep the account's ids. Under the same name, person 1 of another account would be taken for person 1 of this one.
 * @throws ServiceError 409 `source_of_another_account`
 */
async function bindSource(
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
  { connectorApi, clock, timer, connectorUrls }: ConnectServices,
  { connector, settings, signIn }: Pick<NewConnection, 'connector' | 'settings' | 'signIn'>,
): Promise<Account & { id: string }> {
  const signal = new AbortController().signal
  const client = openClient({
    connector,
    settings,
    signIn,
    api: connectorApi,
    clock,
    timer,
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

/** Turns an error of the system into 400 `connection_refused`. Returns an unexpected error unchanged. */
export function refusalOf({ label }: Connector, error: unknown): unknown {
  const problem = problemOf(label, error)
  return problem === null ? error : new ServiceError(400, 'connection_refused', problem, { cause: error })
}

function seal(tenant: Tenant, { secrets }: ConnectServices, connectionId: string, stored: StoredSecrets): string {
  return secrets.seal(JSON.stringify(stored), sealedPlace(tenant.id, connectionId))
}
