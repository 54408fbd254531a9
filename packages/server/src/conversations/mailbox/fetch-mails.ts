import type { Readable } from 'node:stream'
import type { FetchMessageObject, ImapFlow, MessageStructureObject } from 'imapflow'
import type { MessageAttachment } from '../message.ts'
import type { RawMail } from './parse-mail.ts'

/** Larger mails are not fetched whole: only their header, texts and a list of attachments. */
const WHOLE_BYTES_MAX = 4 * 1024 * 1024
/** Reports need a higher limit, because they are useless without the returned mail that they contain. */
const WHOLE_REPORT_BYTES_MAX = 25 * 1024 * 1024
const TEXT_BYTES_MAX = 600 * 1024
const BATCH_MAILS = 25
const BATCH_BYTES = 16 * 1024 * 1024

/** A mail, or why it could not be fetched while the connection works. */
export type FetchedMail = { uid: number } & ({ mail: RawMail } | { problem: unknown })

/**
 * Fetches mails in batches of limited size, in the order of their UIDs.
 * @throws if the connection breaks.
 */
export async function* fetchMails(client: ImapFlow, uids: readonly number[]): AsyncGenerator<FetchedMail[]> {
  for (let from = 0; from < uids.length; from += BATCH_MAILS) {
    const batch = uids.slice(from, from + BATCH_MAILS)
    let fetched: FetchedMail[] = []
    let bytes = 0
    for (const { uid, found, problem } of await describe(client, batch)) {
      if (found === null) {
        // A mail that has been deleted is not a problem.
        if (problem !== null) fetched.push({ uid, problem })
        continue
      }
      const size = bytesToFetch(found)
      if (fetched.length > 0 && bytes + size > BATCH_BYTES) {
        yield fetched
        fetched = []
        bytes = 0
      }
      fetched.push(await fetchOne(client, found))
      bytes += size
    }
    if (fetched.length > 0) yield fetched
  }
}

/** A report counts with its full size, because anyone can send many large ones. */
function bytesToFetch({ size = 0, bodyStructure }: FetchMessageObject): number {
  return Math.min(size, wholeBytesMax(bodyStructure))
}

function wholeBytesMax(structure: MessageStructureObject | undefined): number {
  return structure?.type === 'multipart/report' ? WHOLE_REPORT_BYTES_MAX : WHOLE_BYTES_MAX
}

interface Described {
  uid: number
  found: FetchMessageObject | null
  problem: unknown
}

const SHORT_DESCRIPTION = { uid: true, size: true, internalDate: true } as const
const DESCRIPTION = { ...SHORT_DESCRIPTION, bodyStructure: true } as const

async function describe(client: ImapFlow, uids: readonly number[]): Promise<Described[]> {
  const byUid = new Map<number, FetchMessageObject>()
  try {
    for (const found of await client.fetchAll(uids.join(','), DESCRIPTION, { uid: true })) byUid.set(found.uid, found)
  } catch (error) {
    if (!client.usable) throw error
  }
  const described: Described[] = []
  for (const uid of uids) {
    try {
      // For excessive nesting, servers omit the structure or send a response that cannot be parsed.
      const found = byUid.get(uid) ?? (await client.fetchOne(String(uid), SHORT_DESCRIPTION, { uid: true }))
      described.push({ uid, found: found || null, problem: null })
    } catch (problem) {
      if (!client.usable) throw problem
      described.push({ uid, found: null, problem })
    }
  }
  return described
}

async function fetchOne(client: ImapFlow, found: FetchMessageObject): Promise<FetchedMail> {
  const { uid, size = 0, bodyStructure, internalDate } = found
  const receivedAt = internalDate === undefined ? new Date(Number.NaN) : new Date(internalDate)
  try {
    const isWhole = size <= wholeBytesMax(bodyStructure)
    if (!isWhole && bodyStructure) return { uid, mail: await fetchLarge(client, uid, receivedAt, bodyStructure) }
    const query = { uid: true, source: isWhole ? true : { start: 0, maxLength: WHOLE_BYTES_MAX } }
    const message = await client.fetchOne(String(uid), query, { uid: true })
    if (!message || message.source === undefined)
      return { uid, problem: new Error('the server did not return the mail') }
    return { uid, mail: { source: message.source, receivedAt } }
  } catch (problem) {
    if (!client.usable) throw problem
    return { uid, problem }
  }
}

async function fetchLarge(
  client: ImapFlow,
  uid: number,
  receivedAt: Date,
  structure: MessageStructureObject,
): Promise<RawMail> {
  const message = await client.fetchOne(String(uid), { uid: true, headers: true }, { uid: true })
  if (!message || message.headers === undefined) throw new Error('the server did not return the header of the mail')
  const leaves = leavesOf(structure)
  const firstOf = (type: string) => leaves.find((leaf) => leaf.type === type && !isAttached(leaf))
  const [plain, html] = [firstOf('text/plain'), firstOf('text/html')]
  const attachments: MessageAttachment[] = leaves
    .filter((leaf) => leaf !== plain && leaf !== html)
    .map((leaf) => ({
      filename: leaf.dispositionParameters?.filename ?? leaf.parameters?.name ?? null,
      contentType: leaf.type,
      bytes: leaf.size ?? 0,
    }))
  const large = {
    text: plain ? await downloadText(client, uid, plain) : null,
    html: html ? await downloadText(client, uid, html) : null,
    attachments,
  }
  return { source: message.headers, receivedAt, large }
}

/** The parts with content. An attached mail counts as one part. */
function leavesOf(node: MessageStructureObject): MessageStructureObject[] {
  if (node.type === 'message/rfc822' || !node.childNodes?.length) return [node]
  return node.childNodes.flatMap(leavesOf)
}

function isAttached({ disposition, dispositionParameters }: MessageStructureObject): boolean {
  return disposition === 'attachment' || dispositionParameters?.filename !== undefined
}

/** Downloads and decodes the beginning of a part. */
async function downloadText(client: ImapFlow, uid: number, { part }: MessageStructureObject): Promise<string> {
  const { content } = await client.download(String(uid), part ?? '1', { uid: true, maxBytes: TEXT_BYTES_MAX })
  return content ? read(content) : ''
}

async function read(stream: Readable): Promise<string> {
  const chunks: Buffer[] = []
  for await (const chunk of stream) chunks.push(chunk as Buffer)
  return Buffer.concat(chunks).toString('utf8')
}
