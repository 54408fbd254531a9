import type { ImapFlow, MailboxObject } from 'imapflow'
import type { WriteDependencies } from '../../contacts/writing/transaction.ts'
import type { Tenant } from '../../platform/tenant.ts'
import { DAY_MS } from '../../platform/time.ts'
import type { IncomingMessage } from '../message.ts'
import { recordMessages } from '../record.ts'
import { applyReport } from './apply-report.ts'
import { type FetchedMail, fetchMails } from './fetch-mails.ts'
import { type FolderRole, parseMail } from './parse-mail.ts'
import { noteSkipped, readPosition, storePosition } from './position.ts'
import type { DeliveryReport } from './reports.ts'

export interface SyncDependencies {
  writing: WriteDependencies
  /** How far back a mailbox is read if it is new or its UIDVALIDITY has changed. */
  firstSyncDays: number
  signal: AbortSignal
}

export interface Folder {
  identityId: string
  role: FolderRole
  path: string
}

/**
 * Reads the new mails of a folder: those with a higher UID than the last one read. If the server has renumbered its mails
 * (a different UIDVALIDITY), the folder is read from the start again; stored messages are left unchanged.
 * @returns reports that match no known sent mail yet.
 * @throws if the connection or the database fails; the next call resumes from there.
 */
export async function syncFolder(
  tenant: Tenant,
  dependencies: SyncDependencies,
  client: ImapFlow,
  folder: Folder,
): Promise<DeliveryReport[]> {
  const { writing, firstSyncDays, signal } = dependencies
  // A copy, because the client updates its own object with mails that arrive later and have not been read.
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
    // Stored after each batch, so that an interrupted read resumes here.
    await store(null)
    if (signal.aborted) return unmatched
  }
  lastUid = Math.max(lastUid, ...uids.slice(-1))
  // Mails that were too old for the first read stay excluded, whatever their UIDs.
  if (!isSame) lastUid = Math.max(lastUid, mailbox.uidNext - 1)
  await store(mailbox.highestModseq === undefined ? null : String(mailbox.highestModseq))
  return unmatched
}

/** Servers with CONDSTORE number every change: if the number is the same, nothing is new. */
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
  const since = new Date(clock().getTime() - firstSyncDays * DAY_MS)
  const found = await client.search(after === null ? { since } : { uid: `${after + 1}:*` }, { uid: true })
  // `n:*` includes the last mail even if its UID is below n.
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
    if (!isCausedByMail(error)) throw error
    for (const { uid, message } of read) {
      await recordMessages(tenant, writing, [message]).catch((problem) => {
        if (!isCausedByMail(problem)) throw problem
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

/** Whether the content of a mail caused the error, so that a retry would fail too. */
function isCausedByMail(error: unknown): boolean {
  const { code } = error as { code?: unknown }
  return error instanceof TypeError || error instanceof RangeError || /^(22|54)/.test(String(code))
}
