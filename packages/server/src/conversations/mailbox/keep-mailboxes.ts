import type { WriteDependencies } from '../../contacts/change-log.ts'
import { openEmailAccount } from '../../identities/email-accounts.ts'
import { TokenRefused } from '../../identities/mail/access-tokens.ts'
import { serverError } from '../../identities/mail/server-error.ts'
import type { SecretBox } from '../../platform/crypto/secret-box.ts'
import { every } from '../../platform/every.ts'
import { newId } from '../../platform/ids.ts'
import type { Logger } from '../../platform/log.ts'
import type { ApiFetch } from '../../platform/outbound/api-fetch.ts'
import type { Connector } from '../../platform/outbound/connect.ts'
import { openTenant, type Stores } from '../../platform/tenant.ts'
import {
  type HeldMailbox,
  HOLD_SECONDS,
  letGo,
  listMailboxes,
  noteFailure,
  noteState,
  overShare,
  renewHold,
  takeMailboxes,
} from './holding.ts'
import { watchMailbox } from './watch-mailbox.ts'

/** A mailbox that is set or removed is announced; the round is for those that come free or whose time comes. */
const EVERY_MS = 5_000
/** A process that could not renew its holds has to stop before another one takes them. */
const RENEWED_WITHIN_MS = (HOLD_SECONDS * 1000 * 2) / 3
const FIRST_DELAY_SECONDS = 5
/** Providers lock accounts that are knocked at too often with a wrong password. */
const FIRST_DELAY_AFTER_REFUSED_LOGIN_SECONDS = 60

export interface MailboxDependencies {
  stores: Stores
  secrets: SecretBox
  connector: Connector
  tokenApi: ApiFetch
  writing: WriteDependencies
  firstSyncDays: number
  pollSeconds: number
  /** Read by this process at a time. */
  mailboxesMax: number
  log: Logger
}

export interface MailboxKeeper {
  /** Looks for mailboxes that were set, changed or removed. */
  look(): void
  stop(): Promise<void>
}

interface Watch {
  held: HeldMailbox
  stopping: AbortController
  done: Promise<void>
}

/**
 * Reads every mailbox that an identity has, each in one process at a time: whoever holds it renews that, and when a process
 * dies its mailboxes come free. A mailbox that fails is let go and tried again later. Where there are more than the process
 * may read, every tenant that wants to has its share.
 */
export function keepMailboxes(dependencies: MailboxDependencies): MailboxKeeper {
  const { stores, log, mailboxesMax } = dependencies
  const { database } = stores
  const holder = newId()
  const watches = new Map<string, Watch>()
  let renewedAt = Date.now()
  let stopped = false
  let running: Promise<void> = Promise.resolve()
  let isLookDue = false

  async function round(): Promise<void> {
    try {
      await listMailboxes(database)
      if (watches.size > 0) await renew()
      renewedAt = Date.now()
      if (stopped) return
      for (const held of await takeMailboxes(database, holder, mailboxesMax - watches.size)) begin(held)
      if (watches.size < mailboxesMax) return
      // Each that ends has the next round take what waits in its place.
      for (const held of await overShare(database, holder, mailboxesMax)) watches.get(keyOf(held))?.stopping.abort()
    } catch (error) {
      log.warn({ err: error }, 'mailboxes could not be looked after; it is tried again shortly')
      if (Date.now() - renewedAt > RENEWED_WITHIN_MS) for (const { stopping } of watches.values()) stopping.abort()
    }
  }

  async function renew(): Promise<void> {
    const held = new Map((await renewHold(database, holder)).map((each) => [keyOf(each), each.setting]))
    for (const [key, watch] of watches) if (held.get(key) !== watch.held.setting) watch.stopping.abort()
  }

  function begin(held: HeldMailbox): void {
    const key = keyOf(held)
    const stopping = new AbortController()
    const before = watches.get(key)?.done ?? Promise.resolve()
    const done = before
      .then(() => watch(held, stopping.signal))
      .catch((error) => log.warn({ err: error }, 'a mailbox could not be let go; it comes free by itself'))
      .finally(() => {
        if (watches.get(key)?.stopping === stopping) watches.delete(key)
        // It may have been stopped to begin again with other settings.
        if (stopping.signal.aborted) look()
      })
    watches.set(key, { held, stopping, done })
    if (stopped) stopping.abort()
  }

  async function watch(held: HeldMailbox, signal: AbortSignal): Promise<void> {
    const tenant = openTenant(stores, held.tenantId)
    const opening = { ...dependencies, clock: dependencies.writing.clock }
    const account = await openEmailAccount(tenant, opening, held.identityId).catch((error) => {
      log.warn({ err: error, identity: held.identityId }, 'the secrets of a mailbox cannot be opened')
      return 'sealed' as const
    })
    if (account === 'sealed') {
      const error = 'The stored password cannot be opened with the present CDS_SECRET_KEY. Set the account again.'
      return noteFailure(database, holder, held, { error, firstDelaySeconds: FIRST_DELAY_AFTER_REFUSED_LOGIN_SECONDS })
    }
    const imap = account?.imap
    if (!account || !imap) return letGo(database, holder, held)
    try {
      await noteState(database, holder, held, 'connecting')
      await watchMailbox(tenant, { ...dependencies, signal }, { ...account, imap }, (state) =>
        noteState(database, holder, held, state),
      )
      await letGo(database, holder, held)
    } catch (error) {
      const { text, isRefusedAddress } = serverError(error, imap.login)
      const isLogin = (error as { authenticationFailed?: boolean }).authenticationFailed === true
      const isRefused = isRefusedAddress || isLogin || error instanceof TokenRefused
      log.info({ identity: held.identityId, error: text }, 'a mailbox cannot be read; it is tried again')
      const firstDelaySeconds = isRefused ? FIRST_DELAY_AFTER_REFUSED_LOGIN_SECONDS : FIRST_DELAY_SECONDS
      await noteFailure(database, holder, held, { error: text, firstDelaySeconds })
    }
  }

  function look(): void {
    if (stopped || isLookDue) return
    isLookDue = true
    // One round at a time, however many changes are announced meanwhile.
    running = running.then(() => {
      isLookDue = false
      return round()
    })
  }

  const rounds = every(EVERY_MS, async () => {
    look()
    await running
  })
  look()

  return {
    look,
    stop: async () => {
      stopped = true
      await rounds.stop()
      await running
      for (const { stopping } of watches.values()) stopping.abort()
      await Promise.all([...watches.values()].map(({ done }) => done))
    },
  }
}

function keyOf({ tenantId, identityId }: Pick<HeldMailbox, 'tenantId' | 'identityId'>): string {
  return `${tenantId}/${identityId}`
}
