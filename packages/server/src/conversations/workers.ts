import type { Config } from '../config.ts'
import type { MailDependencies } from '../identities/mail/dependencies.ts'
import type { Repeated } from '../platform/every.ts'
import type { Invalidation } from '../platform/postgres/invalidation.ts'
import type { Stores } from '../platform/tenant.ts'
import { startMailboxReaders } from './mailbox/readers.ts'

/** Reads the mailboxes of identities. */
export function startConversationWorkers({
  config,
  stores,
  mail,
  invalidation,
}: {
  config: Pick<Config, 'mailFirstSyncDays' | 'mailPollSeconds' | 'mailMailboxesMax'>
  stores: Stores
  mail: MailDependencies
  invalidation: Pick<Invalidation, 'onChange'>
}): Repeated {
  const mailboxes = startMailboxReaders({
    ...mail,
    stores,
    firstSyncDays: config.mailFirstSyncDays,
    pollSeconds: config.mailPollSeconds,
    mailboxesMax: config.mailMailboxesMax,
  })
  invalidation.onChange(mailboxes.check)
  return mailboxes
}
