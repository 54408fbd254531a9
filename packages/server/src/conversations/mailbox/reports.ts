import type { Attachment, Email } from 'postal-mime'
import { parseEmail } from '../../platform/email.ts'

/** A permanent delivery failure of a mail, or a complaint about it. */
export interface DeliveryReport {
  reason: 'bounced' | 'complained'
  /** The recipients that the report names. */
  recipients: string[]
  /** The Message-ID in the returned part of the mail. */
  messageId: string
  details: string | null
}

const RETURNED_BYTES_MAX = 64 * 1024
const DETAILS_LENGTH_MAX = 500
/** The parts of a report, each under its own name and under that of internationalized mail (RFC 6533). */
const STATUS_TYPES = ['message/delivery-status', 'message/global-delivery-status']
const RETURNED_TYPES = ['message/rfc822', 'text/rfc822-headers', 'message/global', 'message/global-headers']
const COMPLAINTS = ['abuse', 'fraud', 'virus', 'other', 'opt-out']

/**
 * Parses a delivery status notification (RFC 3464) of a permanent failure, or a feedback report (RFC 5965). Reports
 * without the Message-ID of a returned mail are ignored, because anyone could forge them.
 */
export function readReport(email: Email): DeliveryReport | null {
  const messageId = returnedMessageId(email.attachments)
  if (messageId === null) return null
  const status = textOf(email.attachments, STATUS_TYPES)
  if (status !== null) return bounceOf(status, messageId)
  const feedback = textOf(email.attachments, ['message/feedback-report'])
  return feedback === null ? null : complaintOf(feedback, messageId, email.attachments)
}

function bounceOf(status: string, messageId: string): DeliveryReport | null {
  // One block of fields for the mail, then one for each recipient.
  const failed = blocksOf(status).filter(
    (fields) =>
      fields.get('action')?.toLowerCase() === 'failed' && /^5\.\d{1,3}\.\d{1,3}\b/.test(fields.get('status') ?? ''),
  )
  const recipients = failed.flatMap((fields) =>
    ['final-recipient', 'original-recipient'].flatMap((name) => addressOf(fields.get(name)) ?? []),
  )
  if (recipients.length === 0) return null
  const [first] = failed
  const reply = first?.get('diagnostic-code') ?? first?.get('status') ?? ''
  return { reason: 'bounced', recipients, messageId, details: shortened(reply.replace(/^\s*smtp\s*;\s*/i, '')) }
}

function complaintOf(feedback: string, messageId: string, attachments: readonly Attachment[]): DeliveryReport | null {
  const fields = blocksOf(feedback)[0] ?? new Map<string, string>()
  const kind = fields.get('feedback-type')?.toLowerCase() ?? ''
  if (!COMPLAINTS.includes(kind)) return null
  const named = ['original-rcpt-to', 'removal-recipient'].flatMap((name) => addressOf(fields.get(name)) ?? [])
  const returned = blocksOf(returnedHeader(attachments) ?? '')[0]?.get('to')
  const recipients = named.length > 0 ? named : (addressOf(returned) ?? [])
  return recipients.length === 0
    ? null
    : { reason: 'complained', recipients: [recipients].flat(), messageId, details: kind }
}

function returnedMessageId(attachments: readonly Attachment[]): string | null {
  const header = returnedHeader(attachments)
  const id = header === null ? undefined : blocksOf(header)[0]?.get('message-id')
  return (id === undefined ? null : /<([^<>\s]+)>/.exec(id)?.[1]) ?? null
}

function returnedHeader(attachments: readonly Attachment[]): string | null {
  return textOf(attachments, RETURNED_TYPES)
}

/** The text of the first part that has the first of some types. */
function textOf(attachments: readonly Attachment[], types: readonly string[]): string | null {
  const [found] = types.flatMap((type) => attachments.find(({ mimeType }) => mimeType === type) ?? [])
  const content = found?.content
  if (content === undefined) return null
  if (typeof content === 'string') return content.slice(0, RETURNED_BYTES_MAX)
  const bytes = content instanceof Uint8Array ? content : new Uint8Array(content)
  return Buffer.from(bytes.subarray(0, RETURNED_BYTES_MAX)).toString('utf8')
}

/** Parses blocks of header fields into maps by lower-case name. Continuation lines are joined; the first field of a name counts. */
function blocksOf(text: string): Map<string, string>[] {
  return text
    .replace(/\r\n?/g, '\n')
    .replace(/\n[ \t]+/g, ' ')
    .split(/\n\n+/)
    .map((block) => {
      const fields = new Map<string, string>()
      for (const line of block.split('\n')) {
        const colon = line.indexOf(':')
        const name = line.slice(0, Math.max(colon, 0)).trim().toLowerCase()
        if (name !== '' && !fields.has(name)) fields.set(name, line.slice(colon + 1).trim())
      }
      return fields
    })
    .filter((fields) => fields.size > 0)
}

/** `rfc822; ada@example.com`, `<ada@example.com>` or `Ada <ada@example.com>`. */
function addressOf(field: string | undefined): string | null {
  if (field === undefined) return null
  const value = field.replace(/^\s*[a-z0-9-]+\s*;\s*/i, '')
  return parseEmail(withoutEscapes(/<([^<>]+)>/.exec(value)?.[1] ?? value))
}

/** A report in ASCII writes other characters of an address as `\x{E9}` (RFC 6533). */
function withoutEscapes(address: string): string {
  return address.replace(/\\x\{([0-9a-f]{1,5}|10[0-9a-f]{4})\}/gi, (_, hex: string) =>
    String.fromCodePoint(Number.parseInt(hex, 16)),
  )
}

function shortened(text: string): string | null {
  const line = text
    .replace(/[\p{Cc}\s]+/gu, ' ')
    .trim()
    .slice(0, DETAILS_LENGTH_MAX)
    .toWellFormed()
  return line === '' ? null : line
}
