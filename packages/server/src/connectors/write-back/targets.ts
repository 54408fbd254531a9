import { ServiceError, validationError } from '../../platform/errors.ts'
import type { Tenant } from '../../platform/tenant.ts'
import { connectorNamed } from '../all-connectors.ts'
import { ApiRefused, type Client, problemOf } from '../client.ts'
import type { ConnectServices } from '../connect.ts'
import { clientOfConnection } from '../connection-client.ts'
import { findConnection } from '../connections.ts'
import type { Connector, WriteBack } from '../connector.ts'
import { checkPairs } from './set.ts'
import type { WriteBackPair } from './write-back.ts'

/**
 * Refuses fields that the system lacks or does not let this sign-in write. Call it outside a transaction, because it calls the system.
 * @throws ServiceError 400 naming the fields, 400 `connection_refused` with the system's response.
 */
export async function checkTargets(
  tenant: Tenant,
  services: ConnectServices,
  connectionId: string,
  pairs: readonly WriteBackPair[],
): Promise<void> {
  if (pairs.length === 0) return
  const row = await findConnection(tenant, connectionId)
  // `setWriteBack` reports what is wrong with the connection.
  if (!row) return
  const connector = connectorNamed(row.connector)
  const { writeBack } = connector
  if (!writeBack) return
  checkPairs(connector, writeBack, pairs)
  try {
    const client = clientOfConnection(tenant, services, connector, row, new AbortController().signal)
    const missing = await missingTargets(client, writeBack, pairs)
    const message = `is not a field of contacts in ${connector.label} that can be written`
    const details = missing.map(([index]) => ({ path: `properties.${index}.target`, message }))
    if (details.length > 0) throw validationError(details)
  } catch (error) {
    const problem = problemOf(connector.label, error)
    if (problem === null) throw error
    throw new ServiceError(400, 'connection_refused', problem, { cause: error })
  }
}

/**
 * Stops writing while one of the fields cannot be written. Otherwise it would refuse every contact, and they would leave the
 * outbox without being written.
 * @throws ApiRefused
 */
export async function requireTargets(
  client: Client,
  { label }: Connector,
  writeBack: WriteBack,
  pairs: readonly WriteBackPair[],
): Promise<void> {
  const [missing] = await missingTargets(client, writeBack, pairs)
  if (!missing) return
  const message = `Contacts in ${label} have no field ${missing[1]} that can be written. Nothing is written back until they do or you choose another field.`
  throw new ApiRefused(404, message)
}

/** The targets that cannot be written, with their places in the list. */
async function missingTargets(
  client: Client,
  writeBack: WriteBack,
  pairs: readonly WriteBackPair[],
): Promise<[index: number, target: string][]> {
  const fields = await writeBack.fields(client)
  return pairs.flatMap(({ target }, index) => (fields.has(target) ? [] : [[index, target] as [number, string]]))
}
