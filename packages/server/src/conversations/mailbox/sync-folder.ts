import type { ImapFlow, MailboxObject } from 'imapflow'
import type { WriteDependencies } from '../../contacts/change-log.ts'
import type { Tenant } from '../../platform/tenant.ts'
import type { IncomingMessage } from '../message.ts'
import { recordMessages } from '../record.ts'
import { applyReport } from './apply-report.ts'
import { type FetchedMail, fetchMails } from './fetch-mails.ts'
import { type FolderRole, parseMail } from './parse-mail.ts'
import { noteSkipped, readPosition, storePosition } from './position.ts'
import type { DeliveryReport } from './reports.ts'

export interface SyncDependencies {
  writing: WriteDependencies
  /** How far back a mailbox is read that is new, or whose server has numbered its mails anew. */
  firstSyncDays: number
  signal: AbortSignal
}

export interface Folder {
  identityId: string
  role: FolderRole
  path: string
}

/**
 * Reads what is new in a folder: what has a higher UID than the last one that was read. Where the server has numbered
 * its mails anew (another UIDVALIDITY) the folder is read from the first day again, and what is known stays as it is.
 * @returns reports that fit no mail that was sent, as far as is known yet.
 * @throws when the connection or the database breaks; it goes on from there the next time.
 */
export async function syncFolder(
  tenant: Tenant,
  dependencies: SyncDependencies,
  client: ImapFlow,
  folder: Folder,
): Promise<DeliveryReport[]> {
  const { writing, firstSyncDays, signal } = dependencies
  // As it is told now: the client goes on changing its own copy, and what it hears of meanwhile has not been read.
  const mailbox = { ...(await client.mailboxOpen(folder.path, { readOnly: true })) }
  const known = await readPosition(tenant, folder)
  const uidValidity = String(mailbox.uidValidity)
  const isSame = known !== null && known.path === folder.path && known.uidValidity === uidValidity
  let lastUid = isSame ? known.lastUid : 0
  const place = { ...folder, uidValidity }
  let isFirst = known === null
  const store = async (modSequence: string | null) => {
    await storePosition(tenant, { ...place, lastUid, modSequence }, { isFirst, now: writing.clock() })
    isFirst = false
  }
  const uids =
    isSame && isUnchanged(mailbox, known) ? [] : await newUids(client, isSame ? lastUid : null, firstSyncDays, writing)
  const unmatched: DeliveryReport[] = []
  for await (const batch of fetchMails(client, uids)) {
    unmatched.push(...(await recordBatch(tenant, dependencies, place, batch)))
    lastUid = Math.max(lastUid, ...batch.map(({ uid }) => uid))
    // Written down after each batch: a reading that is broken off goes on here.
    await store(null)
    if (signal.aborted) return unmatched
  }
  lastUid = Math.max(lastUid, ...uids.slice(-1))
  // What was there at first and was too old stays out, whatever its UID.
  if (!isSame) lastUid = Math.max(lastUid, mailbox.uidNext - 1)
  await store(mailbox.highestModseq === undefined ? null : String(mailbox.highestModseq))
  return unmatched
}

/** Servers with CONDSTORE number every change: with the same number there is nothing new, and nothing to ask for. */
function isUnchanged(
  { highestModseq, uidNext }: MailboxObject,
  known: { modSequence: string | null; lastUid: number },
) {
  if (highestModseq !== undefined && known.modSequence !== null) return String(highestModseq) === known.modSequence
  return uidNext > 0 && known.lastUid >= uidNext - 1
}

async function newUids(
  client: ImapFlow,
  after: number | null,
  firstSyncDays: number,
  { clock }: WriteDependencies,
): Promise<number[]> {
  const since = new Date(clock().getTime() - firstSyncDays * 86_400_000)
  const found = await client.search(after === null ? { since } : { uid: `${after + 1}:*` }, { uid: true })
  // `n:*` names the last mail even where its UID is below n.
  return (found || []).filter((uid) => uid > (after ?? 0)).sort((a, b) => a - b)
}

interface Read {
  uid: number
  message: IncomingMessage
  report: DeliveryReport | null
}

async function recordBatch(
  tenant: Tenant,
  { writing }: SyncDependencies,
  place: Folder & { uidValidity: string },
  batch: readonly FetchedMail[],
): Promise<DeliveryReport[]> {
  const skip = (uid: number, problem: unknown) => noteSkipped(tenant, { ...place, uid }, problem, writing.clock())
  const read: Read[] = []
  for (const fetched of batch) {
    if ('problem' in fetched) {
      await skip(fetched.uid, fetched.problem)
      continue
    }
    try {
      read.push({ uid: fetched.uid, ...(await parseMail(fetched.mail, place.role, place.identityId)) })
    } catch (error) {
      await skip(fetched.uid, error)
    }
  }
  try {
    await recordMessages(
      tenant,
      writing,
      read.map(({ message }) => message),
    )
  } catch (error) {
    if (!isOfTheMail(error)) throw error
    for (const { uid, message } of read) {
      await recordMessages(tenant, writing, [message]).catch((problem) => {
        if (!isOfTheMail(problem)) throw problem
        return skip(uid, problem)
      })
    }
  }
  const unmatched: DeliveryReport[] = []
  for (const { report } of read) {
    if (report && (await applyReport(tenant, report, writing.clock())).length === 0) unmatched.push(report)
  }
  return unmatched
}

/** Whether what a mail holds was refused, which will happen again, rather than a connection broken. */
function isOfTheMail(error: unknown): boolean {
  const { code } = error as { code?: unknown }
  return error instanceof TypeError || error instanceof RangeError || /^(22|54)/.test(String(code))
}
