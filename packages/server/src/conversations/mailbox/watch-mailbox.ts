import { once } from 'node:events'
import type { ImapFlow } from 'imapflow'
import type { EmailAccount } from '../../identities/email-account.ts'
import { openImap } from '../../identities/mail/servers.ts'
import type { Connector } from '../../platform/outbound/connect.ts'
import type { Tenant } from '../../platform/tenant.ts'
import { applyWaiting, type WaitingReport, waitFrom } from './apply-report.ts'
import { findFolders } from './folders.ts'
import { type SyncDependencies, syncFolder } from './sync-folder.ts'

/** A command that is answered by nothing for so long is on a dead connection. */
const SILENCE_MS_MAX = 150_000

export interface WatchDependencies extends SyncDependencies {
  connector: Connector
  /** How often the folder of sent mails is looked at; INBOX announces what is new where the server can. */
  pollSeconds: number
}

/** What a mailbox tells of itself while it is watched. */
export type OnState = (state: 'reading' | 'watching') => Promise<void>

/**
 * Reads a mailbox and stays with it: one connection, waiting for INBOX (IDLE), going through all folders now and then.
 * Returns when the signal says so.
 * @throws when the connection breaks.
 */
export async function watchMailbox(
  tenant: Tenant,
  dependencies: WatchDependencies,
  account: EmailAccount & { imap: NonNullable<EmailAccount['imap']> },
  onState: OnState,
): Promise<void> {
  const { connector, signal, pollSeconds, writing } = dependencies
  const client = await openImap(connector, account.imap, { socketTimeout: SILENCE_MS_MAX })
  const end = () => client.close()
  signal.addEventListener('abort', end)
  const news = followNews(client)
  try {
    if (signal.aborted) return
    let waiting: WaitingReport[] = []
    while (!signal.aborted) {
      await onState('reading')
      const folders = await findFolders(client)
      for (const { role, path } of folders) {
        if (role === 'inbox') news.arrived = false
        const folder = { identityId: account.identityId, role, path }
        const reports = await syncFolder(tenant, dependencies, client, folder)
        waiting = waitFrom(waiting, reports, writing.clock())
      }
      // What they are about may be in the folder of sent mails by now, or sent by this service a moment ago.
      waiting = await applyWaiting(tenant, waiting, writing.clock())
      await onState('watching')
      const pollAt = Date.now() + pollSeconds * 1000
      // INBOX is read last, so it is the folder that is open now.
      while (!signal.aborted && Date.now() < pollAt) {
        if (!news.arrived) await news.wait(pollAt - Date.now())
        if (!news.arrived || signal.aborted) continue
        news.arrived = false
        const inbox = { identityId: account.identityId, role: 'inbox', path: 'INBOX' } as const
        const reports = await syncFolder(tenant, dependencies, client, inbox)
        waiting = waitFrom(waiting, reports, writing.clock())
        await onState('watching')
        // What bounced may have been sent a moment ago.
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

interface News {
  arrived: boolean
  /** Waits for a mail, the end of the connection, or so long. @throws when the connection has ended. */
  wait(milliseconds: number): Promise<void>
}

function followNews(client: ImapFlow): News {
  const news: News = {
    arrived: false,
    wait: async (milliseconds) => {
      const giveUp = new AbortController()
      const timer = setTimeout(() => giveUp.abort(), milliseconds)
      // Ends with whatever command comes next; a server without IDLE is asked again and again instead.
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
    if (count > prevCount) news.arrived = true
  })
  return news
}
