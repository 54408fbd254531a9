import type { WriteDependencies } from '../../contacts/writing/transaction.ts'
import { openEmailAccount } from '../../identities/email-accounts.ts'
import { serverError } from '../../identities/mail/server-error.ts'
import type { SecretBox } from '../../platform/crypto/secret-box.ts'
import { every } from '../../platform/every.ts'
import { newId } from '../../platform/ids.ts'
import type { Logger } from '../../platform/log.ts'
import type { ApiFetch } from '../../platform/outbound/api-fetch.ts'
import type { Connector } from '../../platform/outbound/connect.ts'
import { mayBeLost } from '../../platform/postgres/lease.ts'
import { openTenant, type Stores } from '../../platform/tenant.ts'
import type { ProviderDependencies } from '../../providers/clients.ts'
import { TokenRefused } from '../../providers/token-request.ts'
import {
  type ClaimedMailbox,
  claimMailboxes,
  mailboxesOverShare,
  noteState,
  releaseAfterFailure,
  releaseMailbox,
  renewMailboxes,
  syncWithAccounts,
} from './claim.ts'
import { watchMailbox } from './watch-mailbox.ts'

/** Changes of accounts are announced. The interval is for mailboxes that become free or due. */
const EVERY_MS = 5_000
const FIRST_DELAY_SECONDS = 5
/** Providers lock accounts after too many logins with a wrong password. */
const FIRST_DELAY_AFTER_REJECTED_LOGIN_SECONDS = 60

export interface MailboxReaders {
  /** Checks for mailboxes that were set, changed or removed. */
  check(): void
  stop(): Promise<void>
}

interface Watch {
  claimed: ClaimedMailbox
  stopping: AbortController
  done: Promise<void>
}

/**
 * Reads the mailboxes of all identities. Each mailbox is claimed by one process at a time, which renews its claim; the
 * claims of a dead process expire. A mailbox that fails is released and retried later. If there are more mailboxes than
 * the process may read, it divides its capacity among the tenants.
 */
export function startMailboxReaders(dependencies: {
  stores: Stores
  secrets: SecretBox
  connector: Connector
  tokenApi: ApiFetch
  providers: ProviderDependencies
  writing: WriteDependencies
  firstSyncDays: number
  pollSeconds: number
  /** The maximum number of mailboxes that this process reads at the same time. */
  mailboxesMax: number
  log: Logger
}): MailboxReaders {
  const { stores, log, mailboxesMax } = dependencies
  const { database } = stores
  const claim = newId()
  const watches = new Map<string, Watch>()
  let renewedAt = performance.now()
  let stopped = false
  let running: Promise<void> = Promise.resolve()
  let isRoundQueued = false

  async function round(): Promise<void> {
    try {
      await syncWithAccounts(database)
      if (watches.size > 0) await renew()
      renewedAt = performance.now()
      if (stopped) return
      for (const claimed of await claimMailboxes(stores, claim, mailboxesMax - watches.size)) start(claimed)
      if (watches.size < mailboxesMax) return
      // When one has stopped, the next round claims a waiting mailbox in its place.
      for (const claimed of await mailboxesOverShare(database, claim, mailboxesMax))
        watches.get(keyOf(claimed))?.stopping.abort()
    } catch (error) {
      log.warn({ err: error }, 'mailboxes could not be claimed or renewed; retrying shortly')
      // Another process may claim the mailboxes, so this one must stop reading them before.
      if (mayBeLost('mailbox', renewedAt)) for (const { stopping } of watches.values()) stopping.abort()
    }
  }

  async function renew(): Promise<void> {
    const settings = new Map((await renewMailboxes(database, claim)).map((each) => [keyOf(each), each.setting]))
    for (const [key, { claimed, stopping }] of watches) {
      if (settings.get(key) !== claimed.setting || stores.closed.has(claimed.tenantId)) stopping.abort()
    }
  }

  function start(claimed: ClaimedMailbox): void {
    const key = keyOf(claimed)
    const stopping = new AbortController()
    const before = watches.get(key)?.done ?? Promise.resolve()
    const done = before
      .then(() => watch(claimed, stopping.signal))
      .catch((error) => log.warn({ err: error }, 'a mailbox could not be released; its claim will expire'))
      .finally(() => {
        if (watches.get(key)?.stopping === stopping) watches.delete(key)
        // It may have been stopped to restart with new settings.
        if (stopping.signal.aborted) check()
      })
    watches.set(key, { claimed, stopping, done })
    if (stopped) stopping.abort()
  }

  async function watch(claimed: ClaimedMailbox, signal: AbortSignal): Promise<void> {
    if (stores.closed.has(claimed.tenantId)) return releaseMailbox(database, claim, claimed)
    const tenant = openTenant(stores, claimed.tenantId)
    const opening = { ...dependencies, clock: dependencies.writing.clock }
    const account = await openEmailAccount(tenant, opening, claimed.identityId).catch((error) => {
      log.warn({ err: error, identity: claimed.identityId }, 'the secrets of a mailbox could not be decrypted')
      return 'sealed' as const
    })
    if (account === 'sealed') {
      const error = 'The stored password cannot be decrypted with the current CDS_SECRET_KEY. Set the account again.'
      return releaseAfterFailure(database, claim, claimed, {
        error,
        firstDelaySeconds: FIRST_DELAY_AFTER_REJECTED_LOGIN_SECONDS,
      })
    }
    const imap = account?.imap
    if (!account || !imap) return releaseMailbox(database, claim, claimed)
    try {
      await noteState(database, claim, claimed, 'connecting')
      await watchMailbox(tenant, { ...dependencies, signal }, { ...account, imap }, (state) =>
        noteState(database, claim, claimed, state),
      )
      await releaseMailbox(database, claim, claimed)
    } catch (error) {
      const { text, isRefusedAddress } = serverError(error, imap.login)
      const isLogin = (error as { authenticationFailed?: boolean }).authenticationFailed === true
      const isRejected = isRefusedAddress || isLogin || error instanceof TokenRefused
      log.info({ identity: claimed.identityId, error: text }, 'a mailbox could not be read; retrying shortly')
      const firstDelaySeconds = isRejected ? FIRST_DELAY_AFTER_REJECTED_LOGIN_SECONDS : FIRST_DELAY_SECONDS
      await releaseAfterFailure(database, claim, claimed, { error: text, firstDelaySeconds })
    }
  }

  function check(): void {
    if (stopped || isRoundQueued) return
    isRoundQueued = true
    // One round at a time. Changes that are announced during a round share the next one.
    running = running.then(() => {
      isRoundQueued = false
      return round()
    })
  }

  const rounds = every(EVERY_MS, async () => {
    check()
    await running
  })
  check()

  return {
    check,
    stop: async () => {
      stopped = true
      await rounds.stop()
      await running
      for (const { stopping } of watches.values()) stopping.abort()
      await Promise.all([...watches.values()].map(({ done }) => done))
    },
  }
}

function keyOf({ tenantId, identityId }: Pick<ClaimedMailbox, 'tenantId' | 'identityId'>): string {
  return `${tenantId}/${identityId}`
}
