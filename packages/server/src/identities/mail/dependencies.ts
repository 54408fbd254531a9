import type { WriteDependencies } from '../../contacts/change-log.ts'
import type { SecretBox } from '../../platform/crypto/secret-box.ts'
import type { Logger } from '../../platform/log.ts'
import type { ApiFetch } from '../../platform/outbound/api-fetch.ts'
import type { Connector } from '../../platform/outbound/connect.ts'
import type { Clock } from '../../platform/time.ts'

/** What everything that has to do with mail needs beside the tenant's data. */
export interface MailDependencies {
  /** Opens the passwords of mailboxes. */
  secrets: SecretBox
  /** The guarded way to mail servers, whose hosts users name. */
  connector: Connector
  /** The guarded way to the token endpoints of OAuth2, which users name too. */
  tokenApi: ApiFetch
  clock: Clock
  /** Where the outside world reaches the service: links to unsubscribe begin with it. */
  publicUrl: string
  /** For the messages and contacts that mail changes. */
  writing: WriteDependencies
  log: Logger
}
