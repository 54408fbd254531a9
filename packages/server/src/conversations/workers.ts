import type { Config } from '../config.ts'
import type { MailDependencies } from '../identities/mail/dependencies.ts'
import type { Repeated } from '../platform/every.ts'
import type { Jobs } from '../platform/jobs/jobs.ts'
import type { JsonApi } from '../platform/outbound/json-api.ts'
import type { Invalidation } from '../platform/postgres/invalidation.ts'
import type { Stores } from '../platform/tenant.ts'
import { PULL_QUEUE, schedulePulls } from './intercom/schedule.ts'
import { startMailboxReaders } from './mailbox/readers.ts'

export const CONVERSATION_QUEUES = [PULL_QUEUE]

/** Reads the mailboxes of identities, and pulls messaging tools. */
export async function startConversationWorkers({
  config,
  stores,
  mail,
  messagingApi,
  jobs,
  invalidation,
  intercomUrl,
}: {
  config: Pick<Config, 'mailFirstSyncDays' | 'mailPollSeconds' | 'mailMailboxesMax' | 'messagingPullMinutes'>
  stores: Stores
  mail: MailDependencies
  messagingApi: JsonApi
  jobs: Jobs
  invalidation: Pick<Invalidation, 'onChange'>
  intercomUrl?: string | undefined
}): Promise<Repeated> {
  const { secrets, writing, log } = mail
  const mailboxes = startMailboxReaders({
    ...mail,
    stores,
    firstSyncDays: config.mailFirstSyncDays,
    pollSeconds: config.mailPollSeconds,
    mailboxesMax: config.mailMailboxesMax,
  })
  invalidation.onChange(mailboxes.check)
  const pullMinutes = config.messagingPullMinutes
  const pulls = await schedulePulls({
    stores,
    secrets,
    api: messagingApi,
    jobs,
    writing,
    pullMinutes,
    log,
    intercomUrl,
  })
  return {
    stop: async () => {
      await pulls.stop()
      await mailboxes.stop()
    },
  }
}
