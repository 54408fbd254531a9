import type { WriteDependencies } from '../../contacts/writing/transaction.ts'
import type { SecretBox } from '../../platform/crypto/secret-box.ts'
import type { Logger } from '../../platform/log.ts'
import type { ApiFetch } from '../../platform/outbound/api-fetch.ts'
import type { Connector } from '../../platform/outbound/connect.ts'
import type { Tenant } from '../../platform/tenant.ts'
import type { Clock } from '../../platform/time.ts'
import type { ProviderDependencies } from '../../providers/clients.ts'
import type { EmailAccount } from '../email-account.ts'
import type { ComposedMail } from './compose.ts'
import type { OutgoingMail } from './outgoing.ts'

/** Records a sent mail in its conversation. */
export type RecordSent = (tenant: Tenant, sent: SentCopy) => Promise<unknown>

/** A sent mail with its content. */
export interface SentCopy extends Pick<ComposedMail, 'text' | 'html'> {
  account: Pick<EmailAccount, 'identityId' | 'name' | 'address'>
  mail: OutgoingMail
  sentAt: Date
}

/** Services for sending mail. */
export interface MailDependencies {
  /** Decrypts the secrets of email accounts. */
  secrets: SecretBox
  /** Connects to mail servers. Users choose their hosts, so it refuses private addresses. */
  connector: Connector
  /** Calls OAuth2 token endpoints whose URLs users chose, so it refuses private addresses. */
  tokenApi: ApiFetch
  /** For accounts whose person signed in at a provider. */
  providers: ProviderDependencies
  clock: Clock
  /** The service's public URL, the base of unsubscribe links. */
  publicUrl: string
  recordSent: RecordSent
  /** Changes contacts that unsubscribe. */
  writing: WriteDependencies
  log: Logger
}
