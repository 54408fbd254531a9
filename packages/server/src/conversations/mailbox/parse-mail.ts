import { createHash } from 'node:crypto'
import type { Address, Attachment, Email } from 'postal-mime'
import { parseEmail } from '../../platform/email.ts'
import { EARLIEST_MS } from '../clean.ts'
import type { IncomingMessage, MessageAttachment, Participant } from '../message.ts'
import { headersOf, isAutomatic } from './automatic.ts'
import { type DeliveryReport, readReport } from './reports.ts'

/** The purpose of a folder. */
export type FolderRole = 'inbox' | 'sent'

/** An unparsed mail. */
export interface RawMail {
  /** The whole mail, or only the header of a large one. */
  source: Uint8Array
  /** When the server received it. Used if the header has no plausible date. */
  receivedAt: Date
  /** The fetched parts of a large mail. */
  large?: { text: string | null; html: string | null; attachments: MessageAttachment[] }
}

export interface ParsedMail {
  message: IncomingMessage
  /** A delivery report about a mail that the tenant supposedly sent. */
  report: DeliveryReport | null
}

const HEADERS_BYTES_MAX = 1024 * 1024
const NESTING_MAX = 64
const TYPE_LENGTH_MAX = 200

/**
 * Parses a mail. Mail in Sent was written by the mailbox's owner; mail in INBOX was not, whatever its From header says,
 * because anyone can forge that.
 * @throws Error if it cannot be parsed.
 */
export async function parseMail(mail: RawMail, role: FolderRole, identityId: string): Promise<ParsedMail> {
  const { default: PostalMime } = await import('postal-mime')
  const email = await PostalMime.parse(mail.source, {
    forceRfc822Attachments: true,
    maxHeadersSize: HEADERS_BYTES_MAX,
    maxNestingDepth: NESTING_MAX,
  })
  const { large } = mail
  const text = large ? large.text : (email.text ?? null)
  const html = large ? large.html : (email.html ?? null)
  const report = large ? null : readReport(email)
  const message: IncomingMessage = {
    channel: 'email',
    source: 'email',
    messageId: idsOf(email.messageId)[0] ?? digestOf(email, text ?? html ?? ''),
    threadKey: null,
    inReplyTo: idsOf(email.inReplyTo)[0] ?? null,
    references: idsOf(email.references),
    subject: email.subject ?? null,
    from: participantsOf(email.from ?? email.sender)[0] ?? { address: null, name: null },
    to: (email.to ?? []).flatMap(participantsOf),
    cc: [...(email.cc ?? []), ...(role === 'sent' ? (email.bcc ?? []) : [])].flatMap(participantsOf),
    sentAt: sentAtOf(email.date, mail.receivedAt),
    direction: role === 'sent' ? 'outbound' : 'inbound',
    text: text ?? '',
    html,
    attachments: large ? large.attachments : email.attachments.map(attachmentOf),
    identityId,
    isAutomatic: role === 'inbox' && (report !== null || isAutomatic(email)),
  }
  return { message, report }
}

/** The message ids in a header, without angle brackets, which some programs omit. */
export function idsOf(header: string | undefined): string[] {
  if (header === undefined) return []
  const bracketed = [...header.matchAll(/<([^<>]+)>/g)].map(([, id = '']) => id.replace(/\s+/g, ''))
  const ids = bracketed.length > 0 ? bracketed : header.split(/[\s,]+/)
  return ids.filter((id) => id !== '')
}

/**
 * An id for a mail without one, computed from the parts that are the same in every copy. Its domain is reserved, so that
 * the id cannot collide with a real one.
 */
function digestOf(email: Email, content: string): string {
  const parts = ['from', 'to', 'cc', 'date', 'subject'].map((name) => headersOf(email, name))
  const digest = createHash('sha256')
    .update(JSON.stringify([parts, content]))
    .digest('hex')
  return `${digest}@no-message-id.invalid`
}

function participantsOf(address: Address | undefined): Participant[] {
  if (!address) return []
  const mailboxes = address.group ?? [address]
  return mailboxes.filter(({ address: text, name }) => text || name).map(participantOf)
}

/**
 * Programs that put an address into encoded words, which RFC 2047 forbids, leave it to the reader: the parser decodes it as the
 * name. It counts only where there is no other address.
 */
function participantOf({ address, name }: { address?: string; name: string }): Participant {
  const isEncoded = (!address || address.includes('=?')) && parseEmail(name) !== null
  return isEncoded ? { address: name, name: null } : { address: address || null, name: name || null }
}

/** The date in the header, unless it is missing or implausible: before 2000, or after the mail was received. */
function sentAtOf(date: string | undefined, receivedAt: Date): Date {
  const sentMs = date === undefined ? Number.NaN : Date.parse(date)
  return sentMs >= EARLIEST_MS && sentMs <= receivedAt.getTime() ? new Date(sentMs) : receivedAt
}

function attachmentOf({ filename, mimeType, content }: Attachment): MessageAttachment {
  const bytes = typeof content === 'string' ? Buffer.byteLength(content) : content.byteLength
  return { filename, contentType: mimeType.slice(0, TYPE_LENGTH_MAX), bytes }
}
