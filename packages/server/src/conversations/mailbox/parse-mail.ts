import { createHash } from 'node:crypto'
import type { Address, Attachment, Email } from 'postal-mime'
import type { IncomingMessage, MessageAttachment, Participant } from '../message.ts'
import { type DeliveryReport, readReport } from './reports.ts'

/** Folders that are read, by what they are for. */
export type FolderRole = 'inbox' | 'sent'

/** A mail as the server has it. */
export interface RawMail {
  /** The whole mail; of a large one its header only. */
  source: Uint8Array
  /** When the server received it: what counts where the header names no moment that can be. */
  receivedAt: Date
  /** What was read of a large mail beside its header. */
  large?: { text: string | null; html: string | null; attachments: MessageAttachment[] }
}

export interface ParsedMail {
  message: IncomingMessage
  /** What a mail server says of a mail that the tenant is said to have sent. */
  report: DeliveryReport | null
}

const HEADERS_BYTES_MAX = 1024 * 1024
const NESTING_MAX = 64
const EARLIEST_MS = Date.UTC(2000, 0, 1)
const TYPE_LENGTH_MAX = 200

/**
 * Reads a mail of any age and make. What is in Sent was written by the mailbox's owner; what is in INBOX was not, whatever
 * its From says, because anybody can write that.
 * @throws Error when it cannot be read at all.
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

/** The values of all headers of a name. */
export function headersOf(email: Pick<Email, 'headers'>, name: string): string[] {
  return email.headers.filter(({ key }) => key === name).map(({ value }) => value)
}

/** The ids in a header, without their brackets. Some programs leave the brackets out. */
export function idsOf(header: string | undefined): string[] {
  if (header === undefined) return []
  const bracketed = [...header.matchAll(/<([^<>]+)>/g)].map(([, id = '']) => id.replace(/\s+/g, ''))
  const ids = bracketed.length > 0 ? bracketed : header.split(/[\s,]+/)
  return ids.filter((id) => id !== '')
}

/**
 * An id for a mail that has none, made of what is the same wherever the mail is met. Its domain is nobody's, so that it is
 * never taken for one that a server gave.
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
  return mailboxes
    .filter(({ address: written, name }) => written || name)
    .map(({ address: written, name }) => ({ address: written || null, name: name || null }))
}

/** The header's moment, unless it names none, or one that cannot be: before 2000, or after the mail was received. */
function sentAtOf(date: string | undefined, receivedAt: Date): Date {
  const sentMs = date === undefined ? Number.NaN : Date.parse(date)
  return sentMs >= EARLIEST_MS && sentMs <= receivedAt.getTime() ? new Date(sentMs) : receivedAt
}

function attachmentOf({ filename, mimeType, content }: Attachment): MessageAttachment {
  const bytes = typeof content === 'string' ? Buffer.byteLength(content) : content.byteLength
  return { filename, contentType: mimeType.slice(0, TYPE_LENGTH_MAX), bytes }
}

/** Whether a machine wrote it: out-of-office notices, bounces, lists (RFC 3834, and what came before it). */
function isAutomatic(email: Email): boolean {
  const first = (name: string) => headersOf(email, name)[0]?.trim().toLowerCase()
  const submitted = first('auto-submitted')
  if (submitted !== undefined && !/^no\b/.test(submitted)) return true
  if (['bulk', 'junk', 'list', 'auto_reply'].includes(first('precedence') ?? '')) return true
  if (first('return-path') === '<>') return true
  return ['x-autoreply', 'x-autorespond', 'list-id'].some((name) => first(name) !== undefined)
}
