import type { WriteDependencies } from '../../contacts/change-log.ts'
import type { SecretBox } from '../../platform/crypto/secret-box.ts'
import type { Logger } from '../../platform/log.ts'
import type { ApiFetch } from '../../platform/outbound/api-fetch.ts'
import type { Connector } from '../../platform/outbound/connect.ts'
import type { Tenant } from '../../platform/tenant.ts'
import type { Clock } from '../../platform/time.ts'
import type { EmailAccount } from '../email-account.ts'
import type { ComposedMail } from './compose.ts'
import type { OutgoingMail } from './outgoing.ts'

/** Records a sent mail where conversations are kept. */
export type RecordSent = (tenant: Tenant, sent: SentCopy) => Promise<unknown>

/** A sent mail with its content. */
export interface SentCopy extends Pick<ComposedMail, 'text' | 'html'> {
  account: Pick<EmailAccount, 'identityId' | 'name' | 'address'>
  mail: OutgoingMail
  sentAt: Date
}

/** What sending mail needs besides the tenant's data. */
export interface MailDependencies {
  /** Opens the passwords of mailboxes. */
  secrets: SecretBox
  /** Connects to mail servers, whose hosts users choose: it refuses private addresses. */
  connector: Connector
  /** Calls the token endpoints of OAuth2, which users choose too. */
  tokenApi: ApiFetch
  clock: Clock
  /** The service's public URL: links to unsubscribe begin with it. */
  publicUrl: string
  recordSent: RecordSent
  /** For the contacts that unsubscribe. */
  writing: WriteDependencies
  log: Logger
}
