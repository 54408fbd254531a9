import type { ConnectServices } from '../connectors/connect.ts'
import { connectionPurpose } from '../connectors/connection-purpose.ts'
import type { Purposes } from '../providers/purpose.ts'

export interface PurposeDependencies {
  connecting: ConnectServices
}

/** What people sign in at providers for: each feature that uses their accounts adds its handler. */
export function createPurposes({ connecting }: PurposeDependencies): Purposes {
  return { connection: connectionPurpose(connecting) }
}
