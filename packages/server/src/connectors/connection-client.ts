import type { JsonApi } from '../platform/outbound/json-api.ts'
import type { Tenant } from '../platform/tenant.ts'
import type { Clock } from '../platform/time.ts'
import type { Timer } from '../platform/timer.ts'
import type { Client } from './client.ts'
import type { ConnectionRow } from './connections.ts'
import type { Connector, Settings } from './connector.ts'
import { openClient } from './open-client.ts'
import { openSignIn, type SignInServices } from './sign-in.ts'

/** What calling a connected system needs. */
interface CallServices extends SignInServices {
  /** Calls the APIs of connected systems. */
  connectorApi: JsonApi
  clock: Clock
  timer: Timer
  /** For tests: where each connector's API is. */
  connectorUrls: Readonly<Record<string, string>>
}

/** Opens the API of a stored connection. @throws SignedOut if its secrets cannot be decrypted. */
export function clientOfConnection(
  tenant: Tenant,
  services: CallServices,
  connector: Connector,
  connection: ConnectionRow,
  signal: AbortSignal,
): Client {
  return openClient({
    connector,
    settings: connection.settings as Settings,
    signIn: openSignIn(tenant, services, connector, connection),
    api: services.connectorApi,
    clock: services.clock,
    timer: services.timer,
    signal,
    baseUrl: services.connectorUrls[connector.name],
  })
}
