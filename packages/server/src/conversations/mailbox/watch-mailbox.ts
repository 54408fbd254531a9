import { once } from 'node:events'
import type { ImapFlow } from 'imapflow'
import type { EmailAccount } from '../../identities/email-account.ts'
import { openImap } from '../../identities/mail/servers.ts'
import type { Connector } from '../../platform/outbound/connect.ts'
import type { Tenant } from '../../platform/tenant.ts'
import { addWaiting, retryWaiting, type WaitingReport } from './apply-report.ts'
import { findFolders } from './folders.ts'
import { type SyncDependencies, syncFolder } from './sync-folder.ts'

/** Without a response for this long, the connection counts as dead. */
const IDLE_MS_MAX = 150_000

export type OnState = (state: 'reading' | 'watching') => Promise<void>

/**
 * Reads a mailbox and watches it over one connection: waits for mails in INBOX (IDLE) and polls all folders periodically.
 * Returns when the signal aborts.
 * @throws if the connection breaks.
 */
export async function watchMailbox(
  tenant: Tenant,
  dependencies: SyncDependencies & {
    connector: Connector
    /** How often all folders are polled. INBOX announces new mails if the server supports IDLE. */
    pollSeconds: number
  },
  account: EmailAccount & { imap: NonNullable<EmailAccount['imap']> },
  onState: OnState,
): Promise<void> {
  const { connector, signal, pollSeconds, writing } = dependencies
  const client = await openImap(connector, account.imap, { socketTimeout: IDLE_MS_MAX })
  const end = () => client.close()
  signal.addEventListener('abort', end)
  const arrivals = trackArrivals(client)
  try {
    if (signal.aborted) return
    let waiting: WaitingReport[] = []
    while (!signal.aborted) {
      await onState('reading')
      const folders = await findFolders(client)
      for (const { role, path } of folders) {
        if (role === 'inbox') arrivals.hasNew = false
        const folder = { identityId: account.identityId, role, path }
        const reports = await syncFolder(tenant, dependencies, client, folder)
        waiting = addWaiting(waiting, reports, writing.clock())
      }
      // Their mails may now be in the Sent folder, or have just been recorded by this service.
      waiting = await retryWaiting(tenant, waiting, writing.clock())
      await onState('watching')
      const pollAt = Date.now() + pollSeconds * 1000
      // INBOX is read last, so it is the open folder.
      while (!signal.aborted && Date.now() < pollAt) {
        if (!arrivals.hasNew) await arrivals.wait(pollAt - Date.now())
        if (!arrivals.hasNew || signal.aborted) continue
        arrivals.hasNew = false
        const inbox = { identityId: account.identityId, role: 'inbox', path: 'INBOX' } as const
        const reports = await syncFolder(tenant, dependencies, client, inbox)
        waiting = addWaiting(waiting, reports, writing.clock())
        await onState('watching')
        // The mail that bounced may just have been sent, so all folders are read again.
        if (reports.length > 0) break
      }
    }
  } catch (error) {
    if (!signal.aborted) throw error
  } finally {
    signal.removeEventListener('abort', end)
    client.close()
  }
}

interface Arrivals {
  hasNew: boolean
  /** Waits for a mail, for at most `milliseconds`. @throws if the connection has ended. */
  wait(milliseconds: number): Promise<void>
}

function trackArrivals(client: ImapFlow): Arrivals {
  const arrivals: Arrivals = {
    hasNew: false,
    wait: async (milliseconds) => {
      const giveUp = new AbortController()
      const timer = setTimeout(() => giveUp.abort(), milliseconds)
      // IDLE ends with the next command. For servers without IDLE, the client polls instead.
      client.idle().catch(() => {})
      try {
        await Promise.race([
          once(client, 'exists', { signal: giveUp.signal }),
          once(client, 'close', { signal: giveUp.signal }),
        ])
      } catch (error) {
        if (!giveUp.signal.aborted) throw error
      } finally {
        clearTimeout(timer)
        giveUp.abort()
      }
      if (!client.usable) throw new Error('The connection to the mail server was closed.')
    },
  }
  client.on('exists', ({ count, prevCount }: { count: number; prevCount: number }) => {
    if (count > prevCount) arrivals.hasNew = true
  })
  return arrivals
}
