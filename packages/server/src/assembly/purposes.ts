import type { ConnectServices } from '../connectors/connect.ts'
import { connectionPurpose } from '../connectors/connection-purpose.ts'
import type { LoginDependencies } from '../identities/email-accounts.ts'
import { type MailServersOfProvider, mailboxPurpose } from '../identities/mailbox-purpose.ts'
import type { Purposes } from '../providers/purpose.ts'

export interface PurposeDependencies {
  mail: LoginDependencies
  connecting: ConnectServices
  /** Mail servers in place of those of providers, by name; for tests. */
  mailServers?: Readonly<Record<string, MailServersOfProvider>> | undefined
}

/** What people sign in at providers for: each feature that uses their accounts adds its handler. */
export function createPurposes({ mail, connecting, mailServers }: PurposeDependencies): Purposes {
  return { mailbox: mailboxPurpose(mail, mailServers), connection: connectionPurpose(connecting) }
}
