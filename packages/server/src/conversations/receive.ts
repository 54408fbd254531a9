import type { Config } from '../config.ts'
import type { MailDependencies } from '../identities/mail/dependencies.ts'
import type { Jobs } from '../platform/jobs/jobs.ts'
import type { JsonApi } from '../platform/outbound/json-api.ts'
import type { Stores } from '../platform/tenant.ts'
import { schedulePulls } from './intercom/schedule.ts'
import { startMailboxReaders } from './mailbox/readers.ts'

interface Dependencies {
  config: Pick<Config, 'mailFirstSyncDays' | 'mailPollSeconds' | 'mailMailboxesMax' | 'messagingPullMinutes'>
  stores: Stores
  mail: MailDependencies
  /** Calls messaging tools. */
  api: JsonApi
  jobs: Jobs
  /** For tests: the base URL of Intercom. */
  intercomUrl: string | undefined
}

/** Starts reading identities' mailboxes and pulling messaging tools. */
export async function startReceiving({ config, stores, mail, api, jobs, intercomUrl }: Dependencies) {
  const { secrets, connector, tokenApi, writing, log } = mail
  const mailboxes = startMailboxReaders({
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
    /** Call this when an account may have been set or removed. */
    checkMailboxes: mailboxes.check,
    stop: async () => {
      await pulls.stop()
      await mailboxes.stop()
    },
  }
}
