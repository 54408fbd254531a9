import type { ImapFlow } from 'imapflow'
import type { Tenant } from '../../platform/tenant.ts'
import { MINUTE_MS } from '../../platform/time.ts'
import type { EmailAccount } from '../email-account.ts'
import { type OpenDependencies, openEmailAccount } from '../email-accounts.ts'
import type { MailDependencies } from './dependencies.ts'
import { identityWithoutEmail, mailUnavailable } from './errors.ts'
import { serverError } from './server-error.ts'
import { openImap } from './servers.ts'

/** The time limit of a session, from login to logout. */
const SESSION_MS_MAX = MINUTE_MS

export interface SentFolderEntry {
  messageId: string
  sentAt: Date
}

/**
 * Searches the identity's Sent folder for a mail.
 * @returns null if the mail is not there or the identity has no IMAP server.
 * @throws ServiceError `identity_without_email`, `mail_unavailable`.
 */
export async function findSentMessage(
  tenant: Tenant,
  dependencies: OpenDependencies & Pick<MailDependencies, 'connector'>,
  identityId: string,
  messageId: string,
): Promise<SentFolderEntry | null> {
  const account = await openEmailAccount(tenant, dependencies, identityId)
  if (!account) throw identityWithoutEmail()
  return withSentFolder(dependencies, account, (client, folder) => findIn(client, folder, messageId))
}

/**
 * Saves a mail to the Sent folder, unless the provider has already done so.
 * @throws ServiceError `mail_unavailable`.
 */
export async function saveToSentFolder(
  dependencies: Pick<MailDependencies, 'connector'>,
  account: EmailAccount,
  { messageId, sentAt }: SentFolderEntry,
  raw: Buffer,
): Promise<void> {
  await withSentFolder(dependencies, account, async (client, folder) => {
    if (await findIn(client, folder, messageId)) return null
    await client.append(folder, raw, ['\\Seen'], sentAt)
    return null
  })
}

async function withSentFolder<T>(
  { connector }: Pick<MailDependencies, 'connector'>,
  { imap }: EmailAccount,
  work: (client: ImapFlow, folder: string) => Promise<T>,
): Promise<T | null> {
  if (imap === null) return null
  let client: ImapFlow | undefined
  const timer = setTimeout(() => client?.close(), SESSION_MS_MAX)
  try {
    client = await openImap(connector, imap)
    const folders = await client.list()
    const folder = folders.find(({ specialUse }) => specialUse === '\\Sent')
    return folder ? await work(client, folder.path) : null
  } catch (error) {
    throw mailUnavailable(serverError(error, imap.login).text, error)
  } finally {
    await client?.logout().catch(() => client?.close())
    clearTimeout(timer)
  }
}

async function findIn(client: ImapFlow, folder: string, messageId: string): Promise<SentFolderEntry | null> {
  // Read-only, so that the search changes no flags.
  const lock = await client.getMailboxLock(folder, { readOnly: true })
  try {
    const found = await client.search({ header: { 'message-id': `<${messageId}>` } }, { uid: true })
    const uid = found ? found.at(-1) : undefined
    if (uid === undefined) return null
    const message = await client.fetchOne(String(uid), { internalDate: true }, { uid: true })
    const sentAt = message ? message.internalDate : undefined
    return { messageId, sentAt: sentAt === undefined ? new Date() : new Date(sentAt) }
  } finally {
    lock.release()
  }
}
