import type { Config } from '../config.ts'
import type { MailDependencies } from '../identities/mail/dependencies.ts'
import type { Jobs } from '../platform/jobs/jobs.ts'
import type { JsonApi } from '../platform/outbound/json-api.ts'
import type { Stores } from '../platform/tenant.ts'
import { schedulePulls } from './intercom/schedule.ts'
import { keepMailboxes } from './mailbox/keep-mailboxes.ts'

interface Dependencies {
  config: Pick<Config, 'mailFirstSyncDays' | 'mailPollSeconds' | 'mailMailboxesMax' | 'messagingPullMinutes'>
  stores: Stores
  mail: MailDependencies
  /** The way to messaging tools. */
  api: JsonApi
  jobs: Jobs
  /** For tests: where Intercom is. */
  intercomUrl: string | undefined
}

/** Starts what brings conversations in: the mailboxes of identities, and the pulls of messaging tools. */
export async function startReceiving({ config, stores, mail, api, jobs, intercomUrl }: Dependencies) {
  const { secrets, connector, tokenApi, writing, log } = mail
  const mailboxes = keepMailboxes({
    stores,
    secrets,
    connector,
    tokenApi,
    writing,
    firstSyncDays: config.mailFirstSyncDays,
    pollSeconds: config.mailPollSeconds,
    mailboxesMax: config.mailMailboxesMax,
    log,
  })
  const pulls = await schedulePulls({
    stores,
    secrets,
    api,
    jobs,
    writing,
    pullMinutes: config.messagingPullMinutes,
    log,
    ...(intercomUrl === undefined ? {} : { intercomUrl }),
  })
  return {
    /** To be called when an account may have been set or removed. */
    look: mailboxes.look,
    stop: async () => {
      await pulls.stop()
      await mailboxes.stop()
    },
  }
}
